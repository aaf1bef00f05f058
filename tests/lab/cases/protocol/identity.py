"""What tells the VNFS of one cluster from that of another one, and who stays the same server."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

import nfs_wire
from kernel_clients import FIRST_ADDRESS, Client
from lab_case import check, lab_test
from steps.clocks import restart
from steps.lock_holders import Holder, check_refused
from symlab import client_networks, membership, product
from symlab.cluster import NFS_BRIDGE
from symlab.etcd_keys import EtcdKeys
from symlab.service import EXPORT, VIP, VNFS
from uml_vm import UmlVm

IDENTITY = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_identity")
# The field that a VNFS of an earlier version does not have (records.proto, VnfsRecord 11).
SCOPE_NAMES_CLUSTER = b"\x58\x01"
# An instance of an earlier version: the owner is the name, ids begin with the epoch.
EARLIER = """#!/bin/sh
sed -i 's/Server_Owner = ".*"/Server_Owner = "{vnfs}"/' "$4"
exec {ganesha}/bin/ganesha.nfsd "$@" -E "$(sed -n '1s/.*epoch \\([0-9]*\\).*/\\1/p' "$4")"
"""
VERSIONS = {"v40": "vers=4.0", "v41": "vers=4.1"}
WAY_BACK_S = 60.0


def identity(bench):
    process = bench.lab.popen_in("client", [sys.executable, IDENTITY, "--url", bench.service.url],
                                 stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate(timeout=WAY_BACK_S)
    return json.loads(output)


def cluster_uuid(bench):
    head = bench.lab.state.data["heads"][0]
    with open(os.path.join(head["config_dir"], "vnfsd.toml"), encoding="utf-8") as file:
        return re.search(r"(?m)^uuid = ['\"]([0-9a-f-]{36})['\"]", file.read())[1]


@lab_test("decisions/0013-servers-are-named-with-their-cluster.md")
def v4_identity_names_the_cluster(bench):
    """Owner and scope have the cluster's uuid, ids differ from those of another cluster's VNFS."""
    seen = identity(bench)
    name = f"{VNFS}.{cluster_uuid(bench)}"
    check((seen["owner"], seen["scope"]) == (name, name), f"it says it is {seen}")
    epoch = bench.service.serving()["epoch"]
    ids = {seen[kind] for kind in ("v4.0", "v4.1", "session")}
    check(len(ids) == 1 and epoch not in ids and min(ids) >> 31,
          f"epoch {epoch}: the ids of another cluster can be the same: {seen}")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    after = identity(bench)
    check(after["owner"] == seen["owner"] and after["v4.1"] not in ids, f"{seen}, then {after}")


@contextlib.contextmanager
def earlier_version(bench):
    """The VNFS is one of an earlier version, until the body calls what it is given."""
    head = bench.lab.state.data["heads"][0]
    keys, key = EtcdKeys(bench.lab), f"c/vnfs/{VNFS}".encode()
    prefix = os.path.join(head["dir"], "earlier")
    ganesha = product.ganesha_prefix()
    script = os.path.join(prefix, "bin", "ganesha.nfsd")
    os.makedirs(os.path.dirname(script))
    os.symlink(os.path.join(ganesha, "lib"), os.path.join(prefix, "lib"))
    with open(script, "w", encoding="utf-8") as file:
        file.write(EARLIER.format(vnfs=VNFS, ganesha=ganesha))
    os.chmod(script, 0o755)
    record = keys.below(key)[key]

    def upgrade():
        if membership.set_in_config(head, {"prefix": f"'{ganesha}'"}):
            restart(bench, head["name"], bench.service)
    try:
        keys.put(key, record.replace(SCOPE_NAMES_CLUSTER, b""))
        membership.set_in_config(head, {"prefix": f"'{prefix}'"})
        restart(bench, head["name"], bench.service)
        yield upgrade
    finally:
        keys.put(key, record)
        upgrade()
        shutil.rmtree(prefix)


@contextlib.contextmanager
def linux_clients(bench, count):
    """Yields client VMs (User Mode Linux)."""
    with contextlib.ExitStack() as stack:
        clients = []
        for at in range(count):
            vm = UmlVm(f"uml{at}", bench.lab.vm_root())
            stack.callback(vm.stop)
            vm.start([f"{client_networks.address(1, FIRST_ADDRESS + at)}/24"], NFS_BRIDGE,
                     bench.lab.hub_netns, cgroup=bench.lab.cgroup())
            clients.append(Client(vm, ""))
        yield clients


@lab_test("INV-7", "decisions/0013-servers-are-named-with-their-cluster.md")
def linux_keeps_its_locks_over_an_upgrade_of_the_identity(bench):
    """Linux clients, v4.0 and v4.1: mounted and with locks while a VNFS that was made by an earlier
    version is served by this one."""
    with linux_clients(bench, 2) as (one, other), earlier_version(bench) as upgrade:
        seen = identity(bench)
        check((seen["owner"], seen["scope"]) == (VNFS, VNFS), f"the earlier version: {seen}")
        for client in (one, other):
            for name, options in VERSIONS.items():
                client.run(f"mkdir -p /mnt/{name}; nfsmount -o {options} {VIP}:/{EXPORT} "
                           f"/mnt/{name}")
        folders = [f"/mnt/{name}/kept-{name}" for name in VERSIONS]
        holders = [Holder(one, folder) for folder in folders]
        check_refused(other, folders, "before the upgrade")
        upgrade()
        seen = identity(bench)
        check((seen["owner"], seen["scope"]) == (f"{VNFS}.{cluster_uuid(bench)}", VNFS),
              f"after the upgrade: {seen}")
        check_refused(other, folders, "after the upgrade")
        for holder in holders:
            holder.release()
        for client in (one, other):
            client.umount()
