"""Calls of the server to its clients: to one that has gone, to one that takes none."""

from lab_case import check, lab_test
from steps.nfs4_locks import locks
from steps.nlm import called_back, expect
from steps.rpc import Cost

ROUNDS = 12
DESCRIPTORS_MAX = 5
TRIED_S = 4  # a waiting lock of NLM is tried each second


@lab_test("architecture/locks.md")
def callbacks_outlive_connections(bench):
    """NFSv4.1 waiters go away just before their lock is free, 12 times: the instance lives."""
    before = bench.service.serving()["pid"]
    with locks(bench, "gone") as holder:
        # Each at its own place: what a waiter was told of is kept for it.
        for at in range(ROUNDS):
            holder.expect("granted", "hold", at, 1)
            with locks(bench, "gone", called_back=True) as waiter:
                waiter.expect(f"denied {at} 1", "wait", at, 1)
                waiter.process.kill()
                holder.expect("done", "release", at, 1)
    check(bench.service.serving()["pid"] == before, "the instance has died")


@lab_test("architecture/locks.md")
def callback_that_is_refused_costs_no_descriptor(bench):
    """12 NFSv3 locks are granted to a client that takes no connection: no descriptor is lost."""
    with called_back(bench, "--refuses"):
        expect("granted", bench, "refused", "lock")
        for svid in range(2, 2 + ROUNDS):
            expect("blocked", bench, "refused", "lock", "--svid", str(svid), "--start", str(svid),
                   "--length", "1", "--block")
        cost = Cost(bench)
        expect("granted", bench, "refused", "unlock")
        bench.let_run(TRIED_S)
        check(cost.more_descriptors < DESCRIPTORS_MAX, f"{cost.more_descriptors} descriptors more")
        expect("done", bench, "refused", "free_all")
