"""LUNs that fail or hang on one head or on all."""

import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import check_nobody_fenced, heads_from, history, others, owner, victim
from steps.deadlines import HEARD_S, ILL_S, STEADY_S
from steps.exit_status import CONFLICT
from steps.faults import automatic_fencing, wait_luns_well
from steps.load import PATIENT_WRITERS


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def hung_luns_of_all_heads_move_nothing(bench):
    """All LUNs hang everywhere for longer than allowed: no restart, no move, no fence."""
    before = {service.name: service.serving()["pid"] for service in bench.services}
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), bench.broken_luns() as fault, \
            bench.load(*PATIENT_WRITERS, service=victim(bench)) as load:
        bench.let_run(HEARD_S)
        fault("hang", "all")
        bench.let_run(ILL_S)
        fault("resume", "all")
        bench.let_run(2.0)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    for service in bench.services:
        check(service.wait_serving()["pid"] == before[service.name], f"{service.name} was ended")
        check(owner(bench, service) == service.home, f"{service.name} was moved")
    check_nobody_fenced(bench)
    wait_luns_well(bench)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def luns_that_fail_on_one_head(bench):
    """EIO of one head's LUNs: its VNFS moves to a head without it, and stays there."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    with bench.broken_luns() as fault, bench.load(*PATIENT_WRITERS, service=others(bench)[0]):
        for kind in ("read", "write", "flush"):
            fault("eio", "all", kind, "on", home)
        since = time.monotonic()
        service.head = eventually(ILL_S, f"{backup} serves {service.name}",
                                  lambda: owner(bench, service) == backup and backup)
        print(f"     served by {backup} {time.monotonic() - since:.1f} s after the first error")
        service.wait_serving()
        luns = bench.lab.symnas(home).json("status")["luns"]
        check(all("cannot be read on this head" in lun["error"] for lun in luns), str(luns))
        bench.refused(CONFLICT, "vnfs", "rehost", service.name, home)
        with bench.load(*PATIENT_WRITERS, service=service):
            bench.let_run(STEADY_S)
        fault("heal", "all")
    last = history(bench, service)[-1]
    check((last["from"], last["to"]) == (home, backup), str(last))
    check(owner(bench, service) == backup, "it did not stay")
    check_nobody_fenced(bench)

    wait_luns_well(bench)
    service.rehost(home)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def luns_that_fail_everywhere(bench):
    """EIO of every head's LUNs: nothing moves back and forth."""
    homes = {service.name: service.home for service in bench.services}
    with bench.broken_luns() as fault:
        fault("eio", "all", "read", "on")
        bench.let_run(ILL_S)
        for service in bench.services:
            check(owner(bench, service) == homes[service.name], f"{service.name} was moved")
        fault("heal", "all")
    for service in bench.services:
        service.wait_serving()
    wait_luns_well(bench)
