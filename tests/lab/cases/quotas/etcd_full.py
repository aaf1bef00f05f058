"""etcd's quota runs out: what grows is refused, removals go on and make room."""

import labs
from lab_case import LUN_COUNT, LUN_SIZE, check, lab_test
from steps.quota import LEVEL_DEADLINE_S, QUOTA_BYTES
from symlab.cluster import Lab
from symlab.service import Service
from symlab.wait import eventually


@lab_test("operations/etcd_quota.md", lab=labs.OWN_LAB)
def full_etcd_refuses_creates_and_allows_removals(bench):
    """A cluster with a quota of 16 MiB is filled with symlinks, emptied, and used again."""
    lab = Lab(bench.prefix[:6] + "q")
    lab.down()
    try:
        lab.up(1, LUN_COUNT, LUN_SIZE, etcd_quota_bytes=QUOTA_BYTES)
        service = Service(lab)
        service.create()
        service.wait_serving()
        for _ in range(2):  # what the first time has left must not count the second time
            print("     " + service.run_tool("nfs_badinput", "quota", timeout_s=600.0).strip()
                  .replace("\n", "\n     "))
            service.serving()
        eventually(LEVEL_DEADLINE_S, "the level is free again",
                   lambda: quota(lab)["level"] == "free")
        alarmed = [member for member in status(lab)["etcd"] if member["no_space"]]
        check(not alarmed, f"etcd has raised its alarm: {alarmed}")
    finally:
        lab.down()


def status(lab):
    return lab.symnas().json("status")


def quota(lab):
    found = status(lab)["quota"]
    check(found["quota_bytes"] == QUOTA_BYTES, f"the quota is not what was asked for: {found}")
    return found
