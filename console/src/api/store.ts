// What was read from vnfsd, kept for the whole page: each path is read while a part of the page shows
// it, again after its interval, and at once when something has happened. What was read last stays when
// vnfsd does not answer.
import { ApiError, type Transport } from "./transport";

export interface Seen<T> {
  data?: T; // of the last answer that was none of an error
  readAt: number; // when, in ms; 0: never
  error?: ApiError; // of the last try
}

interface Entry {
  seen: Seen<unknown>;
  text: string; // of the last answer: the same text is the same object, so that nothing is drawn anew
  intervals: number[]; // one of each watcher
  listeners: Set<() => void>;
  timer?: ReturnType<typeof setTimeout>;
  reading: boolean;
  tookMs: number;
  slow: boolean; // and has not been answered for a while
  again: boolean; // asked for while it was being read
}

const NEVER: Seen<never> = { readAt: 0 };
const SLOW_MS = 3000; // vnfsd waits up to 5 s for etcd before it says that it is away
const SLOW = new ApiError(0, "slow", "vnfsd has not answered for some seconds", "slow");
const LARGE = 200_000; // characters: what is longer is not read anew with each event
const FAILED_INTERVAL_MS = 1000; // how often vnfsd is asked that has not answered

export class Store {
  private readonly entries = new Map<string, Entry>();
  private readonly observers = new Set<() => void>();

  constructor(
    private readonly transport: Transport,
    private readonly now: () => number = Date.now,
  ) {}

  // Is called after each read, and when one takes long.
  observe(observer: () => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  // Why something that is shown may be old; undefined: it is what vnfsd says.
  trouble(): ApiError | undefined {
    const watched = [...this.entries.values()].filter((entry) => entry.intervals.length > 0);
    for (const { seen } of watched) {
      if (seen.error && (seen.error.status === 0 || seen.error.status === 503)) return seen.error;
    }
    return watched.some((entry) => entry.slow) ? SLOW : undefined;
  }

  seen<T>(path: string): Seen<T> {
    return (this.entries.get(path)?.seen ?? NEVER) as Seen<T>;
  }

  // Keeps `path` read, and calls `listener` after each change. The result ends that.
  watch(path: string, intervalMs: number, listener: () => void): () => void {
    const entry = this.entry(path);
    entry.intervals.push(intervalMs);
    entry.listeners.add(listener);
    void this.read(path);
    return () => {
      entry.intervals.splice(entry.intervals.indexOf(intervalMs), 1);
      entry.listeners.delete(listener);
      if (entry.intervals.length === 0) clearTimeout(entry.timer);
    };
  }

  // Something has happened: all that is shown is read at once.
  refresh(): void {
    for (const [path, entry] of this.entries) {
      if (entry.intervals.length > 0 && entry.text.length < LARGE) void this.read(path);
    }
  }

  private entry(path: string): Entry {
    let entry = this.entries.get(path);
    if (!entry) {
      entry = {
        seen: NEVER,
        text: "",
        intervals: [],
        listeners: new Set(),
        reading: false,
        tookMs: 0,
        slow: false,
        again: false,
      };
      this.entries.set(path, entry);
    }
    return entry;
  }

  private async read(path: string): Promise<void> {
    const entry = this.entry(path);
    if (entry.reading) {
      entry.again = true;
      return;
    }
    clearTimeout(entry.timer);
    entry.reading = true;
    const slow = setTimeout(() => {
      entry.slow = true;
      this.tellObservers();
    }, SLOW_MS);
    const began = this.now();
    const error = await this.readOnce(path, entry);
    entry.tookMs = error ? 0 : this.now() - began;
    clearTimeout(slow);
    entry.reading = false;
    entry.slow = false;
    this.tellObservers();
    for (const listener of [...entry.listeners]) listener();
    if (entry.intervals.length === 0) return;
    if (entry.again) {
      entry.again = false;
      void this.read(path);
      return;
    }
    const usual = Math.max(Math.min(...entry.intervals), entry.tookMs * 4);
    const wait = error?.status === 0 ? Math.min(usual, FAILED_INTERVAL_MS) : usual;
    entry.timer = setTimeout(() => void this.read(path), wait);
  }

  private tellObservers(): void {
    for (const observer of [...this.observers]) observer();
  }

  private async readOnce(path: string, entry: Entry): Promise<ApiError | undefined> {
    try {
      const text = await this.transport.send("GET", path);
      const same = text === entry.text && entry.seen.data !== undefined;
      entry.seen = { data: same ? entry.seen.data : JSON.parse(text), readAt: this.now() };
      entry.text = text;
      return undefined;
    } catch (thrown) {
      const error =
        thrown instanceof ApiError ? thrown : new ApiError(0, "unreadable", String(thrown));
      entry.seen = { ...entry.seen, error };
      return error;
    }
  }
}
