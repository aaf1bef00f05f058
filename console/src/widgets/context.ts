// What every part of the page may use: the console, and hooks to follow what it knows.
import {
  createContext,
  useCallback,
  useContext,
  useSyncExternalStore,
  type ReactNode,
} from "react";
import { whyOff, type Change, type Role } from "../api/change";
import type { Seen } from "../api/store";
import type { Console } from "../console";
import type { Observable } from "../observable";

export interface PageContext {
  console: Console;
  // Opens the dialog that shows what the change does, and its command. impact: more to know first.
  ask(change: Change, impact?: ReactNode): void;
}

export const ConsoleContext = createContext<PageContext | undefined>(undefined);

export function usePage(): PageContext {
  const context = useContext(ConsoleContext);
  if (!context) throw new Error("outside of the console");
  return context;
}

export function useObserved<T>(observable: Observable<T>): T {
  return useSyncExternalStore(observable.subscribe, observable.get);
}

// What is at `path`, kept read while the component is there. "": nothing.
export function useSeen<T>(path: string, intervalMs = 5000): Seen<T> {
  const { store } = usePage().console;
  const subscribe = useCallback(
    (listener: () => void) =>
      path === "" ? () => undefined : store.watch(path, intervalMs, listener),
    [store, path, intervalMs],
  );
  return useSyncExternalStore(subscribe, () => store.seen<T>(path));
}

// Why the user may not do what needs the role; "" if he may.
export function useWhyOff(needed: Role): string {
  return whyOff(useObserved(usePage().console.role), needed);
}
