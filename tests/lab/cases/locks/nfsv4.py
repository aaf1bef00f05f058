"""Byte-range locks of NFSv4 clients on one head."""

import signal

from lab_case import check, eventually, lab_test
from steps.cluster import EXPIRED_S
from steps.deadlines import LEASE_S
from steps.nfs4_locks import locks
from steps.nlm import expect, locks_of
from symlab.service import EXPORT
from symlab.wait import SLOWER

# Longer than a lease, and than the gate's window.
AWAY_S = LEASE_S + 8.0
OLD_STATEID = 10024  # NFS4ERR_OLD_STATEID
SKIPPED_MAX = 65536  # sequence numbers of an owner that has reclaimed (patch 0049)
BAD_SEQID = 10026  # NFS4ERR_BAD_SEQID
NOTSUPP = 10004  # NFS4ERR_NOTSUPP
DENIED = 10010  # NFS4ERR_DENIED: the sequence was right


@lab_test("INV-7", "architecture/gate.md")
def v41_lock_outlives_an_outage_of_etcd(bench):
    """No lease expires while nothing is answered; the client goes on without recovery."""
    file = "outage"
    with locks(bench, file) as client:
        client.expect("granted", "hold", 0, 10)
        before = bench.service.serving()
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            bench.let_run(AWAY_S)
        finally:
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
        client.expect("done", "release", 5, 5)
        client.expect("1", "recoveries")
        expect("denied", bench, file, "test", "--length", "5")
        expect("granted", bench, file, "test", "--start", "5", "--length", "5")
        check(bench.service.wait_serving()["pid"] == before["pid"], "the instance was restarted")


@lab_test("INV-7", "architecture/locks.md")
def v41_blocking_lock_is_told_its_conflict(bench):
    """A blocking LOCK is answered with the lock that it conflicts with (patch 0038)."""
    file = "conflict"
    with locks(bench, file) as holder, locks(bench, file) as waiter:
        holder.expect("granted", "hold", 10, 20)
        waiter.expect("denied 10 20", "wait", 0, 100)


@lab_test("INV-7", "architecture/locks.md")
def v41_locks_of_a_dead_client_end_with_its_lease(bench):
    """A dead client's locks and records go when its lease ends, without anybody asking."""
    file = "died"
    with locks(bench, file) as client:
        client.expect("granted", "hold", 0, 10)
    expect("denied", bench, file, "test")
    eventually(EXPIRED_S * SLOWER, "its lease is over",
               lambda: locks_of(bench, "--fs", EXPORT, "--path", f"/{file}") == [])
    expect("granted", bench, file, "test")


@lab_test("INV-7", "architecture/locks.md")
def v41_unlock_of_an_unreclaimed_lock_is_recorded(bench):
    """A range that its owner does not reclaim after a restart can still be unlocked."""
    file = "unclaimed"
    others = {lock["client"] for lock in locks_of(bench)}  # of other tests, until their leases end
    with locks(bench, file, reclaims=1) as client:
        client.expect("granted", "hold", 0, 10)
        client.expect("granted", "hold", 100, 10)
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        client.expect("granted", "hold", 0, 10)
        client.expect("done", "release", 0, 10)
        client.expect("done", "release", 100, 10)
        left = [lock for lock in locks_of(bench) if lock["client"] not in others]
        check(not left, f"recorded: {left}")


@lab_test("INV-7", "architecture/locks.md")
def v41_reclaim_complete_drops_what_was_not_reclaimed(bench):
    """A range that was unlocked as the instance ended is free after RECLAIM_COMPLETE."""
    file = "reclaimed"
    others = {lock["client"] for lock in locks_of(bench)}
    with locks(bench, file, reclaims=0) as unlocked, locks(bench, file) as holder, \
            locks(bench, file) as other:
        unlocked.expect("granted", "hold", 0, 10)
        holder.expect("granted", "hold", 100, 10)
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        other.expect("denied", "hold", 0, 10)
        unlocked.expect("granted", "hold", 200, 10)  # it is back
        other.expect("granted", "hold", 0, 10)
        other.expect("denied", "hold", 100, 10)
        holder.expect("done", "release", 100, 10)
        other.expect("granted", "hold", 100, 10)
        for client, at in ((other, 0), (other, 100), (unlocked, 200)):
            client.expect("done", "release", at, 10)
        left = [lock for lock in locks_of(bench) if lock["client"] not in others]
        check(not left, f"recorded: {left}")


@lab_test("INV-7", "architecture/locks.md")
def v41_close_keeps_a_concurrent_open(bench):
    """An OPEN and a CLOSE of one owner run concurrently: the file stays open (patch 0047)."""
    file = "reopened"
    with locks(bench, file) as client, locks(bench, file) as other:
        client.expect("granted", "hold", 20, 10)
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            other.say("hold", 0, 10)  # holds the state lock of the file until etcd goes on
            bench.let_run(0.5)
            client.say("reopen")
            bench.let_run(1.0)
        finally:
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
        check(other.answer() == "granted", "the lock of the other client was not granted")
        seen = client.answer("reopen")
        check(seen == f"0 {OLD_STATEID}", f"OPEN and CLOSE were answered {seen}")
        client.expect("0", "read")
        other.expect("denied", "hold", 20, 10)


@lab_test("INV-7", "architecture/locks.md")
def v40_owner_may_skip_a_seqid_after_a_reclaim(bench):
    """Linux counts a LOCK too many when it recovers while one waits (patch 0049)."""
    with locks(bench, "skipped", minor=0) as client:
        client.expect("granted", "hold", 0, 10)
        client.expect("done", "skip", 1)
        client.expect(str(BAD_SEQID), "lock")
        client.expect("done", "skip", -2)
        client.expect(str(DENIED), "lock")
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        client.expect("granted", "hold", 0, 10)
        client.expect("0", "open", "name")
        for skipped in (1, SKIPPED_MAX, 0):
            client.expect("done", "skip", skipped)
            client.expect(str(DENIED), "lock")
        client.expect("done", "skip", SKIPPED_MAX + 1)
        client.expect(str(BAD_SEQID), "lock")
        client.expect("done", "skip", -SKIPPED_MAX - 2)
        client.expect("done", "skip", -2)  # before the last one, which would be sent again
        client.expect(str(BAD_SEQID), "lock")
        client.expect("2", "recoveries")


@lab_test("INV-7", "architecture/locks.md")
def v40_refused_open_has_a_seqid(bench):
    """What comes after an OPEN that is refused is checked as any other (patch 0050). A LOCK with
    the sequence number of that OPEN crashed the server."""
    with locks(bench, "refused", minor=0) as client:
        client.expect("granted", "hold", 0, 10)
        client.expect(str(NOTSUPP), "open", "handle")
        client.expect("done", "skip", -1)
        client.expect(str(BAD_SEQID), "lock")
        client.expect(str(DENIED), "lock")
        client.expect(str(NOTSUPP), "open", "handle")
        client.expect("done", "skip", 1)
        client.expect(str(BAD_SEQID), "lock")
        client.expect("done", "skip", -2)
        client.expect(str(DENIED), "lock")
        client.expect("1", "recoveries")
