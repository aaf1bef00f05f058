// VNFSs against heads: what the matrix shows, and what an order of heads becomes.
import type { Placement, PlacementVnfs, Status, VnfsList, VnfsRecord } from "../api/schema";

export interface Cell {
  head: string;
  rank: string; // "P", "1", ...; "" if it is none of its heads
  owns: boolean;
}

export interface Row {
  name: string;
  state: string;
  why: string;
  owner: string;
  sinceNs: number; // the instance has this state; 0: not known
  clients: number;
  heads: string[]; // the primary first
  failback: string;
  pinned: string;
  movingTo: string; // "" unless a move is under way
  wanted: string;
  cells: Cell[];
}

const MOVING = /^moving to (.+)$/;

// The heads of a VNFS by their places ("P" first).
export function headsOf(places: Record<string, string>): string[] {
  const ranked = Object.entries(places)
    .map(([head, place]) => ({ head, rank: place.replace("*", "") }))
    .filter(({ rank }) => rank !== "");
  const value = (rank: string) => (rank === "P" ? 0 : Number(rank));
  return ranked.sort((a, b) => value(a.rank) - value(b.rank)).map(({ head }) => head);
}

function rowOf(one: PlacementVnfs, heads: string[], record?: VnfsRecord, sinceNs = 0): Row {
  return {
    name: one.name,
    state: one.state,
    why: one.why || one.exports_problem,
    owner: one.owner,
    sinceNs,
    clients: record?.clients.length ?? 0,
    heads: headsOf(one.places),
    failback: one.failback,
    pinned: one.pinned,
    movingTo: MOVING.exec(one.state)?.[1] ?? "",
    wanted: record?.wanted ?? "started",
    cells: heads.map((head) => {
      const place = one.places[head] ?? "";
      return { head, rank: place.replace("*", ""), owns: place.startsWith("*") };
    }),
  };
}

// As people count: vnfs2 before vnfs10.
const names = new Intl.Collator("en", { numeric: true });

export function byName<T extends { name: string }>(list: readonly T[] | undefined): T[] {
  return [...(list ?? [])].sort((a, b) => names.compare(a.name, b.name));
}

// The same as before where nothing has changed, so that only rows that did are drawn anew.
export function rowsOf(
  placement: Placement | undefined,
  list: VnfsList | undefined,
  status: Status | undefined,
  before: readonly Row[] = [],
): Row[] {
  const heads = byName(placement?.heads).map((head) => head.name);
  const records = new Map((list?.vnfs ?? []).map((one) => [one.name, one]));
  const since = new Map((status?.vnfs ?? []).map((one) => [one.name, one.instance?.since_ns ?? 0]));
  const old = new Map(before.map((row) => [row.name, row]));
  return byName(placement?.vnfs).map((one) => {
    const row = rowOf(one, heads, records.get(one.name), since.get(one.name));
    const known = old.get(row.name);
    return known && JSON.stringify(known) === JSON.stringify(row) ? known : row;
  });
}

// `head` at place `at` (0: the primary); it is added if it was none of them.
export function withHeadAt(heads: readonly string[], head: string, at: number): string[] {
  const others = heads.filter((one) => one !== head);
  others.splice(Math.min(Math.max(at, 0), others.length), 0, head);
  return others;
}

export function withoutHead(heads: readonly string[], head: string): string[] {
  return heads.filter((one) => one !== head);
}

// `from`'s place, dragged to `to`: among the heads `from` takes the place of `to`, which moves on; a head
// that was none of them takes the place of `from`.
export function withPlaceDragged(heads: readonly string[], from: string, to: string): string[] {
  const at = heads.indexOf(to);
  return at < 0 ? heads.map((one) => (one === from ? to : one)) : withHeadAt(heads, from, at);
}

export function placeName(at: number): string {
  return at === 0 ? "primary" : `backup ${at}`;
}

export interface Room {
  before: number; // VNFSs that the head has
  after: number;
  share: number; // what each serving head has if they are spread evenly
}

// What a move would make of a head's load in VNFSs.
export function roomOn(placement: Placement, vnfs: string, head: string): Room {
  const owned = placement.vnfs.filter((one) => one.owner === head);
  const serving = placement.heads.filter((one) => one.state === "serving").length;
  const has = owned.some((one) => one.name === vnfs);
  return {
    before: owned.length,
    after: owned.length + (has ? 0 : 1),
    share: Math.ceil(placement.vnfs.length / Math.max(serving, 1)),
  };
}

export type Tone = "green" | "yellow" | "red" | "grey";

// As the command line paints states.
export function toneOf(state: string): Tone {
  if (state === "serving" || state === "owned" || state === "leader" || state === "member")
    return "green";
  if (["held", "unheard", "unfenced", "fenced", "unreachable", "full", "failed"].includes(state))
    return "red";
  if (state === "stopped" || state === "") return "grey";
  return "yellow";
}
