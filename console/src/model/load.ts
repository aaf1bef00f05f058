// Load: sums of rows, and samples of the last hour that the page has taken itself.
import type { Load, LoadRow } from "../api/schema";

export interface Sum {
  requests: number; // per second
  readBytes: number;
  writtenBytes: number;
  errors: number;
  meanUs: number; // weighted by requests
  worstUs: number;
}

export interface Sample extends Sum {
  atMs: number;
}

export const KEPT_MS = 3_600_000;

export function sumOf(rows: readonly LoadRow[]): Sum {
  const sum = { requests: 0, readBytes: 0, writtenBytes: 0, errors: 0, meanUs: 0, worstUs: 0 };
  let weighted = 0;
  for (const row of rows) {
    sum.requests += row.requests_per_s;
    sum.readBytes += row.read_bytes_per_s;
    sum.writtenBytes += row.written_bytes_per_s;
    sum.errors += row.errors_per_s;
    sum.worstUs = Math.max(sum.worstUs, row.worst_us);
    weighted += row.requests_per_s * row.mean_us;
  }
  sum.meanUs = sum.requests > 0 ? weighted / sum.requests : 0;
  return sum;
}

export function withSample(samples: readonly Sample[], load: Load, atMs: number): Sample[] {
  const kept = samples.filter((one) => one.atMs > atMs - KEPT_MS);
  return [...kept, { ...sumOf(load.rows), atMs }];
}

export type By = "client" | "export" | "operation" | "vnfs" | "head" | "protocol";

export interface Group extends Sum {
  name: string;
  share: number; // of all requests, 0 to 1
}

export function groupsOf(rows: readonly LoadRow[], by: By): Group[] {
  const groups = new Map<string, LoadRow[]>();
  for (const row of rows) {
    const name = row[by] || "-";
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  const all = sumOf(rows).requests;
  return [...groups]
    .map(([name, members]) => ({ name, ...sumOf(members), share: 0 }))
    .map((group) => ({ ...group, share: all > 0 ? group.requests / all : 0 }))
    .sort((a, b) => b.requests - a.requests);
}
