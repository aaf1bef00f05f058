"""Locks that are held as long as the server's own list and the record say so, and no longer."""

import contextlib
import os
import signal
import subprocess
import sys

import nfs_wire
from lab_case import check, eventually, lab_test
from symlab import processes
from symlab.service import EXPORT, wait_for_line
from symlab.wait import SLOWER

from .p_locks import LEASE_S, OTHER, SEES_IT_S, expect, locks_of, new_lives, peer

LOCKS = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_locks")
# The server's reaper looks at leases every LEASE_S / 2, at most every 10 s.
EXPIRED_S = LEASE_S + 15.0
# Longer than a lease, and than the gate's window.
AWAY_S = LEASE_S + 8.0
OLD_STATEID = 10024  # NFS4ERR_OLD_STATEID
SHARE_DENIED = 10015  # NFS4ERR_SHARE_DENIED


class Locks:
    """A client of nfs4_locks."""

    def __init__(self, bench, file, deny=0, says="ready", service=None, reclaims=None,
                 called_back=False):
        url = (service or bench.service).url
        more = [] if reclaims is None else ["--reclaims", str(reclaims)]
        more += ["--called-back"] if called_back else []
        self.process = bench.lab.popen_in(
            "client", [sys.executable, LOCKS, "--url", url, "--file", file,
                       "--deny", str(deny), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_line(self.process, says)

    def __call__(self, *words):
        self.say(*words)
        return self.answer(*words)

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self, *words):
        answer = self.process.stdout.readline().strip()
        check(answer, f"nfs4_locks has ended: {words}")
        return answer

    def expect(self, wanted, *words):
        answer = self(*words)
        check(answer == wanted, f"{words} is answered {answer}, should be {wanted}")

    def die(self):
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def locks(bench, file, **how):
    client = Locks(bench, file, **how)
    try:
        yield client
    finally:
        client.die()


def ranges_of(bench, file):
    found = locks_of(bench, "--fs", EXPORT, "--path", f"/{file}")
    return [entry["ranges"] for entry in found]


@lab_test()
def sigterm_releases_no_lock(bench):
    """An instance that is asked to end does so at once: its locks are held by the next one."""
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
        check(len(locks_of(bench)) == 2, f"recorded: {locks_of(bench)}")
        client.expect("granted", "hold", 0, 10)
        client.expect("done", "release", 0, 10)
    expect("done", bench, file, "free_all")


@lab_test()
def downgrade_to_the_end_of_the_file_holds(bench):
    """Who makes its exclusive byte a part of a shared rest of the file lets others share it."""
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


@lab_test()
def lock_becomes_weaker_whoever_waits_for_it(bench):
    """Who makes its exclusive lock a shared one is not refused by a waiter (patch 0048)."""
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


@lab_test()
def nlm_grant_that_is_not_delivered_leaves_what_was_held(bench):
    """A shared lock that was to become an exclusive one stays when its owner cannot be called."""
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


@lab_test()
def nlm_notice_that_was_lost_is_made_up_for(bench):
    """A client that locks in its next life has lost what it locked before, whoever heard of it."""
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


@lab_test()
def v41_deny_mode_keeps_others_of_the_vnfs_out(bench):
    """Who has denied others to write is alone with that, by v4 and v3, after a restart as well."""
    file = "denying"
    with locks(bench, file, deny=2) as client, bench.shell() as shell:
        def others_are_out():
            with locks(bench, file, says=f"refused {SHARE_DENIED}"):
                pass
            shell.expect("NFS3ERR_JUKEBOX", "write", file, 0, 4096, "x", "stable")
            shell.expect("NFS3ERR_JUKEBOX", "create", file, 0)
            shell.expect("NFS3_OK", "read", file, 0, 0, "x")
        others_are_out()
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        client.expect("granted", "hold", 0, 10)  # it has claimed what it had open
        client.expect("done", "release", 0, 10)
        shell.expect("NFS3_OK", "reconnect")
        others_are_out()


@lab_test()
def v41_lock_outlives_an_outage_of_etcd(bench):
    """No lease runs out while nothing is answered; the client goes on as if nothing had been."""
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


@lab_test()
def v41_wait_names_its_conflict(bench):
    """A LOCK that may wait is told which lock it waits for (patch 0038: it was told anything)."""
    file = "conflict"
    with locks(bench, file) as holder, locks(bench, file) as waiter:
        holder.expect("granted", "hold", 10, 20)
        waiter.expect("denied 10 20", "wait", 0, 100)


@lab_test()
def v41_locks_of_a_client_that_dies_go_with_its_lease(bench):
    """While its instance serves: nobody has to ask for them, and none of it stays recorded."""
    file = "died"
    with locks(bench, file) as client:
        client.expect("granted", "hold", 0, 10)
    expect("denied", bench, file, "test")
    eventually(EXPIRED_S * SLOWER, "its lease is over", lambda: locks_of(bench) == [])
    expect("granted", bench, file, "test")


@lab_test()
def v41_unlock_of_what_is_not_claimed_is_recorded(bench):
    """A range that its owner does not lock again after a restart can still be unlocked."""
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


@lab_test()
def v41_client_that_has_reclaimed_holds_nothing_else(bench):
    """What it unlocked just as the instance ended is free when it says that it claims no more."""
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


@lab_test()
def v41_close_leaves_what_was_opened_beside_it(bench):
    """An OPEN and a CLOSE of one owner wait for the same file: the open file stays open (0047)."""
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
