"""What NFSv3 clients may send: random operations, handles, names, a full volume."""

import random

from lab_case import check, lab_test

MODEL_OPERATIONS = "10000"
SMALL_VIP = "10.0.0.103"


def run_model(bench, *args):
    output = bench.service.run_tool("nfs_model", *args, timeout_s=600.0)
    print("     " + output.strip().replace("\n", "\n     "))


@lab_test("INV-2", "architecture/metadata.md")
def random_operations_match_the_model(bench):
    """10,000 random NFSv3 operations compared with an in-memory model."""
    run_model(bench, "--ops", MODEL_OPERATIONS, "--seed", str(random.randrange(1 << 30)))


@lab_test("architecture/metadata.md")
def bad_names_are_refused(bench):
    """Names of 256 bytes, empty ones and with a slash; 255 bytes work."""
    bench.service.run_tool("nfs_badinput", "names")


@lab_test("formats/handle.md", "architecture/space.md")
def full_volume_and_foreign_handles(bench):
    """A second, small filesystem: its handles are foreign to the first; it fills up: NOSPC."""
    symnas = bench.symnas
    lun = bench.lab.add_lun("full", "256M")
    symnas("lun", "import", f"FULL={lun}")
    symnas("volume", "create", "vfull", "--luns", "FULL", "--stripe-unit", "64K")
    symnas("fs", "create", "small", "--volume", "vfull")
    symnas("export", "create", "small", "--fs", "small", "--path", "/",
           "--clients", "10.0.0.0/24", "--access", "rw", "--squash", "none")
    symnas("vnfs", "create", "vnfs3", "--vip", f"{SMALL_VIP}/24", "--network", "nfs0",
           "--exports", "small", "--heads", "c1n1")
    bench.service.wait_serving("vnfs3")
    url = f"nfs://{SMALL_VIP}/small"
    # Forged and foreign handles: the second export's handle under the first one's header.
    bench.service.run_tool("nfs_badinput", "handles", "--other", url)
    bench.service.run_tool("nfs_badinput", "full", "--limit", "1G", url=url)
    bench.service.serving("vnfs3")
    bench.service.serving()
    symnas("vnfs", "stop", "vnfs3")
    symnas("vnfs", "rm", "vnfs3")
    symnas("export", "rm", "small")
    symnas("fs", "rm", "small")
    symnas("volume", "rm", "vfull")
    symnas("lun", "release", "FULL")


@lab_test("architecture/plugin.md")
def refused_create_truncates_no_file(bench):
    """CREATE with size 0 needs the right to write; only a new file takes the size it is given."""
    with bench.shell() as shell:
        def full(name, mode, owner):
            shell.expect("NFS3_OK", "create", name)
            shell.expect("NFS3_OK", "write", name, 0, 4096, "x", "stable")
            shell.expect("NFS3_OK", "chown", name, owner)
            shell.expect("NFS3_OK", "chmod", name, mode)
        full("own", "444", 1000)
        full("log", "622", 0)
        full("open", "666", 0)
        shell.expect("NFS3_OK", "as", 1000)
        shell.expect("NFS3ERR_ACCES", "create", "own", 0)
        shell.expect("NFS3ERR_ACCES", "create", "log", 0)
        shell.expect("NFS3_OK", "create", "open", 0)
        shell.expect("NFS3_OK", "as", 0)
        shell.expect("NFS3_OK", "read", "own", 0, 4096, "x")
        shell.expect("NFS3_OK", "read", "log", 0, 4096, "x")
        check("size=0 " in shell("getattr", "open"), "it was not emptied")
        shell.expect("NFS3_OK", "create", "sized", 8192)
        check("size=8192 " in shell("getattr", "sized"), "it has not the size it was given")
        shell.expect("NFS3_OK", "create", "own", 8192)
        check("size=4096 " in shell("getattr", "own"), "an existing file got a size")
        for name in ("own", "log", "open", "sized"):
            shell.expect("NFS3_OK", "remove", name)


@lab_test("INV-2", "architecture/plugin.md")
def nfsv3_pre_op_attributes_are_atomic(bench):
    """Six clients change one directory: no two changes report the same state before them."""
    bench.service.run_tool("nfs_wcc")


@lab_test("architecture/data_path.md")
def sequential_write_reads_back(bench):
    """A pipelined sequential write reads back as written."""
    bench.service.run_tool("nfs_io", "throughput", "--size", "256M", "--depth", "4")
