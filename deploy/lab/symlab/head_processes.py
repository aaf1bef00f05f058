"""The processes of one head of a lab, which a power switch, a pause or a kill affects.

They are found by the lab's records, by the instances' state.json, by the head's cgroup, and as
offspring of all these. An instance's first process is process 1 of a PID namespace: its end ends
the rest.
"""

import contextlib
import glob
import json
import os
import uuid

from . import netns, processes
from .errors import LabError


def boot_id_file(directory):
    """The boot id file of a head, in its directory."""
    return os.path.join(directory, "boot_id")


def write_boot_id(directory):
    """Writes a new boot id: every incarnation of a head has its own."""
    with open(boot_id_file(directory), "w", encoding="ascii") as file:
        file.write(f"{uuid.uuid4()}\n")


def cgroup_of(state, head_name):
    """The head's own cgroup, made if it is missing; None where the machine allows none."""
    if not state.data["cgroup"]:
        return None
    path = os.path.join(state.data["cgroup"], head_name)
    with contextlib.suppress(OSError):
        os.makedirs(path, exist_ok=True)
        return path
    return state.data["cgroup"]


def _record(pid, what):
    return {"pid": pid, "start_time": processes.start_time(pid), "argv": [what]}


def instances(head):
    """{VNFS: (record, instance.json)} of the instances that the head's agent has recorded."""
    found = {}
    for path in glob.glob(os.path.join(head["run_dir"], "vnfs", "*", "state.json")):
        directory = os.path.dirname(path)
        with contextlib.suppress(OSError, ValueError, KeyError):
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            with open(os.path.join(directory, "instance.json"), encoding="utf-8") as file:
                described = json.load(file)
            record = {"pid": state["pid"], "start_time": state["start_ticks"],
                      "argv": [f"instance {os.path.basename(directory)}"]}
            found[os.path.basename(directory)] = (record, described)
    return found


def _children():
    """{pid: [pids]} of the whole machine."""
    table = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                parent = int(file.read().rsplit(b")", 1)[1].split()[1])
                table.setdefault(parent, []).append(int(entry))
    return table


def with_offspring(records):
    """The records whose processes live, and records of all their descendants."""
    table = _children()
    found, waiting = {}, [record for record in records if processes.is_alive(record)]
    while waiting:
        record = waiting.pop()
        if record["pid"] in found or record["start_time"] is None:
            continue
        found[record["pid"]] = record
        waiting += [_record(pid, f"pid {pid}") for pid in table.get(record["pid"], [])]
    return list(found.values())


def of_head(lab, head_name, etcd=True):
    """Records of all processes that run on the head; without its etcd member if etcd=False."""
    head = lab.head(head_name)
    roots = [lab.process(f"vnfsd.{head_name}")]
    roots += [record for record, _ in instances(head).values()]
    for path in [cgroup_of(lab.state, head_name)]:
        if path and path != lab.state.data["cgroup"]:
            roots += [_record(pid, f"pid {pid}") for pid in processes.cgroup_members(path)]
    member = lab.process(f"etcd.{head_name}")
    if etcd:
        roots.append(member)
    records = with_offspring([record for record in roots if record])
    return [r for r in records if etcd or not member or r["pid"] != member["pid"]]


def of_target(lab, name):
    """Records of the processes that a person calls c1n2, vnfs1, etcd-c1n2 or etcd-2."""
    if name.startswith("etcd-"):
        member = name.removeprefix("etcd-")
        record = lab.process(f"etcd.c1n{member}" if member.isdigit() else f"etcd.{member}")
        if record is None:
            raise LabError(f"{name}: there is no such etcd member")
        return with_offspring([record])
    heads = lab.state.data["heads"]
    if any(head["name"] == name for head in heads):
        return of_head(lab, name)
    for head in heads:
        found = instances(head).get(name)
        if found and processes.is_alive(found[0]):
            return with_offspring([found[0]])
    raise LabError(f"{name}: neither a head nor a running VNFS nor etcd-MEMBER")


def signal_all(records, number):
    """Signals parents first, so that no parent sees its children end; returns how many were
    there."""
    return sum(processes.send_signal(record, number) for record in records)


def set_cables(lab, head_name, state):
    """Sets every end of the head's cables on the hub `down` or `up`."""
    prefixes = (f"{head_name}-mgmt", f"{head_name}-nfs")
    for link in json.loads(netns.ip("-j", "link", "show", netns=lab.hub_netns)):
        if link["ifname"].startswith(prefixes):
            netns.ip("link", "set", link["ifname"], state, netns=lab.hub_netns)


def lose_power(lab, head_name):
    """Ends everything of the head at once; nobody is told, not even by a FIN or a reset.

    Returns how many processes there were. The head has no network until something of it starts.
    """
    set_cables(lab, head_name, "down")
    return end_kernel(lab, head_name)


def end_kernel(lab, head_name, etcd=True):
    """Ends the head's processes and the networks of its instances; returns how many processes.

    A machine that boots has no old sockets. Here a socket that still has data to send keeps the
    namespace of a killed instance, and with it its VIPs, which would answer again as soon as the
    cables are up.
    """
    spaces = {os.stat(os.path.join(netns.RUN_DIR, lab.head(head_name)["netns"])).st_ino: None}
    try:
        for record in of_head(lab, head_name, etcd):
            with contextlib.suppress(OSError):
                space = os.open(f"/proc/{record['pid']}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
                if os.fstat(space).st_ino in spaces:
                    os.close(space)
                else:
                    spaces[os.fstat(space).st_ino] = space
        killed = kill_all(lambda: of_head(lab, head_name, etcd))
        for space in filter(None, spaces.values()):
            netns.remove_links(space)
        return killed
    finally:
        for space in filter(None, spaces.values()):
            os.close(space)


def kill_all(find):
    """SIGKILLs the processes that find() returns until none is left; returns how many there
    were."""
    killed = 0
    while records := find():
        processes.kill_pids([record["pid"] for record in records])
        killed += len(records)
    return killed
