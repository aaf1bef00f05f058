"""Bad input through the CLI, and what a filesystem may not be used for."""

import os
import shutil
import subprocess

from lab_case import Skip, check, eventually, lab_test
from symlab import luns, product
from symlab.cluster import Lab

USAGE, NOT_FOUND, EXISTS, UNREACHABLE, NOT_PERMITTED = 2, 3, 4, 5, 7


@lab_test()
def bad_luns_are_refused(bench):
    """A LUN that is too small, missing, in use or carries a filesystem is not imported."""
    bench.refused(NOT_FOUND, "lun", "import", "NONE=/nonexistent/lun.img")
    small = bench.lab.add_lun("small", "1M")
    message = bench.refused(USAGE, "lun", "import", f"SMALL={small}")
    check("small" in message.lower(), f"the message does not say that it is too small: {message}")
    bench.refused(EXISTS, "lun", "release", "LUN0")
    first = bench.lab.state.data["luns"][0]
    bench.refused(EXISTS, "lun", "import", f"AGAIN={first['path']}")
    mke2fs = shutil.which("mke2fs", path="/sbin:/usr/sbin")
    if mke2fs is None:
        raise Skip("no mke2fs on this machine")
    occupied = bench.lab.add_lun("ext4", "64M")
    subprocess.run([mke2fs, "-q", "-F", "-t", "ext4", occupied], check=True)
    message = bench.refused(NOT_PERMITTED, "lun", "import", f"OCCUPIED={occupied}")
    check("ext4" in message, f"the message does not name the filesystem: {message}")


@lab_test()
def foreign_lun_is_refused(bench):
    """A LUN that belongs to another cluster is refused, unless it is named with --force."""
    other = Lab(bench.prefix[:6] + "b")
    other.down()
    try:
        other.up(1, 1, "64M")
        lun = other.state.data["luns"][0]["path"]
        other.symnas()("lun", "import", f"THEIRS={lun}")
        bench.refused(NOT_PERMITTED, "lun", "import", f"MINE={lun}")
    finally:
        other.down()


@lab_test()
def two_devices_with_one_label_are_refused(bench):
    """A copy of an imported LUN is no second LUN."""
    original = bench.lab.add_lun("orig", "64M")
    bench.symnas("lun", "import", f"ORIG={original}")
    copy = bench.lab.add_lun("copy", "64M")
    shutil.copyfile(original, copy)
    try:
        bench.refused(EXISTS, "lun", "import", f"COPY={copy}")
    finally:
        luns.remove(copy)
    link = os.path.join(os.path.dirname(original), f"{bench.prefix}-lun-alias.img")
    os.symlink(original, link)
    try:
        bench.refused(EXISTS, "lun", "import", f"ALIAS={link}")
    finally:
        os.unlink(link)
    bench.symnas("lun", "release", "ORIG")


@lab_test()
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


@lab_test()
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


@lab_test()
def second_vnfs_shares_the_filesystem(bench):
    """Two VNFSs on one head export one filesystem: what one makes the other shows; one leaves."""
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
