"""Grants of NFSv3 locks (NLM) that are under way while their client does something else."""

import contextlib
import signal
import subprocess

from lab_case import check, eventually, lab_test
from steps.nlm import OTHER, called_back, expect, new_lives, peer
from symlab import netns
from symlab.service import EXPORT

HEARD_S = 10.0
# A call to a client that does not answer is given up after 3 s (look-up) or 7 s (connect).
GIVEN_UP_S = 20.0
UNDELAYED_S = 2.0
DEAF = "10.0.0.209"  # a second address of the clients' namespace
PART = ("--length", "10")


def wait_and_be_granted(bench, file, life, heard, svid="1"):
    """A process waits for all of a file that another one holds, and is told that it is granted."""
    expect("granted", bench, file, "lock", *OTHER, "--state", life)
    expect("blocked", bench, file, "lock", "--block", "--state", life, "--svid", svid,
           "--length", "100")
    expect("granted", bench, file, "unlock", *OTHER)
    eventually(HEARD_S, f"process {svid} is told", lambda: (int(svid), 0, 100) in heard)


@lab_test("INV-7", "architecture/nsm.md")
def nlm_unlock_of_a_part_before_granted_is_answered(bench):
    """A part is unlocked or downgraded before GRANTED is answered: the rest stays held."""
    [life] = new_lives(1)
    third = ("--svid", "3")
    with called_back(bench) as heard:
        wait_and_be_granted(bench, "fresh", life, heard)
        expect("granted", bench, "fresh", "unlock", *PART)
        expect("granted", bench, "fresh", "test", *third, *PART)
        expect("denied", bench, "fresh", "test", *third, "--start", "10", "--length", "90")
        wait_and_be_granted(bench, "changed", life, heard)
        expect("granted", bench, "changed", "lock", "--shared", "--state", life, *PART)
        expect("granted", bench, "changed", "test", "--shared", *third, *PART)
        expect("denied", bench, "changed", "test", "--shared", *third, "--start", "10",
               "--length", "90")
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        expect("granted", bench, "fresh", "test", *third, *PART)
        expect("denied", bench, "fresh", "test", *third, "--start", "10", "--length", "90")
        expect("granted", bench, "changed", "test", "--shared", *third, *PART)
        expect("denied", bench, "changed", "test", *third, *PART)
        expect("done", bench, "fresh", "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_withdrawn_grant_is_not_sent(bench):
    """A waiter that cancels while GRANTED is queued is not told that it holds the lock."""
    [life] = new_lives(1)
    with called_back(bench) as heard:
        for file, svid in (("first", "1"), ("second", "3")):
            expect("granted", bench, file, "lock", *OTHER, "--state", life)
            expect("blocked", bench, file, "lock", "--block", "--state", life, "--svid", svid)
        # The look-up of its port takes until it runs again, and the next message waits behind it.
        heard.process.send_signal(signal.SIGSTOP)
        expect("granted", bench, "first", "unlock", *OTHER)
        expect("granted", bench, "second", "unlock", *OTHER)
        expect("granted", bench, "second", "cancel", "--block", "--svid", "3")
        expect("granted", bench, "second", "lock", "--svid", "4", "--state", life)
        heard.process.send_signal(signal.SIGCONT)
        eventually(HEARD_S, "the first waiter is told", lambda: heard)
        bench.let_run(UNDELAYED_S)
        check([svid for svid, _, _ in heard] == [1], f"granted to {heard}")
        expect("done", bench, "first", "free_all")


@contextlib.contextmanager
def deaf_machine(bench):
    """Another machine of NFSv3, whose firewall drops what the server sends of its own accord."""
    table = f"table inet symnas_deaf {{\n chain in {{\n  type filter hook input priority 0;\n" \
            f"  ip daddr {DEAF} tcp dport {{ 111, 4045 }} drop\n" \
            f"  ip daddr {DEAF} udp dport 111 drop\n }}\n}}\n"
    space = bench.lab.client_netns
    netns.ip("addr", "add", f"{DEAF}/24", "dev", "eth1", netns=space)
    with netns.entered(space):
        subprocess.run(["nft", "-f", "-"], input=table, text=True, check=True)
    try:
        yield "--from", DEAF, "--name", "deaf", "--svid", "9"
    finally:
        with netns.entered(space):
            subprocess.run(["nft", "delete", "table", "inet", "symnas_deaf"], check=True)
        netns.ip("addr", "del", f"{DEAF}/24", "dev", "eth1", netns=space)


@lab_test("architecture/nsm.md")
def nlm_client_behind_a_firewall_delays_no_other(bench):
    """One client cannot be called: others are told of their grants at once; it keeps no lock."""
    [life] = new_lives(1)
    with called_back(bench) as heard, deaf_machine(bench) as deaf:
        for file in ("behind", "before"):
            expect("granted", bench, file, "lock", *OTHER, "--state", life)
        expect("blocked", bench, "behind", "lock", "--block", *deaf)
        expect("blocked", bench, "before", "lock", "--block", "--state", life)
        expect("granted", bench, "behind", "unlock", *OTHER)
        expect("granted", bench, "before", "unlock", *OTHER)
        eventually(UNDELAYED_S, "the other client is told", lambda: heard)
        eventually(GIVEN_UP_S, "the lock that nobody could be told of is free",
                   lambda: peer(bench, "behind", "test", *OTHER) == "granted")
        expect("done", bench, "before", "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_cancel_of_a_granted_lock_is_denied(bench):
    """CANCEL after the grant is denied: the owner has to unlock."""
    [life] = new_lives(1)
    file = "ended"
    expect("granted", bench, file, "lock", "--state", life, "--length", "100")
    expect("denied", bench, file, "cancel", "--block", *PART)
    expect("denied", bench, file, "test", *OTHER, *PART)
    expect("granted", bench, file, "unlock")
    expect("granted", bench, file, "cancel", "--block", *PART)
    # A weaker one was there before.
    expect("granted", bench, file, "lock", "--shared", "--state", life)
    expect("granted", bench, file, "cancel", "--block")
    expect("denied", bench, file, "test", *OTHER)
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_unanswered_grants_are_cleared(bench):
    """`lock clear` releases what a dead machine was granted, and what it still waits for."""
    [life] = new_lives(1)
    file = "unanswered"
    with called_back(bench) as heard:
        wait_and_be_granted(bench, file, life, heard)
        expect("blocked", bench, file, "lock", "--block", *OTHER, "--state", life)
        done = bench.symnas("lock", "clear", "--fs", EXPORT, "--path", f"/{file}", "--yes")
        check("locks of 1 owner released" in done, done)
        expect("granted", bench, file, "cancel", "--block", *OTHER)
        check(peer(bench, file, "lock", "--svid", "3", "--state", life) == "granted",
              "the lock is not free")
        expect("done", bench, file, "free_all")
