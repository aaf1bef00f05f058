"""Another decider than the builtin planner orders VNFSs about (architecture/deciders.md)."""

import contextlib
import threading
import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, heads_from, owner, victim
from steps.deadlines import BETWEEN_S, HEARD_S, MOVED_MS, TAKEN_OVER_S
from steps.exit_status import CONFLICT, NOT_PERMITTED
from steps.faults import automatic_fencing, serves
from steps.load import MEASURED, check_gaps, coherent_clients
from symlab import product
from symlab.faults import Faults

FLAPS = 8


@contextlib.contextmanager
def decided_by(bench, decider):
    bench.symnas("ha", "decider", decider)
    try:
        yield
    finally:
        eventually(TAKEN_OVER_S, "symnas decides again",
                   lambda: bench.symnas("ha", "decider", "builtin"))


def order(bench, action, service, head):
    return bench.symnas("ha", action, service.name, "--head", head, "--by", "pacemaker")


def standing(bench, service, head):
    return bench.symnas.json("ha", "standing", service.name, "--head", head)["standing"]


@lab_test("INV-4", "INV-8", "architecture/deciders.md", lab=labs.BACKUPS)
def decider_moves_a_vnfs_under_load(bench):
    """The decider is changed and moves a VNFS through every head, under verified load: no error;
    what an administrator orders beside it is refused."""
    service = victim(bench)
    home = service.head
    with coherent_clients(bench, "--stable", "1"), \
            bench.load(*MEASURED, "read,write,create", service=service) as load:
        bench.let_run(BETWEEN_S)
        with decided_by(bench, "pacemaker"):
            bench.let_run(BETWEEN_S)
            check(owner(bench, service) == home, "the change has moved it")
            for head in heads_from(service):
                former = owner(bench, service)
                order(bench, "take", service, head)
                check(owner(bench, service) == head, f"it is not on {head}")
                check(standing(bench, service, head) == "serving", f"{head} does not say so")
                check(standing(bench, service, former) == "stopped", f"{former} keeps it")
                order(bench, "leave", service, former)  # as pacemaker does after a migration
                check(owner(bench, service) == head, "it was given up")
                bench.let_run(BETWEEN_S)
            for words in (("vnfs", "rehost", service.name, home), ("head", "drain", home)):
                bench.refused(CONFLICT, *words)
            bench.refused(NOT_PERMITTED, "ha", "take", service.name, "--by", "keepalived")
        bench.let_run(BETWEEN_S)
    check_gaps(load.seen, ("read", "write", "create"), MOVED_MS)


@lab_test("INV-4", "INV-8", "architecture/deciders.md", lab=labs.BACKUPS)
def decider_that_flaps_does_no_harm(bench):
    """Two heads are told to take a VNFS again and again, each by a decider of its own that knows
    nothing of the other: orders are refused or carried out, one head serves, no operation fails."""
    service = victim(bench)
    heads = heads_from(service)[:2]
    with coherent_clients(bench, "--stable", "1"), decided_by(bench, "pacemaker"):
        bench.let_run(BETWEEN_S)
        told = [threading.Thread(target=insist, args=(bench, service, head)) for head in heads]
        for one in told:
            one.start()
        for one in told:
            one.join()
        order(bench, "take", service, heads[0])
        check(owner(bench, service) == heads[0], f"{heads[0]} does not serve it")
        check(standing(bench, service, heads[1]) == "stopped", f"{heads[1]} keeps it")
        bench.let_run(BETWEEN_S)
        order(bench, "take", service, heads_from(service)[-1])


def insist(bench, service, head):
    symnas = bench.lab.symnas(head)
    for _ in range(FLAPS):
        with contextlib.suppress(product.CommandFailed):  # the other one has it, or gets it
            symnas("ha", "take", service.name, "--by", "pacemaker", "--timeout", "1")


@lab_test("INV-8", "architecture/deciders.md", lab=labs.BACKUPS)
def decider_stops_and_starts_a_vnfs(bench):
    """What a head is told to leave is served by nobody until a head is told to take it."""
    service = victim(bench)
    home, other = service.head, heads_from(service)[0]
    with decided_by(bench, "pacemaker"):
        order(bench, "leave", service, home)
        check(owner(bench, service) == "", "somebody serves it")
        order(bench, "take", service, other)
        check(owner(bench, service) == other, f"{other} does not serve it")
        check(serves(bench, service), "it does not answer")
    service.rehost(home)


@lab_test("INV-8", "architecture/deciders.md", lab=labs.BACKUPS)
def dead_head_is_fenced_when_its_vnfs_is_taken(bench):
    """A head dies: the builtin detection only says so. The head that is told to take its VNFS has
    it fenced, and serves after the proof."""
    service = victim(bench)
    home, backup = service.head, heads_from(service)[1]
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), coherent_clients(bench, "--stable", "1"), \
            decided_by(bench, "pacemaker"):
        bench.let_run(HEARD_S)
        Faults(bench.lab).kill(home)
        symnas = bench.lab.symnas(backup)
        eventually(TAKEN_OVER_S, f"{home} is silent", lambda: any(
            one["head"] == home and "pacemaker decides" in one["why"]
            for one in symnas.json("status")["silent"]))
        check(fence_state(bench, home) is None, "it was fenced unasked")
        since = time.monotonic()
        symnas("ha", "take", service.name, "--by", "pacemaker")
        print(f"     served {time.monotonic() - since:.1f} s after the order to take it")
        check(owner(bench, service) == backup, f"{backup} does not serve it")
        check(fence_state(bench, home) == "done", "nothing was proved")
        bench.lab.unfence(home)
        eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
        bench.let_run(BETWEEN_S)
        check(owner(bench, service) == backup, "it went back by itself")
    bench.lab.wait_members()
    service.rehost(home)
