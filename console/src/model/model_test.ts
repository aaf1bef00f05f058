import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Event,
  ExportRecord,
  LoadRow,
  Lock,
  Placement,
  Status,
  Transition,
} from "../api/schema";
import { differences, editOf, formOf, ruleText } from "./export_edit";
import { bytesText, millisText, spanText, wordsOf } from "./format";
import { entryAfter, expectedPause, hasServed, lineOf } from "./history";
import { numbered } from "./events";
import { locksByFile, rangeText } from "./locks";
import { groupsOf, sumOf, withSample } from "./load";
import {
  byName,
  headsOf,
  roomOn,
  rowsOf,
  toneOf,
  withHeadAt,
  withPlaceDragged,
  withoutHead,
} from "./placement";
import { problemsOf } from "./problems";

const PLACEMENT: Placement = {
  heads: [
    { name: "c1n1", state: "serving" },
    { name: "c1n2", state: "serving" },
    { name: "c1n3", state: "draining" },
  ],
  vnfs: [
    {
      ...{ exports_problem: "", failback: "manual", name: "v1", owner: "c1n1", pinned: "" },
      ...{ places: { c1n1: "*1", c1n2: "P" }, state: "moving to c1n2", why: "" },
    },
    {
      ...{ exports_problem: "", failback: "auto", name: "v2", owner: "c1n3", pinned: "" },
      ...{ places: { c1n1: "P", c1n3: "*" }, state: "serving", why: "" },
    },
  ],
};

test("rows of the matrix", () => {
  const rows = rowsOf(PLACEMENT, undefined, undefined);
  assert.deepEqual(rows[0]?.heads, ["c1n2", "c1n1"]);
  assert.equal(rows[0]?.movingTo, "c1n2");
  assert.deepEqual(rows[0]?.cells, [
    { head: "c1n1", rank: "1", owns: true },
    { head: "c1n2", rank: "P", owns: false },
    { head: "c1n3", rank: "", owns: false },
  ]);
  assert.deepEqual(rows[1]?.cells[2], { head: "c1n3", rank: "", owns: true });
  const again = rowsOf(PLACEMENT, undefined, undefined, rows);
  assert.equal(again[0], rows[0]);
});

test("orders of heads", () => {
  assert.deepEqual(headsOf({ a: "10", b: "2", c: "*P", d: "*" }), ["c", "b", "a"]);
  assert.deepEqual(withHeadAt(["a", "b", "c"], "c", 0), ["c", "a", "b"]);
  assert.deepEqual(withHeadAt(["a", "b"], "d", 9), ["a", "b", "d"]);
  assert.deepEqual(withPlaceDragged(["a", "b", "c"], "c", "a"), ["c", "a", "b"]);
  assert.deepEqual(withPlaceDragged(["a", "b", "c"], "a", "c"), ["b", "c", "a"]);
  assert.deepEqual(withPlaceDragged(["a", "b", "c"], "b", "d"), ["a", "d", "c"]);
  assert.deepEqual(
    byName([{ name: "v10" }, { name: "v2" }]).map((one) => one.name),
    ["v2", "v10"],
  );
  assert.deepEqual(withoutHead(["a", "b"], "a"), ["b"]);
});

test("room on a head", () => {
  assert.deepEqual(roomOn(PLACEMENT, "v1", "c1n2"), { before: 0, after: 1, share: 1 });
  assert.deepEqual(roomOn(PLACEMENT, "v1", "c1n1"), { before: 1, after: 1, share: 1 });
});

test("colours of states", () => {
  assert.equal(toneOf("serving"), "green");
  assert.equal(toneOf("moving to c1n2"), "yellow");
  assert.equal(toneOf("held"), "red");
  assert.equal(toneOf("stopped"), "grey");
});

const move = (to: string, blackout_ms?: number): Transition => ({
  ...{ began_ns: 1e9, cause: "move", epoch: 1, error: "", from: "c1n1", kept: 0, to, blackout_ms },
  steps: [
    { name: "prepared", at_ns: 1e9 },
    { name: "retiring", at_ns: 1.1e9 },
    { name: "serving", at_ns: 1.3e9 },
    { name: "last reclaim", at_ns: 9e9 },
  ],
});

test("the pause that a move is expected to have", () => {
  assert.equal(expectedPause([], "c1n2"), undefined);
  assert.equal(expectedPause([move("c1n2")], "c1n2"), undefined);
  const history = [move("c1n2", 100), move("c1n2", 300), move("c1n2", 200), move("c1n3", 900)];
  assert.deepEqual(expectedPause(history, "c1n2"), { ms: 200, worst: 300, moves: 3, toHead: true });
  assert.equal(expectedPause(history, "c1n4")?.toHead, false);
});

test("a time line has the time in which clients wait", () => {
  const line = lineOf(move("c1n2", 150));
  assert.equal(line.lengthMs, 8000);
  assert.deepEqual(line.waiting, { from: 150, to: 300 });
  assert.deepEqual(lineOf(move("c1n2")).waiting, { from: 100, to: 300 });
  assert.equal(lineOf({ ...move("c1n2"), steps: [] }).waiting, undefined);
});

const load = (client: string, requests_per_s: number, mean_us: number): LoadRow => ({
  ...{ client, errors_per_s: 0, export: "u04", head: "c1n1", mean_us, operation: "read" },
  ...{ protocol: "nfs4", read_bytes_per_s: 10, requests_per_s, vnfs: "v1" },
  ...{ worst_us: mean_us * 2, written_bytes_per_s: 1 },
});

test("the entry that a move became", () => {
  const history = [3, 9, 7].map((epoch) => ({ ...move("c1n2"), epoch }));
  assert.equal(entryAfter(history, 3)?.epoch, 7);
  assert.equal(entryAfter(history, 9), undefined);
  assert.equal(hasServed(move("c1n2")), true);
  assert.equal(hasServed({ ...move("c1n2"), steps: [] }), false);
});

test("load is summed, and sorted by who asks most", () => {
  const rows = [load("a", 1, 100), load("b", 3, 200), load("a", 1, 100)];
  assert.equal(sumOf(rows).meanUs, 160);
  assert.equal(sumOf([]).meanUs, 0);
  assert.deepEqual(
    groupsOf(rows, "client").map(({ name, requests, share }) => [name, requests, share]),
    [
      ["b", 3, 0.6],
      ["a", 2, 0.4],
    ],
  );
});

test("samples of more than an hour ago are forgotten", () => {
  const one = { rows: [load("a", 1, 1)], missing: [], vnfses: [] };
  const first = withSample([], one, 1000);
  assert.equal(withSample(first, one, 2000).length, 2);
  assert.equal(withSample(first, one, 3_700_000).length, 1);
});

const STATUS: Status = {
  ...{ arrivals: [], certificates: [], clocks: [], head: "c1n1", instances: {}, luns: [] },
  ...{ networks: [], silent: [], stalls: [], unheard: [], vnfs: [], heads: [] },
  ...{ failover: { error: "" }, fence_agent: { error: "" } },
  etcd: [
    {
      ...{ db_in_use_bytes: 1, db_size_bytes: 1, endpoint: "e1", error: "", leader: true },
      ...{ no_space: false, reachable: true, revision: 1 },
    },
  ],
  quota: { in_use_permille: 10, level: "free", quota_bytes: 1 << 30 },
};

test("a healthy cluster has no problems", () => {
  assert.deepEqual(problemsOf(STATUS), []);
});

test("problems say what to do next, the serious ones first", () => {
  const member = STATUS.etcd[0]!;
  const problems = problemsOf({
    ...STATUS,
    etcd: [member, { ...member, endpoint: "e2", reachable: false, error: "refused" }],
    clocks: [{ ahead_ms: -4000, head: "c1n2", off: true }],
    fence_agent: { error: "no fence method is configured" },
    silent: [{ head: "c1n3", why: "no answer for 3 s" }],
    vnfs: [
      { name: "v1", state: "held" },
      { name: "v2", state: "moving to c1n2" },
    ],
  });
  for (const one of problems) assert.notEqual(one.next, "", one.key);
  const subjects = problems.map((one) => one.subject);
  assert.equal(subjects[0], "etcd");
  for (const subject of ["fencing", "vnfs v1", "head c1n3", "etcd e2"]) {
    assert.ok(subjects.includes(subject), subject);
  }
  assert.equal(subjects.at(-1), "head c1n2");
  assert.ok(!subjects.includes("vnfs v2"));
});

test("edits of exports name what differs", () => {
  const record: ExportRecord = {
    ...{ access: "rw", anon: "", clients: ["*"], export_id: 1, filesystem: "u04" },
    ...{ manage_gids: false, name: "u04", path: "/", pseudo: "", vnfs: ["v1"] },
    squash: "root",
    sec: ["krb5", "sys"],
    rules: [
      { access: "ro", anon: "1:2", squash: "all", who: "@friends", sec: ["sys", "krb5"] },
      { access: "rw", anon: "1:2", squash: "none", who: "10.0.0.7/32", sec: ["krb5i", "krb5p"] },
      { access: "rw", anon: "1:2", squash: "root", who: "*", sec: ["krb5", "sys"] },
    ],
  };
  assert.equal(
    ruleText(record.rules[0]!, record.sec),
    "@friends:ro,all_squash,anonuid=1,anongid=2",
  );
  const before = formOf(record);
  assert.deepEqual(before.rules, [
    "@friends:ro,all_squash,anonuid=1,anongid=2",
    "10.0.0.7:rw,no_root_squash,anonuid=1,anongid=2,sec=krb5i:krb5p",
  ]);
  const after = { ...before, access: "ro", clients: ["10.0.0.0/24", "10.0.1.7"] };
  const changed = differences(before, after);
  assert.deepEqual(editOf(after, changed), { access: "ro", clients: ["10.0.0.0/24", "10.0.1.7"] });
  assert.deepEqual(differences(before, before), []);
});

test("locks by file, the file with most holders first", () => {
  const lock = (ino: number, client: string, path?: string): Lock => ({
    ...{ client, filesystem: "u04", ino, owner: "o", path, protocol: "nfs4", ranges: [] },
    ...{ revocable: "no", vnfs: "v1" },
  });
  const files = locksByFile([lock(7, "a"), lock(8, "a", "/x"), lock(8, "b", "/x")]);
  assert.deepEqual(
    files.map((one) => [one.name, one.locks.length]),
    [
      ["u04:/x", 2],
      ["u04: inode 7", 1],
    ],
  );
  assert.equal(rangeText({ start: 0, type: "write" }), "write all");
  assert.equal(rangeText({ start: 5, length: 10, type: "read" }), "read 5-14");
});

test("events of one revision have names of their own", () => {
  const event: Event = {
    ...{ at_ns: 1, by: "root", head: "c1n1", kind: "change", revision: 7, text: "", vnfs: "" },
  };
  const keys = numbered([event, event]).map((one) => one.key);
  assert.notEqual(keys[0], keys[1]);
});

test("values as text", () => {
  assert.equal(bytesText(1536), "1.5 KiB");
  assert.equal(bytesText(7), "7 B");
  assert.equal(millisText(1234), "1.2 s");
  assert.equal(spanText(61_000), "1 min");
  assert.deepEqual(wordsOf(" a, b\nc "), ["a", "b", "c"]);
});
