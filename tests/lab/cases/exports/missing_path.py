"""An export whose path does not exist."""

from lab_case import check, eventually, lab_test
from steps.exit_status import UNREACHABLE


@lab_test("operations/commands.md", "architecture/export_edits.md")
def missing_export_path_is_reported(bench):
    """An export whose path does not exist is left out, the others are served, status says so."""
    symnas = bench.symnas
    lun = bench.lab.add_lun("paths", "256M")
    symnas("lun", "import", f"PATHS={lun}")
    symnas("volume", "create", "vpaths", "--luns", "PATHS", "--stripe-unit", "64K")
    symnas("fs", "create", "paths", "--volume", "vpaths")
    for name, path in (("good", "/"), ("gone", "/no/such")):
        symnas("export", "create", name, "--fs", "paths", "--path", path,
               "--clients", "10.0.0.0/24", "--squash", "none")
    symnas("vnfs", "create", "vnfs4", "--vip", "10.0.0.104/24", "--network", "nfs0",
           "--exports", "good,gone", "--heads", "c1n1")
    bench.service.wait_serving("vnfs4")
    bench.service.run_tool("nfs_badinput", "names", url="nfs://10.0.0.104/good")
    status = str(symnas.json("status"))
    check("/no/such" in status and "gone" in status, f"status does not name the path: {status}")
    eventually(10.0, "vnfs status names it, too", lambda: "/no/such" in symnas("vnfs", "status"))
    told = bench.refused(UNREACHABLE, "export", "set", "good", "--access", "ro")
    check("/no/such" in told, f"the edit does not say what is in its way: {told}")
    symnas("export", "rm", "gone", "--vnfs", "vnfs4")
    symnas("export", "set", "good", "--access", "ro")
    symnas("vnfs", "stop", "vnfs4")
    symnas("vnfs", "rm", "vnfs4")
    for name in ("good", "gone"):
        symnas("export", "rm", name)
    symnas("fs", "rm", "paths")
    symnas("volume", "rm", "vpaths")
    symnas("lun", "release", "PATHS")
