// Events have no name of their own: several may have one revision.
import type { Event } from "../api/schema";

export function numbered(events: readonly Event[]): (Event & { key: string })[] {
  const seen = new Map<string, number>();
  return events.map((event) => {
    const start = `${event.revision}-${event.head}-${event.kind}`;
    const count = seen.get(start) ?? 0;
    seen.set(start, count + 1);
    return { ...event, key: count === 0 ? start : `${start}-${count}` };
  });
}
