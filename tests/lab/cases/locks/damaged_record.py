"""A lock whose record cannot be read any more."""

from lab_case import check, lab_test
from steps.fs_tables import findings, prefix
from steps.nlm import OTHER, expect, locks_of, new_lives
from symlab.etcd_keys import EtcdKeys
from symlab.service import EXPORT

HELD = ("--start", "10", "--length", "20")
BESIDE = ("--start", "1000", "--length", "1")


@lab_test("INV-7", "architecture/repair.md")
def damaged_lock_record_stays_with_its_file(bench):
    """Its owner counts as holding all that nobody else holds; `lock clear` ends that."""
    keys = EtcdKeys(bench.lab)
    [life] = new_lives(1)
    bench.symnas("lock", "clear", "--client", "peer", "--yes")
    expect("granted", bench, "damaged", "lock", "--state", life, *HELD)
    expect("granted", bench, "sound", "lock", "--state", life, *HELD)
    [damaged] = locks_of(bench, "--fs", EXPORT, "--path", "/damaged")
    [key] = keys.below(prefix(bench, b"uL") + damaged["ino"].to_bytes(8, "big"))
    keys.put(key, b"\xff")

    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    for span in (HELD, BESIDE):
        expect("denied", bench, "damaged", "test", *OTHER, *span)
    expect("denied", bench, "sound", "test", *OTHER, *HELD)
    expect("granted", bench, "sound", "test", *OTHER, *BESIDE)
    found = findings(bench)
    check(len(found) == 1 and "lock record of it cannot be parsed" in found[0]["text"], str(found))

    bench.symnas("lock", "clear", "--fs", EXPORT, "--path", "/damaged", "--yes")
    expect("granted", bench, "damaged", "test", *OTHER, *HELD)
    bench.symnas("lock", "clear", "--client", "peer", "--yes")
