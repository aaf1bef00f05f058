"""Locks are held as long as the server's own list and the record say so, and no longer."""

import signal

from lab_case import check, eventually, lab_test
from steps.nfs4_locks import locks
from steps.nlm import OTHER, SEES_IT_S, expect, locks_of, new_lives, peer
from symlab import processes
from symlab.service import EXPORT


def ranges_of(bench, file):
    found = locks_of(bench, "--fs", EXPORT, "--path", f"/{file}")
    return [entry["ranges"] for entry in found]


@lab_test("INV-7", "architecture/locks.md")
def sigterm_releases_no_lock(bench):
    """An instance that gets SIGTERM ends at once; the next one still holds its locks."""
    [first] = new_lives(1)
    file = "terminated"
    with locks(bench, "terminated-v4") as client:
        client.expect("granted", "hold", 0, 10)
        expect("granted", bench, file, "lock", "--state", first)
        before = bench.service.serving()
        record = {"pid": before["pid"], "start_time": processes.start_time(before["pid"])}
        check(processes.send_signal(record, signal.SIGTERM), "the instance was gone already")
        bench.service.wait_serving(other_than=before["pid"])
        expect("denied", bench, file, "test", *OTHER)
        expect("denied", bench, "terminated-v4", "test", "--length", "5")
        recorded = [lock for name in (file, "terminated-v4")
                    for lock in locks_of(bench, "--fs", EXPORT, "--path", f"/{name}")]
        check(len(recorded) == 2, f"recorded: {recorded}")
        client.expect("granted", "hold", 0, 10)
        client.expect("done", "release", 0, 10)
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/locks.md")
def downgrade_to_the_end_of_the_file_holds(bench):
    """An exclusive byte that becomes part of a shared lock to the end can be shared by others."""
    [first] = new_lives(1)
    file = "downgraded"
    byte = ("--start", "5", "--length", "1", "--state", first)
    expect("granted", bench, file, "lock", *byte)
    expect("granted", bench, file, "lock", "--shared", "--state", first)
    expect("granted", bench, file, "lock", "--shared", *OTHER, *byte)
    expect("denied", bench, file, "lock", *byte)
    # A byte in the middle of what reaches to the end, the other way round.
    expect("granted", bench, file, "unlock", *OTHER)
    expect("granted", bench, file, "lock", *byte)
    expect("granted", bench, file, "lock", "--shared", *byte)
    expect("granted", bench, file, "test", "--shared", *OTHER, *byte)
    check(ranges_of(bench, file) == [[{"start": 0, "type": "read"}]],
          f"recorded: {ranges_of(bench, file)}")
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/locks.md")
def downgrade_is_not_refused_for_a_waiter(bench):
    """An exclusive lock becomes a shared one although somebody waits for it (patch 0048)."""
    [first] = new_lives(1)
    file = "weaker"

    def seen(svid, start):
        return peer(bench, file, "test", "--shared", "--svid", svid, "--start", start,
                    "--length", "1", "--state", first)

    expect("granted", bench, file, "lock", "--state", first, "--length", "100")
    expect("blocked", bench, file, "lock", "--block", *OTHER, "--state", first, "--start", "50",
           "--length", "10")
    expect("granted", bench, file, "lock", "--shared", "--state", first, "--start", "40",
           "--length", "30")
    check(seen("3", "65") == "granted", "what is shared now is denied")
    check(seen("3", "39") == "denied", "what is still exclusive is shared")
    check(ranges_of(bench, file) == [[{"start": 0, "length": 40, "type": "write"},
                                      {"start": 40, "length": 30, "type": "read"},
                                      {"start": 70, "length": 30, "type": "write"}]],
          f"recorded: {ranges_of(bench, file)}")
    # Others' locks that are held stay in the way, as does a waiter of who wants more than it has.
    expect("granted", bench, file, "lock", "--shared", "--svid", "3", "--state", first,
           "--start", "65", "--length", "1")
    expect("denied", bench, file, "lock", "--state", first, "--start", "60", "--length", "10")
    expect("denied", bench, file, "lock", "--shared", "--svid", "4", "--state", first,
           "--start", "55", "--length", "1")
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_undelivered_grant_keeps_the_earlier_lock(bench):
    """An owner that cannot be called back keeps the shared lock that was to be upgraded."""
    [first] = new_lives(1)
    file = "unheard"
    for svid in ("1", "2"):
        expect("granted", bench, file, "lock", "--shared", "--state", first, "--svid", svid,
               "--start", "10", "--length", "10")
    expect("blocked", bench, file, "lock", "--block", "--state", first, "--length", "30")
    expect("granted", bench, file, "unlock", *OTHER)
    # Nobody answers for the client: the exclusive lock is granted, then taken back.
    late = ("--shared", "--svid", "3", "--state", first, "--start", "25", "--length", "1")
    eventually(SEES_IT_S, "nobody waits", lambda: peer(
        bench, file, "test", *late) == "granted")
    check(ranges_of(bench, file) == [[{"start": 10, "length": 10, "type": "read"}]],
          f"recorded: {ranges_of(bench, file)}")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("denied", bench, file, "test", *OTHER)
    expect("granted", bench, file, "test", "--shared", *OTHER)
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_lock_after_a_lost_reboot_notice(bench):
    """A rebooted client that locks again loses what it held before, even if no notice came."""
    first, second, third = new_lives(3)
    expect("granted", bench, "lost", "lock", "--state", first)
    expect("granted", bench, "found", "lock", *OTHER, "--state", second, "--high-port")
    expect("denied", bench, "lost", "test", *OTHER)
    expect("granted", bench, "found anew", "lock", *OTHER, "--state", second)
    eventually(SEES_IT_S, "what it held is free",
               lambda: peer(bench, "lost", "test", *OTHER) == "granted")
    expect("denied", bench, "found", "test")
    # After a restart the records say in which life it locked.
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("granted", bench, "found too", "lock", "--state", third)
    eventually(SEES_IT_S, "what it held is free",
               lambda: peer(bench, "found", "test") == "granted")
    expect("done", bench, "lost", "free_all")
