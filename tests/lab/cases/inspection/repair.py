"""`fs check --repair`: damages that are planted in etcd while clients work."""

import json
import struct
import subprocess
import time

import labs
from lab_case import check, eventually, lab_test
from steps.fs_tables import FILESYSTEM, GROUP_BLOCKS, findings, prefix
from steps.load import coherent_clients
from symlab import product
from symlab.etcd_keys import EtcdKeys

NOTHING = 9_999_999  # no such inode
REGULAR_WITH_ONE_LINK = b"\x08\x01\x28\x01\x38\x01"  # type 1, nlink 1, generation 1


def be64(*numbers):
    return b"".join(struct.pack(">Q", number) for number in numbers)


def free_block(number):
    """The end of the key of a reverse-map entry in a group that the load does not reach."""
    return struct.pack(">IQ", 3, 3 * GROUP_BLOCKS + number)


def entry(ino, blocks):
    """A reverse-map entry: inode, blocks (ReverseMap of docs/formats)."""
    def varint(value):
        out = b""
        while value > 0x7f:
            out += bytes([value & 0x7f | 0x80])
            value >>= 7
        return out + bytes([value])
    return b"\x08" + varint(ino) + b"\x20" + varint(blocks)


def repairable(bench, keys):
    """Damages of each order: {key: value, or None to erase}."""
    def of(table):
        return prefix(bench, table)
    eventually(10.0, "the clients have written", lambda: keys.below(of(b"uR")))
    some = next(iter(keys.below(of(b"uR"))))
    return {
        some: None,                                                # blocks that are not marked
        of(b"uR") + free_block(77): entry(NOTHING, 4),             # lost blocks
        of(b"wT") + be64(NOTHING): b"",                            # directory times of nothing
        of(b"wK") + be64(NOTHING, NOTHING): b"",                   # a token of nobody
        of(b"uS") + be64(NOTHING) + b"s/\0": bytes(12),            # a slot of nobody
        of(b"wI") + be64(20_000_000): REGULAR_WITH_ONE_LINK,       # no name leads to it
        of(b"wD") + be64(NOTHING, 77): b"",                        # names of no directory
        of(b"uN"): b"3",                                           # a counter that goes back
    }


def plant(keys, damages):
    for key, value in damages.items():
        if value is None:
            keys.erase(key)
        else:
            keys.put(key, value)


def repair(bench, *args):
    """The document of `fs check --repair`, whatever it has found."""
    command = ("fs", "check", FILESYSTEM, "--repair", "-o", "json", *args)
    try:
        return json.loads(bench.symnas(*command))
    except product.CommandFailed as failed:
        return json.loads(failed.output)


def repaired(bench):
    """Repairs until nothing is found; under load it may take some calls."""
    said = {}
    for _ in range(5):
        said = repair(bench, "--yes")
        if said["findings_total"] == 0:
            return said
        time.sleep(1.0)
    raise AssertionError(f"findings are left: {json.dumps(said['rounds'][-1])[:3000]}")


@lab_test("architecture/repair.md", "operations/repair.md", lab=labs.ONE_FILESYSTEM, ends_lab=True)
def planted_damages_are_repaired_under_load(bench):
    """Damages of every order are repaired while four heads work; what is not proved is refused."""
    keys = EtcdKeys(bench.lab)
    with coherent_clients(bench):
        bench.let_run(3.0)
        plant(keys, repairable(bench, keys))
        plan = repair(bench, "--dry-run")["rounds"][0]["plan"]
        check(plan["due"] > 0 and plan["findings_total"] >= 8, json.dumps(plan)[:2000])
        check(len(findings(bench)) >= 8, "a dry run has repaired something")
        said = repaired(bench)
        print(f"     {len(said['rounds'])} rounds")
        names = bench.symnas.json("fs", "repairs", FILESYSTEM)["repairs"]
        check(len(names) >= 8 and all(one["finding"] and one["action"] for one in names),
              json.dumps(names)[:2000])
        found = bench.symnas.json("fs", "dump", FILESYSTEM, "/lost+found/#20000000")
        check(found["ino"] == 20_000_000, f"{found}")
        bench.let_run(2.0)
    refused_with_a_reason(bench, keys)
    check(not findings(bench), f"left: {findings(bench)}")
    bench.discard()


def refused_with_a_reason(bench, keys):
    """A key of a later version, a group that a living mount may own: nothing is changed."""
    unknown = prefix(bench, b"wZ")
    group = next(iter(keys.below(prefix(bench, b"uG"))))
    owner = keys.below(group)[group]
    keys.put(unknown, b"")
    keys.erase(group)
    said = repair(bench, "--yes")
    steps = said["rounds"][-1]["plan"]["steps"]
    check(said["findings_total"] >= 2 and all(step["verdict"] != "repair" for step in steps),
          json.dumps(said)[:2000])
    check(any("later version" in step["text"] for step in steps)
          and any("stop all VNFSs" in step["text"] for step in steps), json.dumps(steps)[:2000])
    keys.erase(unknown)
    keys.put(group, owner)


@lab_test("architecture/repair.md", lab=labs.ONE_HEAD, ends_lab=True)
def a_repair_that_dies_is_run_again(bench):
    """vnfsd is killed at any moment of a repair: nothing is half done, and the next run ends it."""
    keys = EtcdKeys(bench.lab)
    with bench.load("nfs_crash", "--workers", "2"):
        for number in range(3):
            plant(keys, repairable(bench, keys))
            command = [product.program("symnas"), "--socket", bench.symnas.socket_path, "fs",
                       "check", FILESYSTEM, "--repair", "--yes"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as begun:
                time.sleep(0.05 + 0.1 * number)
                bench.kill_process("vnfsd.c1n1")
                begun.wait(timeout=30)
            bench.lab.start_vnfsd("c1n1")
            bench.service.wait_serving()
            repaired(bench)
    check(not findings(bench), f"left: {findings(bench)}")
    bench.discard()
