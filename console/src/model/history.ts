// How VNFSs came to be served where: what a pause may last, and what the time lines show.
import type { Transition } from "../api/schema";

// The steps during which clients wait: from the first to the second of them.
const WAITING_FROM = "retiring";
const WAITING_TO = "serving";

export interface Expected {
  ms: number; // the median of what is known
  worst: number;
  moves: number;
  toHead: boolean; // of moves to just that head
}

// Of planned moves; those to `head` if there were any. undefined: none is known.
export function expectedPause(history: readonly Transition[], head: string): Expected | undefined {
  const timed = history.filter((one) => one.cause === "move" && one.blackout_ms !== undefined);
  const there = timed.filter((one) => one.to === head);
  const used = there.length > 0 ? there : timed;
  if (used.length === 0) return undefined;
  const sorted = used.map((one) => one.blackout_ms ?? 0).sort((a, b) => a - b);
  return {
    ms: sorted[Math.floor(sorted.length / 2)] ?? 0,
    worst: sorted.at(-1) ?? 0,
    moves: sorted.length,
    toHead: there.length > 0,
  };
}

export interface Mark {
  name: string;
  ms: number; // since the first step
}

export interface Line {
  marks: Mark[];
  lengthMs: number;
  waiting?: { from: number; to: number }; // when clients got no answer
}

export function lineOf(one: Transition): Line {
  const marks = one.steps.map(({ name, at_ns }) => ({ name, ms: (at_ns - one.began_ns) / 1e6 }));
  const at = (name: string) => marks.find((mark) => mark.name === name)?.ms;
  const to = at(WAITING_TO);
  const left = at(WAITING_FROM) ?? marks[0]?.ms ?? 0;
  const from = one.blackout_ms !== undefined && to !== undefined ? to - one.blackout_ms : left;
  return {
    marks,
    lengthMs: Math.max(1, marks.at(-1)?.ms ?? 0),
    waiting:
      to === undefined || one.cause === "start" ? undefined : { from: Math.max(0, from), to },
  };
}

// The time line of serving: later steps (the last reclaim may come minutes after) are cut off.
export function shownLength(line: Line): number {
  return line.waiting ? Math.max(1, line.waiting.to * 1.1) : line.lengthMs;
}

// The first instance after the one with that epoch: what a move became.
export function entryAfter(history: readonly Transition[], epoch: number): Transition | undefined {
  const later = history.filter((one) => one.epoch > epoch);
  return later.sort((a, b) => a.epoch - b.epoch)[0];
}

export function hasServed(one: Transition): boolean {
  return one.steps.some((step) => step.name === WAITING_TO);
}
