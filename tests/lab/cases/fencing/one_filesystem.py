"""Four heads serve one filesystem: one of them is fenced under load."""

import labs
from lab_case import lab_test
from steps.cluster import victim
from steps.faults import boot_again
from steps.load import coherent_clients


def fence_and_back(bench, kind):
    service = victim(bench)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        bench.lab.fence(service.head, kind)
        bench.let_run(3.0)
        boot_again(bench, service)


@lab_test("INV-8", "architecture/fencing.md", lab=labs.ONE_FILESYSTEM)
def head_fenced_by_power_among_four(bench):
    """A head loses its power under load: its files become available, and it comes back."""
    fence_and_back(bench, "power")


@lab_test("INV-1", "INV-8", lab=labs.ONE_FILESYSTEM)
def head_fenced_from_its_luns_among_four(bench):
    """A head that the LUNs refuse runs on: it answers and writes nothing any more."""
    fence_and_back(bench, "lun")
