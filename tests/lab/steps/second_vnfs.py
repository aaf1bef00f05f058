"""Another VNFS with two VIPs on the export of the first."""

import contextlib

from symlab import product
from symlab.service import EXPORT

SECOND = "vnfs2"
SECOND_VIPS = ("10.0.0.178", "10.0.0.179")
NFS_PORT = 2049


@contextlib.contextmanager
def second_vnfs(bench):
    """Another VNFS with two VIPs on the export of the first; gone afterwards."""
    bench.symnas("vnfs", "create", SECOND, "--vip", ",".join(f"{v}/24" for v in SECOND_VIPS),
                 "--network", "nfs0", "--exports", EXPORT, "--heads", "c1n1")
    try:
        bench.service.wait_serving(SECOND)
        yield
    finally:
        with contextlib.suppress(product.CommandFailed):  # the test may have removed it
            bench.symnas("vnfs", "stop", SECOND)
            bench.symnas("vnfs", "rm", SECOND, "--yes")
