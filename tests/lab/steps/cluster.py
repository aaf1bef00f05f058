"""What the cluster's records say: owners, heads, mounts, fences, events; who is the victim."""

import json
import struct
import subprocess

from lab_case import check
from steps.deadlines import LEASE_S
from symlab.etcd_keys import EtcdKeys

VICTIM = 1  # index of the head that is fenced and paused


def victim(bench):
    return bench.services[VICTIM]


def others(bench):
    return [service for service in bench.services if service is not victim(bench)]


def leader(bench):
    """The name of the head whose etcd member leads."""
    address = {f"https://{head['mgmt']}:2379": head["name"]
               for head in bench.lab.state.data["heads"]}
    for member in bench.symnas.json("status")["etcd"]:
        if member["leader"]:
            return address[member["endpoint"]]
    raise AssertionError("etcd has no leader")


def mounts_of(bench, service):
    """{mount id: whether it has ended} of the filesystem, from its keys (docs/formats/keys.md)."""
    for filesystem in bench.symnas.json("fs", "ls")["filesystems"]:
        if filesystem["name"] == service.filesystem:
            prefix = b"f/" + struct.pack(">I", filesystem["fsid"]) + b"wB"
    keys = EtcdKeys(bench.lab).below(prefix)
    return {key[len(prefix):]: key + b"E" in keys for key in keys if len(key) == len(prefix) + 8}


def fence_state(bench, head):
    for row in bench.symnas.json("head", "ls")["heads"]:
        if row["name"] == head:
            return row.get("fence", {}).get("state")
    return None


def heads_from(service):
    """Every head but the one that the VNFS is on, then that one."""
    heads = [head["name"] for head in service.lab.state.data["heads"]]
    return [head for head in heads if head != service.head] + [service.head]


def owner(bench, service):
    for vnfs in bench.symnas.json("vnfs", "ls")["vnfs"]:
        if vnfs["name"] == service.name:
            return vnfs["owner"]
    return None


def history(bench, service):
    return bench.symnas.json("vnfs", "history", service.name)["history"]


def events(symnas, *words):
    return [json.loads(line) for line in symnas("-o", "json", "events", *words).splitlines()]


def kinds(symnas, *words):
    return [event["kind"] for event in events(symnas, *words)]


# The server's reaper looks at leases every LEASE_S / 2, at most every 10 s.
EXPIRED_S = LEASE_S + 15.0


def vips(pid):
    """The IPv4 addresses that the instance `pid` answers for; none when it has gone."""
    done = subprocess.run(["nsenter", "-t", str(pid), "-n", "ip", "-o", "-4", "addr", "show"],
                          capture_output=True, text=True)
    found = [line.split()[3].split("/")[0] for line in done.stdout.splitlines()]
    return {address for address in found if not address.startswith("127.")}


def check_nobody_fenced(bench):
    for head in bench.lab.state.data["heads"]:
        check(fence_state(bench, head["name"]) is None, f"{head['name']} was fenced")
