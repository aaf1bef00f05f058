"""What cannot be proved is not claimed: agents that fail, hang and lie, dead heads, no quorum."""

import contextlib
import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, heads_from, others, owner, victim
from steps.deadlines import HEARD_S, STEADY_S, TAKEN_OVER_S
from steps.exit_status import CONFLICT
from steps.faults import (automatic_fencing, bring_home, check_unproven, cut_off, serves, take_over,
                          wait_luns_well)
from symlab import head_processes, processes, product
from symlab.errors import LabError
from symlab.faults import Faults

HUNG_S = 30.0  # longer than until a LUN that hangs on one head counts as ill there
FENCE_S = 15  # of one action: enough to switch the power off
UNDISTURBED = ("nfs_io", "gaps", "--pause-us", "10000", "--kinds", "read,write")


@contextlib.contextmanager
def broken_agent(bench, way):
    bench.lab.break_fence_agent(way)
    try:
        yield
    finally:
        bench.lab.break_fence_agent("")


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def unproven_agents_end_nothing(bench):
    """A fence agent fails, hangs or lies about a running head: nothing is claimed."""
    service = victim(bench)
    home = service.head
    faults = Faults(bench.lab)
    bench.lab.set_fence_kind("power")
    bench.lab.set_fence_timeout(FENCE_S)
    try:
        service.wait_serving()
        faults.pause(home)
        check_unproven(bench, service, broken_agent)
        bench.lab.fence(home, "power")
        take_over(bench, service, home)
        bring_home(bench, service, home)
    finally:
        with contextlib.suppress(LabError):  # nothing of it is left
            faults.resume(home)
        bench.lab.set_fence_timeout(60)


def instances_of(bench, vnfs):
    """The heads on which an instance of it runs."""
    return [head["name"] for head in bench.lab.state.data["heads"]
            if (found := head_processes.instances(head).get(vnfs)) and processes.is_alive(found[0])]


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def head_dies_without_quorum(bench):
    """A head dies while etcd has no quorum: nobody serves its VNFS before etcd is back."""
    faults = Faults(bench.lab)
    names = [head["name"] for head in bench.lab.state.data["heads"]]
    members = [name for name in names if bench.lab.has_etcd(bench.lab.head(name))]
    service = next(s for s in bench.services if s.head not in members)
    home = service.head
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        bench.let_run(HEARD_S)
        for name in members[:2]:
            faults.kill(f"etcd-{name}")
        try:
            faults.kill(home)
            until = time.monotonic() + STEADY_S
            while time.monotonic() < until:
                check(not instances_of(bench, service.name),
                      f"{service.name} runs on {instances_of(bench, service.name)}")
                bench.let_run(0.2)
        finally:
            for name in members[:2]:
                bench.lab.start_etcd(name)
        take_over(bench, service, home)
        bring_home(bench, service, home)


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def luns_hang_on_one_head(bench):
    """One head's I/O hangs: only its VNFS waits, and nobody serves it beside that I/O."""
    service = victim(bench)
    home = service.head
    other = others(bench)[0]
    with bench.load("nfs_crash", "--workers", "2", "--deadline-s", "180", service=service), \
            bench.load(*UNDISTURBED, service=other) as beside:
        bench.let_run(HEARD_S)
        with cut_off(bench, home, "luns"):
            until = time.monotonic() + HUNG_S
            while time.monotonic() < until:
                now = owner(bench, service)  # a standby elsewhere serves nothing
                check(now in (home, "", None), f"{service.name} is owned by {now}")
                bench.let_run(0.2)
            ill = [lun for lun in bench.lab.symnas(home).json("status")["luns"] if lun["error"]]
            check(ill, f"{home} sees nothing wrong with its LUNs")
        since = time.monotonic()
        wait_luns_well(bench)
        service.head = eventually(4 * TAKEN_OVER_S, f"{service.name} is served",
                                  lambda: serves(bench, service))
        print(f"     served by {service.head}, {time.monotonic() - since:.1f} s after the I/O "
              "ended every head trusts its LUNs")
        bench.let_run(2.0)
    for kind in ("read", "write"):
        check(beside.seen[kind]["longest_gap_ms"] < 2000, f"others waited: {beside.seen}")
    if service.head != home:
        service.rehost(home)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def rehost_to_a_dead_head(bench):
    """Refused with the reason, before and after the dead head is fenced; nobody notices."""
    service = victim(bench)
    before = service.serving()["pid"]
    to = heads_from(service)[2]  # without an etcd member: no election comes between
    lost = next(s for s in bench.services if s.head == to)
    by = bench.lab.symnas(service.head)
    bench.lab.set_fence_kind("power")
    Faults(bench.lab).kill(to)
    try:
        by("vnfs", "rehost", service.name, to, "--timeout", "2")
        raise AssertionError("it was moved to a dead head")
    except product.CommandFailed as failed:
        check("has not answered" in failed.output, failed.output)
    by("head", "fence", to, "--yes", timeout_s=60)
    eventually(TAKEN_OVER_S, f"{lost.name} is served elsewhere",
               lambda: owner(bench, lost) not in (to, "", None))
    try:
        by("vnfs", "rehost", service.name, to)
        raise AssertionError("it was moved to a fenced head")
    except product.CommandFailed as failed:
        check(failed.status == CONFLICT and "fenced" in failed.output, failed.output)
    check(service.serving()["pid"] == before, "it was disturbed")
    lost.head = owner(bench, lost)
    bring_home(bench, lost, to)
    check(fence_state(bench, to) is None, "the fence is not over")
