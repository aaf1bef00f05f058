"""Two VNFSs of one head on one filesystem."""

from lab_case import lab_test


@lab_test("INV-4", "architecture/several_mounts.md")
def second_vnfs_shares_the_filesystem(bench):
    """Two VNFSs on one head export one filesystem: each shows at once what the other has made."""
    symnas = bench.symnas
    symnas("vnfs", "create", "vnfs2", "--vip", "10.0.0.102/24", "--network", "nfs0",
           "--exports", "u04", "--heads", "c1n1")
    try:
        bench.service.run_tool("nfs_shared", "--urls", "nfs://10.0.0.101/u04,nfs://10.0.0.102/u04",
                               "--seconds", "3", "--workers", "2")
    finally:
        symnas("vnfs", "stop", "vnfs2")
        symnas("vnfs", "rm", "vnfs2")
    bench.service.serving()
