"""The cases of quotas as bytes: on a filesystem and a VNFS of their own, so that no other case is
limited by anything.

Thread class: confined to one thread.
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "wire"))
import cases_quota
from registry import CASES
from symlab import product
from symlab.service import Service
from symlab.wait import eventually

NAME = "limited"  # of LUN, volume, filesystem, export and VNFS
VIP = "10.0.0.102"
LUN_SIZE = "512M"
FIRST_UID = 20000
USERS = 150  # a case takes one, and another one each time that it begins anew
COUNTED_S = 60.0
MAX_S = 120.0


def has(words):
    """Whether a case is called so, or no words are given."""
    return not words or any(word in case.name for case in CASES for word in words)


def create(lab):
    symnas = lab.symnas()
    symnas("lun", "import", f"{NAME}={lab.add_lun(NAME, LUN_SIZE)}")
    symnas("volume", "create", NAME, "--luns", NAME, "--stripe-unit", "64K")
    symnas("fs", "create", NAME, "--volume", NAME)
    symnas("export", "create", NAME, "--fs", NAME, "--clients", "10.0.0.0/24", "--squash", "none")
    symnas("vnfs", "create", NAME, "--vip", f"{VIP}/24", "--network", "nfs0",
           "--exports", NAME, "--heads", lab.state.data["heads"][0]["name"])
    Service(lab).wait_serving(NAME)
    symnas("quota", "on", NAME)
    for uid in range(FIRST_UID, FIRST_UID + USERS):
        symnas("quota", "set", NAME, "--user", uid, "--bytes", cases_quota.LIMIT_BYTES,
               "--soft-bytes", cases_quota.SOFT_BYTES, "--inodes", cases_quota.LIMIT_INODES)
    eventually(COUNTED_S, "every inode is counted",
               lambda: symnas.json("quota", "ls", NAME)["state"] == "on")


def wire_options():
    """Of wire/run, for these cases."""
    return ["--server", VIP, "--export", f"/{NAME}", "--nfs3",
            "--limited", f"{FIRST_UID}-{FIRST_UID + USERS - 1}"]


def check(lab):
    """The verdict about what the cases have left: usage is what the files say."""
    try:
        lab.symnas()("fs", "check", NAME, timeout_s=MAX_S)
        return "ok quotas_fs_check"
    except product.CommandFailed as failed:
        return f"not ok quotas_fs_check: {' '.join(failed.output.split())}"
