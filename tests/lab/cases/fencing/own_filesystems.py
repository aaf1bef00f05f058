"""Heads with filesystems of their own are fenced by power or by their LUNs."""

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, mounts_of, others, victim
from steps.load import GAPS, WRITERS, check_undisturbed
from symlab import processes
from symlab.faults import Faults


@lab_test("INV-8", "architecture/fencing.md", lab=labs.OWN_FILESYSTEMS)
def head_fenced_by_power(bench):
    """A head loses its power: its mounts get end records, others go on; it boots and serves."""
    service = victim(bench)
    with bench.load(*WRITERS, service=service) as load, \
            bench.load_on_every_head(*GAPS) as loads:
        bench.let_run(1.0)
        check(False in mounts_of(bench, service).values(), "the victim has no living mount")
        said = bench.lab.fence(service.head, "power")
        check("OFD locks of 1 instances obtained" in said, f"no proof is named: {said}")
        check(all(mounts_of(bench, service).values()), "a mount of the fenced head lives")
        check(fence_state(bench, service.head) == "done", "the fence is not recorded")
        bench.let_run(2.0)
        bench.lab.unfence(service.head)
        after = service.wait_serving()
        bench.let_run(1.0)
    check(after["pid"] > 0 and load.seen["reconnects"] > 0, f"nothing was cut off: {load.seen}")
    check(fence_state(bench, service.head) is None, "the next boot has not ended the fence")
    check_undisturbed(loads, others(bench), ("read", "write"))


@lab_test("INV-8", "architecture/fencing.md", lab=labs.OWN_FILESYSTEMS)
def unproven_fence_ends_nothing(bench):
    """The fence agent fails, or I/O is in flight: mounts live on and status says so."""
    service = victim(bench)
    before = service.serving()
    bench.lab.set_fence_kind("power")
    bench.lab.break_fence_agent("fails")
    try:
        said = bench.refused(5, "head", "fence", service.head, "--yes")
    finally:
        bench.lab.break_fence_agent("")
    check("the switch is broken" in said, said)
    check("could not be fenced" in bench.symnas("status"), "symnas status does not say so")
    check(False in mounts_of(bench, service).values(), "a mount was ended without proof")
    check(service.serving()["pid"] == before["pid"], "the head was disturbed")

    faults = Faults(bench.lab)
    with bench.load(*WRITERS, service=service):
        bench.let_run(1.0)
        faults.partition(service.head, "luns")
        try:
            bench.let_run(1.0)
            said = bench.refused(5, "head", "fence", service.head, "--yes")
            # A worker's own request keeps the process, one of io_uring only the open file.
            check("still locked" in said or "survives SIGKILL" in said, said)
            check(False in mounts_of(bench, service).values(), "a mount was ended without proof")
        finally:
            faults.heal(service.head)
        bench.lab.fence(service.head, "power")
        check(all(mounts_of(bench, service).values()), "a mount of the fenced head lives")
        bench.lab.unfence(service.head)
        service.wait_serving()
        bench.let_run(1.0)


@lab_test("INV-1", "INV-8", lab=labs.OWN_FILESYSTEMS)
def head_fenced_from_its_luns(bench):
    """The LUNs refuse a head that runs on: its instance ends and claims nothing any more."""
    service = victim(bench)
    with bench.load(*WRITERS, service=service) as load:
        bench.let_run(1.0)
        instance = service.serving()
        record = {"pid": instance["pid"], "start_time": processes.start_time(instance["pid"])}
        bench.lab.fence(service.head, "lun")
        check(all(mounts_of(bench, service).values()), "a mount of the fenced head lives")
        eventually(15.0, "the fenced instance ends itself",
                   lambda: not processes.is_alive(record))
        error = eventually(15.0, "its agent is refused", lambda: bench.lab.symnas(
            service.head).json("status") and service.vnfs()["instance"]["error"])
        check("was fenced by" in error, error)
        check(all(mounts_of(bench, service).values()), "the fenced head has mounted again")
        bench.lab.unfence(service.head)
        service.wait_serving()
        bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"nothing was cut off: {load.seen}")
