"""Four heads serve one filesystem: an instance is killed, a head stands still."""

import labs
from lab_case import eventually, lab_test
from labs import HEADS
from steps.cluster import mounts_of, victim
from steps.deadlines import PAUSE_S
from steps.load import coherent_clients
from symlab.faults import Faults


@lab_test("INV-4", "INV-8", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def instance_killed_among_four(bench):
    """kill -9 of one instance, twice: nothing acknowledged is lost, nobody reads old data."""
    service = victim(bench)
    with coherent_clients(bench, "--stable", "1"):
        for _ in range(2):
            bench.let_run(2.0)
            before = service.serving()
            bench.kill_recorded(before)
            service.wait_serving(other_than=before["pid"])
        bench.let_run(2.0)
    eventually(20.0, "what the dead have left is taken over",
               lambda: len(mounts_of(bench, service)) == HEADS)


@lab_test("INV-4", "INV-8", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def head_paused_among_four(bench):
    """A head is paused for 15 s: clients that need its files wait, then everything goes on."""
    faults = Faults(bench.lab)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        faults.pause(victim(bench).head)
        try:
            bench.let_run(PAUSE_S)
        finally:
            faults.resume(victim(bench).head)
        bench.let_run(3.0)
