"""Four heads, each with a VNFS, all of one filesystem: what one acknowledges the others show."""

from lab_case import check, lab_test
from symlab.service import finish_tool, last_json

HEADS = 4
RUN_S = 15


def shared_clients(bench, seconds, *args):
    """Clients that use every head at once (tests/client/nfs_shared.cc), started."""
    urls = ",".join(service.url for service in bench.services)
    return bench.services[0].start_tool("nfs_shared", "--urls", urls, "--seconds", str(seconds),
                                        *args)


@lab_test(heads=HEADS, shared=True)
def four_heads_are_coherent(bench):
    """Registers, sizes, times and names, each call through another head."""
    seen = last_json(finish_tool(shared_clients(bench, RUN_S, "--workers", "4"), 120.0))
    check(seen["violations"] == 0 and seen["operations"] > 100, f"incoherent: {seen}")
    print(f"     {seen['operations']} operations, the longest {seen['longest_ms']:.0f} ms")
