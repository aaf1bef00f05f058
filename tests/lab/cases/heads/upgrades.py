"""Instances are replaced by later ones, and the cluster's level: what an upgrade consists of."""

import contextlib

import labs
from lab_case import check, lab_test
from steps.cluster import owner, victim
from steps.exit_status import CONFLICT, USAGE
from steps.load import MEASURED, check_gaps
from steps.nfs4_locks import locks
from symlab.errors import LabError
from symlab.etcd_keys import EtcdKeys
from symlab.service import EXPORT, VNFS
from symlab.wait import SLOWER

# A restart in place: ganesha's start, and its clients' way back.
RESTARTED_MS = 2000.0 * SLOWER
HEAD = "c1n1"
# Fields of records.proto; the last one of a field counts.
CLUSTER_LEVEL_1, CLUSTER_LEVEL_99, HEAD_LEVEL_1 = b"\x38\x01", b"\x38\x63", b"\x78\x01"
HEAD_OF_A_LATER_VERSION = b"\x2a\x0599.99"


@contextlib.contextmanager
def record_with(keys, key, more):
    """The record has these bytes at its end until the body is over."""
    before = keys.below(key)[key]
    keys.put(key, before + more)
    try:
        yield
    finally:
        keys.put(key, before)


@lab_test("INV-7", "architecture/moves.md")
def vnfs_restarts_under_load(bench):
    """`vnfs restart`, three times: another instance, no operation fails, a lock stays held."""
    with locks(bench, "restarted") as holder, locks(bench, "restarted") as other, \
            bench.load(*MEASURED, "read,write,create") as load:
        holder.expect("granted", "hold", 0, 10)
        for _ in range(3):
            before = bench.service.serving()
            bench.symnas("vnfs", "restart", VNFS)
            after = bench.service.wait_serving(other_than=before["pid"])
            check(after["epoch"] > before["epoch"], f"{before}, then {after}")
            bench.let_run(1.0)
            other.expect("denied", "hold", 0, 1)
        holder.expect("done", "release", 0, 10)
    check_gaps(load.seen, ("read", "write", "create"), RESTARTED_MS)
    bench.refused(CONFLICT, "cluster", "raise-level")  # it has it already


@lab_test("operations/upgrades.md")
def level_is_raised_when_all_have_it(bench):
    """What older versions would misread is refused until the level is raised; who is older is
    named, and not admitted afterwards."""
    keys = EtcdKeys(bench.lab)
    with record_with(keys, b"c/cluster", CLUSTER_LEVEL_1):
        edit = ("export", "set", EXPORT, "--client", "10.0.0.250:ro")
        check("symnas cluster raise-level" in bench.refused(USAGE, *edit), "no way out is named")
        check("all heads could have level" in bench.symnas("status"), "status does not say it")
        with record_with(keys, f"c/head/{HEAD}".encode(), HEAD_LEVEL_1):
            told = bench.refused(CONFLICT, "cluster", "raise-level")
            check(f"head {HEAD}: has run" in told, told)
        bench.symnas("cluster", "raise-level")
        check("raise-level" not in bench.symnas("status"), "status still says it")


@lab_test("operations/upgrades.md")
def earlier_version_is_not_admitted(bench):
    """vnfsd starts in a cluster of a later level: it says why it does nothing; clients go on."""
    keys = EtcdKeys(bench.lab)
    before = bench.service.serving()
    with bench.load(*MEASURED, "read,write") as load:
        bench.kill_process(f"vnfsd.{HEAD}")
        with record_with(keys, b"c/cluster", CLUSTER_LEVEL_99):
            with contextlib.suppress(LabError):  # it does not come into service
                bench.lab.start_vnfsd(HEAD)
            told = bench.refused(USAGE, "vnfs", "ls")
            check("has records of level 99" in told, told)
        after = bench.service.wait_serving()
    check(after["pid"] == before["pid"], "the instance was replaced")
    check_gaps(load.seen, ("read", "write"), RESTARTED_MS)


def upgraded(bench, *words):
    try:
        return bench.symnas("head", "upgrade", *words)
    except LabError as error:
        return str(error)


@lab_test("INV-7", "operations/upgrades.md", lab=labs.BACKUPS)
def head_is_upgraded_under_load(bench):
    """`head upgrade`: its VNFS goes to another head and back, or is restarted in place."""
    service = victim(bench)
    head = service.home
    keys = EtcdKeys(bench.lab)
    with bench.load(*MEASURED, "read,write,create", service=service) as load, \
            record_with(keys, f"c/head/{head}".encode(), HEAD_OF_A_LATER_VERSION):
        told = bench.symnas("head", "upgrade", head, "--dry-run")
        check("would be moved to" in told, told)
        for how, said in ((), f"vnfs {service.name}: moved to"), (("--in-place",), "restarted"):
            # In the end it looks again: the record that says "later" is this test's.
            told = upgraded(bench, head, *how)
            check(said in told and "was its vnfsd restarted" in told, told)
            check(owner(bench, service) == head, f"{service.name} is not on {head}")
            bench.let_run(1.0)
    check_gaps(load.seen, ("read", "write", "create"), RESTARTED_MS)
