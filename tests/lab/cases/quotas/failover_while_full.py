"""Failover while etcd's quota is used up."""

import signal
import time

import labs
from lab_case import LUN_COUNT, LUN_SIZE, Shell, check, eventually, lab_test
from steps.deadlines import TAKEN_OVER_S
from steps.quota import LEVEL_DEADLINE_S, QUOTA_BYTES
from symlab.cluster import Lab
from symlab.etcd_keys import EtcdKeys
from symlab.faults import Faults
from symlab.service import VNFS, Service

JUNK, JUNK_BYTES = b"zz/junk/", 64 << 10


def quota_level(lab, head):
    return lab.symnas(head).json("status")["quota"]["level"]


def wait_owned(lab, by, owner_wanted):
    """Waits until that head serves the lab's VNFS, as `by` and it itself say."""
    def served():
        rows = {row["name"]: row for row in lab.symnas(by).json("vnfs", "ls")["vnfs"]}
        own = {row["name"]: row for row in lab.symnas(owner_wanted).json("status")["vnfs"]}
        return rows[VNFS]["owner"] == owner_wanted and own[VNFS]["state"] == "serving"
    eventually(2 * TAKEN_OVER_S, f"{owner_wanted} serves {VNFS}", served)


def fill(keys):
    """A little more of the quota is used up, behind the product's back; the level lags by 2 s."""
    time.sleep(0.3)
    keys.put(JUNK + time.monotonic_ns().to_bytes(8, "big"), bytes(JUNK_BYTES))


@lab_test("operations/etcd_quota.md", "architecture/moves.md", lab=labs.OWN_LAB_OF_SEVERAL)
def failover_while_etcd_is_full(bench):
    """With etcd's quota used up a crash of the head and a move of its VNFS still succeed."""
    lab = Lab(bench.prefix[:6] + "q")
    lab.down()
    try:
        lab.up(3, LUN_COUNT, LUN_SIZE, kind="fuse", etcd_quota_bytes=QUOTA_BYTES)
        service = Service(lab)
        service.create()
        lab.set_fence_kind("power")
        lab.set_fencing(automatic=True, cuts="power")
        service.wait_serving()
        shell = Shell(service)
        shell.expect("NFS3_OK", "create", "kept")
        shell.expect("NFS3_OK", "write", "kept", 0, 8192, "k", "stable")
        filler = service.start_tool("nfs_badinput", "quota")
        try:
            eventually(2 * LEVEL_DEADLINE_S, "etcd is full",
                       lambda: quota_level(lab, "c1n2") != "free")
            filler.send_signal(signal.SIGSTOP)
            keys = EtcdKeys(lab)
            eventually(2 * LEVEL_DEADLINE_S, "etcd's last reserve is touched",
                       lambda: fill(keys) or quota_level(lab, "c1n2") == "critical")
            Faults(lab).kill("c1n1")
            wait_owned(lab, "c1n3", "c1n2")
            keys = EtcdKeys(lab, "c1n2")  # compactions make room meanwhile
            eventually(2 * LEVEL_DEADLINE_S, "etcd's last reserve is touched again",
                       lambda: quota_level(lab, "c1n2") == "critical" or fill(keys))
            lab.symnas("c1n2")("vnfs", "rehost", VNFS, "c1n3")
            wait_owned(lab, "c1n2", "c1n3")
            check(quota_level(lab, "c1n2") != "free", "etcd is not full any more")
            for key in keys.below(JUNK):
                keys.erase(key)
        finally:
            filler.kill()
            filler.wait()
        shell.expect("NFS3_OK", "reconnect")
        shell.expect("NFS3_OK", "read", "kept", 0, 8192, "k")
        shell.expect("NFS3_OK", "remove", "kept")
        shell.close()
        lab.unfence("c1n1")
        lab.wait_members()
        lab.symnas("c1n2")("fs", "check", service.commands()[3][2])
    finally:
        lab.down()
