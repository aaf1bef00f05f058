"""Commands with bad arguments, or that would take something away from clients."""

import socket

from lab_case import check, lab_test
from steps.cluster import kinds
from steps.exit_status import CONFLICT, EXISTS, NOT_FOUND, USAGE
from steps.second_vnfs import NFS_PORT, SECOND, SECOND_VIPS, second_vnfs
from symlab import netns


@lab_test("operations/commands.md")
def bad_arguments_are_refused(bench):
    """Unknown names, existing names and impossible values, each with its exit code."""
    spare = bench.lab.add_lun("spare", "64M")
    bench.symnas("lun", "import", f"SPARE={spare}")
    for unit in ("100K", "32K", "32M", "0", "x"):
        bench.refused(USAGE, "volume", "create", "v9", "--luns", "SPARE", "--stripe-unit", unit)
    bench.refused(NOT_FOUND, "volume", "create", "v9", "--luns", "NOSUCH")
    bench.refused(EXISTS, "volume", "create", "v9", "--luns", "LUN0")
    bench.refused(EXISTS, "volume", "create", "v1", "--luns", "SPARE")
    bench.refused(NOT_FOUND, "volume", "grow", "v9", "--luns", "SPARE")
    bench.refused(NOT_FOUND, "fs", "create", "f9", "--volume", "v9")
    bench.refused(EXISTS, "fs", "create", "u04", "--volume", "v1")
    bench.refused(NOT_FOUND, "fs", "rm", "f9")
    bench.refused(EXISTS, "fs", "rm", "u04")
    bench.refused(NOT_FOUND, "export", "create", "e9", "--fs", "f9", "--clients", "10.0.0.0/24")
    bench.refused(USAGE, "export", "create", "e9", "--fs", "u04", "--clients", "10.0.0.300/24")
    bench.refused(NOT_FOUND, "vnfs", "create", "n9", "--vip", "10.0.0.150/24", "--network", "nope",
                  "--exports", "u04", "--heads", "c1n1")
    bench.refused(NOT_FOUND, "vnfs", "create", "n9", "--vip", "10.0.0.150/24", "--network", "nfs0",
                  "--exports", "nope", "--heads", "c1n1")
    bench.refused(NOT_FOUND, "vnfs", "create", "n9", "--vip", "10.0.0.150/24", "--network", "nfs0",
                  "--exports", "u04", "--heads", "c9n9")
    bench.refused(USAGE, "fs", "create", "bad name!", "--volume", "v1")
    bench.symnas("lun", "release", "SPARE")


@lab_test("operations/commands.md")
def vnfs_removal_names_the_clients(bench):
    """A VNFS that clients have mounted is removed with --yes only, and no VNFS without."""
    with second_vnfs(bench):
        with netns.entered(bench.lab.client_netns):
            client = socket.create_connection((SECOND_VIPS[0], NFS_PORT), timeout=5)
        with client:
            told = bench.refused(CONFLICT, "vnfs", "rm", SECOND)
            check("not stopped" in told, told)
            bench.symnas("vnfs", "stop", SECOND)
            told = bench.refused(CONFLICT, "vnfs", "rm", SECOND)
            check("1 clients with 1 connections" in told and "--yes" in told, told)
        bench.symnas("vnfs", "start", SECOND)
        bench.let_run(2.0)
        bench.symnas("vnfs", "stop", SECOND)
        bench.symnas("vnfs", "rm", SECOND)
    check(kinds(bench.symnas, "--vnfs", SECOND)[-1] == "change", "its removal is no event")
