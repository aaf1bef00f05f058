"""Locks while the wall clock of their server is set."""

import time

from lab_case import check, eventually, lab_test
from steps.clocks import clocks
from steps.cluster import EXPIRED_S
from steps.nfs4_locks import locks
from steps.nlm import locks_of
from symlab.service import EXPORT
from symlab.wait import SLOWER

# What the clock is ahead: steps of a minute and an hour, ahead and back.
AHEAD_S = (60, 0, -60, 0, 3600, 0, -3600)
LOOKS_AFTER_S = 12.0  # ganesha looks for leases that are over every 10 s
RENEWED_EVERY_S = 3.0
MINORS = (0, 1)


def keep(holders, seconds):
    """Time passes, and the clients renew their leases."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for minor, holder in holders.items():
            answer = holder("read")
            check(answer == "0", f"v4.{minor}: a READ is answered {answer}")
        time.sleep(RENEWED_EVERY_S)


@lab_test("INV-7", "architecture/locks.md", soak=True)
def v4_locks_survive_steps_of_the_clock(bench):
    """The clock is set by a minute and an hour: who renews its lease keeps its lock, who does not
    loses it as soon as ever."""
    with clocks(bench, {"c1n1": bench.service}) as made, \
            locks(bench, "stepped0", minor=0) as old, locks(bench, "stepped1", minor=1) as new, \
            locks(bench, "died") as dead:
        holders = dict(zip(MINORS, (old, new), strict=True))
        for holder in (*holders.values(), dead):
            holder.expect("granted", "hold", 0, 10)
        for ahead_s in AHEAD_S:
            made["c1n1"].set(ahead_s)
            if ahead_s == AHEAD_S[-1]:
                dead.die()
            keep({**holders, "1, too": dead} if ahead_s != AHEAD_S[-1] else holders,
                 LOOKS_AFTER_S)
            for minor in MINORS:
                with locks(bench, f"stepped{minor}") as other:
                    answer = other("hold", 5, 1)
                    check(answer == "denied", f"v4.{minor}: {ahead_s} s ahead: {answer}")

        def is_over():
            keep(holders, RENEWED_EVERY_S)
            return locks_of(bench, "--fs", EXPORT, "--path", "/died") == []

        eventually(EXPIRED_S * SLOWER, "the lease of the client that is gone is over", is_over)
        for holder in holders.values():
            holder.expect("done", "release", 0, 10)
            holder.expect("1", "recoveries")
