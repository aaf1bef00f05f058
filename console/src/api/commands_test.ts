import assert from "node:assert/strict";
import { test } from "node:test";
import { apiPath, dryRunPath, quoted, sendPath, whyOff, type Change } from "./change";
import * as commands from "./commands";
import * as storage from "./commands_storage";

const request = ({ method, path, body }: Change) => [method, path, body];

test("words that a shell would read otherwise are quoted", () => {
  assert.equal(quoted("vnfs1"), "vnfs1");
  assert.equal(quoted(""), "''");
  assert.equal(quoted("a b"), "'a b'");
  assert.equal(quoted("$(x); rm"), "'$(x); rm'");
  assert.equal(quoted("it's"), `'it'\\''s'`);
  assert.equal(quoted("*.lab.example.org:ro"), "'*.lab.example.org:ro'");
});

test("names are one part of a path", () => {
  assert.equal(apiPath`/v1/vnfs/${"a/../b?x"}/stop`, "/v1/vnfs/a%2F..%2Fb%3Fx/stop");
});

test("a move, and the way back", () => {
  const change = commands.rehost("vnfs1", "c1n2", "c1n1");
  assert.equal(change.command, "symnas vnfs rehost vnfs1 c1n2");
  assert.deepEqual(request(change), ["POST", "/v1/vnfs/vnfs1/rehost", { head: "c1n2" }]);
  assert.equal(change.undo?.command, "symnas vnfs rehost vnfs1 c1n1");
  assert.equal(commands.rehost("vnfs1", "c1n2").undo, undefined);
});

test("the order of heads, and as it was", () => {
  const change = commands.orderHeads("vnfs1", ["c1n2", "c1n1"], ["c1n1", "c1n2"]);
  assert.equal(change.command, "symnas vnfs set vnfs1 --heads c1n2,c1n1");
  assert.deepEqual(request(change), ["POST", "/v1/vnfs/vnfs1/set", { heads: ["c1n2", "c1n1"] }]);
  assert.equal(change.undo?.command, "symnas vnfs set vnfs1 --heads c1n1,c1n2");
});

test("orders for VNFSs and heads", () => {
  const all: [Change, string, string][] = [
    [commands.failback("v"), "symnas vnfs failback v", "/v1/vnfs/v/failback"],
    [commands.setFailback("v", "auto"), "symnas vnfs set v --failback auto", "/v1/vnfs/v/set"],
    [commands.start("v"), "symnas vnfs start v", "/v1/vnfs/v/start"],
    [commands.stop("v"), "symnas vnfs stop v", "/v1/vnfs/v/stop"],
    [commands.restart("v"), "symnas vnfs restart v", "/v1/vnfs/v/restart"],
    [commands.kill("v"), "symnas drill kill v --yes", "/v1/vnfs/v/kill"],
    [commands.drain("h"), "symnas head drain h --wait", "/v1/heads/h/drain"],
    [commands.undrain("h"), "symnas head undrain h", "/v1/heads/h/undrain"],
    [commands.fence("h"), "symnas head fence h --yes", "/v1/heads/h/fence"],
  ];
  for (const [change, command, path] of all) {
    assert.equal(change.command, command);
    assert.equal(change.path, path);
    assert.equal(change.method, "POST");
  }
});

test("long work is a job, a dry run of it is none", () => {
  const drain = commands.drain("h");
  assert.equal(sendPath(drain), "/v1/heads/h/drain?async=true");
  assert.equal(dryRunPath(drain), "/v1/heads/h/drain?dry_run=true");
});

test("locks are cleared by file and client", () => {
  const change = commands.clearLocks({ filesystem: "u04", ino: 7, client: "a b" }, "locks");
  assert.equal(change.command, "symnas lock clear --fs u04 --client 'a b' --ino 7 --yes");
  assert.equal(change.path, "/v1/locks?filesystem=u04&ino=7&client=a%20b");
  assert.equal(dryRunPath(change), `${change.path}&dry_run=true`);
  assert.ok(change.danger);
  const file = commands.clearLocks({ filesystem: "u04", path: "/a b", client: "" }, "locks");
  assert.equal(file.command, "symnas lock clear --fs u04 --path '/a b' --yes");
  assert.equal(file.path, "/v1/locks?filesystem=u04&path=%2Fa%20b");
});

test("LUNs and volumes", () => {
  const lun = storage.importLuns([
    { name: "l1", path: "/dev/sdb" },
    { name: "l2", path: "/dev/sdc", force: true },
  ]);
  assert.equal(lun.command, "symnas lun import l1=/dev/sdb l2=/dev/sdc --force l2");
  assert.match(lun.danger ?? "", /sdc.*destroyed/);
  const volume = { name: "v", luns: ["l1", "l2"], stripe_unit_bytes: 1 << 20 };
  assert.equal(
    storage.createVolume(volume).command,
    "symnas volume create v --luns l1,l2 --stripe-unit 1M",
  );
  assert.equal(storage.growVolume("v", ["l3"]).command, "symnas volume grow v --luns l3");
  assert.equal(storage.releaseLun("l1", true).path, "/v1/luns/l1?forget=true");
  assert.equal(storage.sizeWord(65536), "64K");
  assert.equal(storage.sizeWord(16 << 20), "16M");
});

test("filesystems", () => {
  const change = storage.createFilesystem({ name: "f", volume: "v", atime: "off", mode: "1777" });
  assert.equal(change.command, "symnas fs create f --volume v --mode 1777 --atime off");
  assert.equal((change.body as { root_mode: number }).root_mode, 0o1777);
  assert.equal(sendPath(storage.checkFilesystem("f")), "/v1/filesystems/f/check?async=true");
});

test("an edit of an export, and its roll-back", () => {
  const change = storage.editExport(
    "u04",
    { access: "ro", rules: ["@friends:rw"] },
    { access: "rw", rules: [] },
  );
  assert.equal(change.command, "symnas export set u04 --client @friends:rw --access ro");
  assert.deepEqual(change.body, { access: "ro", rules: ["@friends:rw"] });
  assert.equal(change.undo?.command, "symnas export set u04 --client '' --access rw");
  assert.equal(change.undo?.title, "Roll the export u04 back");
});

test("what a role may", () => {
  assert.equal(whyOff("admin", "operator"), "");
  assert.equal(whyOff("operator", "operator"), "");
  assert.match(whyOff("viewer", "operator"), /needs the role operator/);
  assert.match(whyOff(undefined, "viewer"), /not known yet/);
});
