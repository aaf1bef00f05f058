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


def grant_to(bench, how, client):
    """12 NFSv3 locks are granted to a client whose lock manager does that; returns what it has
    heard. No descriptor may be lost."""
    with called_back(bench, how) as heard:
        expect("granted", bench, client, "lock")
        for svid in range(2, 2 + ROUNDS):
            expect("blocked", bench, client, "lock", "--svid", str(svid), "--start", str(svid),
                   "--length", "1", "--block")
        cost = Cost(bench)
        expect("granted", bench, client, "unlock")
        bench.let_run(TRIED_S)
        check(cost.more_descriptors < DESCRIPTORS_MAX, f"{cost.more_descriptors} descriptors more")
        expect("done", bench, client, "free_all")
        return list(heard)


@lab_test("architecture/locks.md")
def callback_that_is_refused_costs_no_descriptor(bench):
    """Locks are granted to a client that takes no connection: no descriptor is lost."""
    grant_to(bench, "--refuses", "refusing")


@lab_test("architecture/locks.md")
def callback_that_is_reset_costs_no_descriptor(bench):
    """Locks are granted to a client that resets each connection: no descriptor is lost, and no
    connection of another client."""
    with locks(bench, "beside") as other:
        other.expect("granted", "hold", 0, 1)
        grant_to(bench, "--resets", "reset")
        other.expect("done", "release", 0, 1)


@lab_test("architecture/locks.md")
def callback_connection_that_is_closed_is_made_again(bench):
    """Locks are granted to a client that closes the connection after each call: no descriptor is
    lost, and it hears of more than one lock."""
    heard = grant_to(bench, "--closes", "closed")
    check(len({svid for svid, *_ in heard}) > 1, f"heard {heard}")
