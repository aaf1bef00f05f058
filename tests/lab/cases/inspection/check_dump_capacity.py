"""`fs check`, `fs dump` and `capacity` on a serving filesystem."""

import struct

from lab_case import check, lab_test
from steps.fs_tables import FILESYSTEM, GROUP_BLOCKS, findings, prefix
from symlab import luns
from symlab.etcd_keys import EtcdKeys


@lab_test("INV-2", "architecture/check.md")
def check_while_clients_work(bench):
    """`fs check` finds nothing, again and again, while files come, grow, shrink and go."""
    with bench.load("nfs_crash", "--workers", "3"):
        for _ in range(5):
            bench.let_run(0.5)
            found = findings(bench)
            check(not found, f"found while clients work: {found}")


@lab_test("architecture/check.md")
def dump_tells_where_the_bytes_are(bench):
    """The bytes of a file are on the LUNs where `fs dump` says."""
    with bench.load("nfs_io", "gaps", "--kinds", "read") as load:
        path = f"/gaps-read-{load.process.pid}"
        inode = bench.symnas.json("fs", "dump", FILESYSTEM, path)
        again = bench.symnas.json("fs", "dump", FILESYSTEM, "--ino", inode["ino"])
        check(again["extents"] == inode["extents"], "by path and by number differ")
        pieces = [piece for extent in inode["extents"] for piece in extent["pieces"]]
        check(sum(piece["bytes"] for piece in pieces) == inode["used_bytes"], f"{inode}")
        check(len({piece["lun"] for piece in pieces}) > 1, "a striped file lies on one LUN")
        for piece in pieces:
            with open(piece["lun_path"], "rb") as lun:
                lun.seek(piece["lun_byte"])
                seen = lun.read(piece["bytes"])
            check(seen.count(b"g") > len(seen) * 0.9 and luns.STALE_MARK not in seen,
                  f"{piece}: holds {seen[:64]}")
        told = bench.symnas("fs", "dump", FILESYSTEM, path)
        check(pieces[0]["lun"] in told and str(pieces[0]["lun_byte"]) in told, told)
    bench.refused(3, "fs", "dump", FILESYSTEM, "/nothing/here")
    bench.refused(3, "fs", "check", "nothing")


@lab_test("operations/commands.md")
def capacity_adds_up(bench):
    """`capacity` knows the filesystem, etcd's quota and the instance's memory."""
    bench.service.run_tool("nfs_badinput", "names")  # inodes are cached
    capacity = bench.symnas.json("capacity")
    use = capacity["filesystems"][0]
    check(use["name"] == FILESYSTEM and use["directories"] >= 1, f"{use}")
    check(use["bytes_used"] + use["bytes_free"] == use["bytes_total"], f"{use}")
    check(use["files_fit"] > 1_000_000, f"{use}")
    check(0 < capacity["etcd"]["share_used"] < 1, f"{capacity['etcd']}")
    instance = capacity["instances"][0]
    check(instance["pid"] == bench.service.serving()["pid"], f"{instance}")
    with open(f"/proc/{instance['pid']}/comm", encoding="utf-8") as comm:
        name = comm.read().strip()
    print(f"     {name}: {instance['resident_bytes'] >> 20} MiB resident, "
          f"{instance['idle_resident_bytes'] >> 20} MiB idle, {instance['cached_inodes']} inodes")
    check(10 << 20 < instance["idle_resident_bytes"] <= instance["resident_bytes"]
          and instance["cached_inodes"] > 0, f"{instance}")
    check(instance["resident_bytes"] > 10 << 20, f"{name}: {instance}")


@lab_test("architecture/check.md", ends_lab=True)
def planted_damages_are_found(bench):
    """Damages that are planted in etcd are found by `fs check`, and gone when they are repaired."""
    keys = EtcdKeys(bench.lab)
    check(not findings(bench), "found before anything was planted")

    def planted(what, key, value, expected):
        """Puts (or erases: None) a key, checks, puts it back."""
        old = keys.below(key).get(key)
        if value is None:
            keys.erase(key)
        else:
            keys.put(key, value)
        seen = findings(bench)
        if old is None:
            keys.erase(key)
        else:
            keys.put(key, old)
        check(any(finding["kind"] == expected for finding in seen),
              f"{what}: no finding of kind {expected}: {seen}")

    with bench.load("nfs_io", "gaps", "--kinds", "read"):
        reverse_map = keys.below(prefix(bench, b"uR"))
        far = struct.pack(">IQ", 3, 3 * GROUP_BLOCKS + 77)
        some = next(iter(reverse_map))
        group = prefix(bench, b"uG") + some[len(prefix(bench, b"uR")):][:4]
        ino = struct.pack(">Q", 9_999_999)
        planted("an entry of the reverse map is gone", some, None, "reverse_map")
        planted("blocks of nobody", prefix(bench, b"uR") + far, reverse_map[some], "lost_space")
        planted("unreadable entry", some, b"\xff", "record")
        planted("a group without owner", group, None, "group")
        planted("token of a mount that never was", prefix(bench, b"wK") + ino * 2, b"", "leftover")
        planted("directory times of nothing", prefix(bench, b"wT") + ino, b"", "leftover")
        planted("names in no directory", prefix(bench, b"wD") + ino * 2, b"", "tree")
        planted("an inode without a name", prefix(bench, b"wI") + ino, b"\x08\x01\x28\x01", "links")
        planted("a counter that goes back", prefix(bench, b"uN"), b"3", "counter")
        planted("a key of no table", prefix(bench, b"wQ"), b"", "key")
        planted("a slot of nobody", prefix(bench, b"uS") + ino + b"s/\0", bytes(12), "leftover")
    check(not findings(bench), f"left after everything was put right: {findings(bench)}")
    # A key that was put back has another revision: the mount's compares of it fail for ever.
    bench.discard()
