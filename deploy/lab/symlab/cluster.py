"""A whole lab: heads in namespaces on one machine, LUN files, etcd, one vnfsd per head, a client.

Addresses: head n has 10.99.0.n (eth0, management) and 10.0.0.n (eth1, NFS network); the client
namespace has 10.0.0.200. Virtual IPs are taken from 10.0.0.101 upwards, client VMs from 10.0.0.201.
Further NFS networks, IPv6 and what lies behind a router: client_networks.py.
Etcd members are the first three heads; with two heads a witness (10.99.0.100) is the third.

Invariant: what `up` makes is noted in the state file first (state.py), and `down` removes all of
it, at whatever moment `up` was interrupted or the machine lost its power. `down` may be repeated.
"""

import concurrent.futures
import contextlib
import os
import shutil
import subprocess
import time
import zlib

from . import (client_networks, fuse_luns, head_processes, luns, membership, mounts, netns,
               offspring, processes, product, reservations)
from .errors import LabDeadEnd, LabError
from .fencing import KINDS as FENCE_KINDS
from .fencing import WAYS_TO_BREAK, Switch
from .membership import MEMBERS_READY_S, WITNESS
from .state import LabState, root_dir
from .wait import eventually

MAX_HEADS = 16
MAX_LUNS = 64
MGMT_BRIDGE = "br-mgmt"
NFS_BRIDGE = "br-nfs"
CLIENT_ADDRESS = "10.0.0.200"
WITNESS_ADDRESS = "10.99.0.100"
ETCD_MEMBERS_MAX = 3
ETCD_CLIENT_PORT = 2379
ETCD_READY_S = 20.0
AGENT_READY_S = 30.0
AGENT_STOP_S = 10.0
FENCE_TIMEOUT_S = 150.0
STOP_GRACE_S = 3.0


class Lab:
    """A lab, existing or not, found by its prefix."""

    def __init__(self, prefix="sym"):
        if not prefix.isalnum() or len(prefix) > 8:
            raise LabError(f"prefix {prefix!r}: at most 8 letters and digits")
        self.prefix = prefix
        self.state = LabState(prefix)
        self.directory = self.state.directory

    # --- what exists

    @property
    def hub_netns(self):
        return f"{self.prefix}-lab"

    @property
    def client_netns(self):
        return f"{self.prefix}-client"

    def head(self, name):
        for head in self.state.data["heads"]:
            if head["name"] == name:
                return head
        for member in self.state.data["witnesses"]:
            if member["name"] == name:
                return member
        raise LabError(f"no head {name} in lab {self.prefix}")

    def symnas(self, head=None):
        """The CLI that talks to one head (by default the first)."""
        name = head or self.state.data["heads"][0]["name"]
        return product.Symnas(self.head(name)["socket"])

    def running_symnas(self):
        """The CLI that talks to a head whose agent runs. LabError: no agent runs."""
        for head in self.state.data["heads"]:
            if processes.is_alive(self.process(f"vnfsd.{head['name']}")):
                return self.symnas(head["name"])
        raise LabError("no head runs")

    def etcd_leader(self):
        """The head whose etcd member leads."""
        address = {f"https://{head['mgmt']}:{ETCD_CLIENT_PORT}": head["name"]
                   for head in self.state.data["heads"]}
        return next(address[m["endpoint"]] for m in self.running_symnas().json("status")["etcd"]
                    if m["leader"])

    def exists(self):
        return self.state.load()

    def process(self, name):
        return self.state.data["processes"].get(name)

    # --- up

    def up(self, heads=1, lun_count=4, lun_size="2G", lun_dir=None, kind="file",
           etcd_quota_bytes=None, networks=1):
        """Makes the lab. After a failure `down` removes what was made. kind: one of luns.KINDS."""
        if not 1 <= networks <= client_networks.NETWORKS_MAX:
            raise LabError(f"{networks} networks: 1 to {client_networks.NETWORKS_MAX} are possible")
        if kind not in luns.KINDS:
            raise LabError(f"LUNs of kind {kind!r}: {', '.join(luns.KINDS)} are possible")
        if not 1 <= heads <= MAX_HEADS:
            raise LabError(f"{heads} heads: 1 to {MAX_HEADS} are possible")
        if not 0 <= lun_count <= MAX_LUNS:
            raise LabError(f"{lun_count} LUNs: 0 to {MAX_LUNS} are possible")
        size = luns.parse_size(lun_size)
        reserved = kind == "reserved"
        kind = "fuse" if reserved else kind
        wanted = ("etcd", "vnfsd", "symnas", "symnas-launch")
        for name in wanted + ((fuse_luns.PROGRAM,) if kind == "fuse" else ()):
            product.program(name)
        with self.state.locked():
            self._refuse_foreign_names()
            directory = lun_dir or os.path.join(self.directory, "luns")
            pattern = {"file": os.path.join(directory, f"{self.prefix}-lun*.img"),
                       "loop": "/dev/loop*",
                       "fuse": os.path.join(fuse_luns.shared_dir(self.directory), "*")}[kind]
            # The directory is in the name too: a lab of this prefix may exist in another one.
            cgroup = f"symnas-lab-{self.prefix}-{zlib.crc32(self.directory.encode()):08x}"
            self.state.create(lun_paths=[pattern], lun_dir=directory, lun_kind=kind,
                              etcd_quota_bytes=etcd_quota_bytes, networks=networks,
                              reserved=reserved)
            self._make_cgroup(cgroup)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                files = self._plan_luns(directory, lun_count)
                writing = [pool.submit(luns.create_file, path, size) for path in files]
                self._make_networks(heads)
                client_networks.make(self, networks)
                if kind == "fuse":  # a head sees its view only if it starts after that
                    for done in writing:
                        done.result()
                    self._serve_luns(files)
                for index in range(heads):
                    self._start_head(index)
                if heads == 2:
                    self._start_witness()
                for done in writing:
                    done.result()
            if kind != "fuse":
                self._serve_luns(files)
            self.wait_members()
            self.state.data["complete"] = True
            self.state.save()

    def _make_cgroup(self, name):
        """Makes it in the first place that allows it; none where the machine allows none."""
        for path in processes.cgroup_places(name):
            self.state.data["cgroup"] = path
            self.state.save()
            with contextlib.suppress(OSError):
                os.makedirs(path, exist_ok=True)
                return
        self.state.data["cgroup"] = None
        self.state.save()

    def _refuse_foreign_names(self):
        """A lab of this prefix that is kept in another directory must never be noted as ours."""
        if self.state.load():
            return  # create() says what to do
        there = netns.names_beginning(f"{self.prefix}-")
        if there:
            raise LabError(f"namespaces {', '.join(there)} exist, made by a lab that is not kept "
                           f"in {self.directory}: choose another --prefix, or take that one down")

    def _plan_luns(self, directory, count):
        os.makedirs(directory, exist_ok=True)
        files = []
        for index in range(count):
            path = os.path.join(directory, f"{self.prefix}-lun{index}.img")
            if os.path.exists(path):
                raise LabError(f"LUN file {path} exists and is not this lab's")
            self.state.note("files", path)
            files.append(path)
        return files

    def _serve_luns(self, files):
        """Makes the devices on the files, and notes the LUNs."""
        kind = self.state.data["lun_kind"]
        named = {f"LUN{index}": path for index, path in enumerate(files)}
        if kind == "fuse":
            fuse_luns.start(self.state, named)
        for name, path in named.items():
            device = path
            if kind == "loop":
                device = luns.attach_loop(path)
                self.state.note("loops", device)
            elif kind == "fuse":
                device = fuse_luns.path_of(self.state, name)
            self.state.note("luns", {"name": name, "path": device, "file": path})

    def make_netns(self, name):
        self.state.note("namespaces", name)
        netns.create(name)

    def _make_networks(self, heads):
        bounds = os.path.join(product.REPO, "deploy/config/sysctl.conf")
        with open(bounds, encoding="utf-8") as file:
            netns.raise_neighbours(file.read())
        self.make_netns(self.hub_netns)
        for bridge in (MGMT_BRIDGE, NFS_BRIDGE):
            netns.create_bridge(self.hub_netns, bridge)
        self.make_netns(self.client_netns)
        netns.connect_to_bridge(self.client_netns, "eth1", f"{CLIENT_ADDRESS}/24",
                                self.hub_netns, NFS_BRIDGE, "client-nfs")
        for number in range(1, heads + 1):
            name = f"c1n{number}"
            space = f"{self.prefix}-{name}"
            self.make_netns(space)
            netns.connect_to_bridge(space, "eth0", f"10.99.0.{number}/24",
                                    self.hub_netns, MGMT_BRIDGE, f"{name}-mgmt")
            netns.connect_to_bridge(space, "eth1", f"10.0.0.{number}/24",
                                    self.hub_netns, NFS_BRIDGE, f"{name}-nfs")
            self._note_head("heads", name, mgmt=f"10.99.0.{number}", nfs=f"10.0.0.{number}")
        if heads == 2:
            space = f"{self.prefix}-{WITNESS}"
            self.make_netns(space)
            netns.connect_to_bridge(space, "eth0", f"{WITNESS_ADDRESS}/24",
                                    self.hub_netns, MGMT_BRIDGE, f"{WITNESS}-mgmt")
            self._note_head("witnesses", WITNESS, mgmt=WITNESS_ADDRESS)

    def space_of(self, where):
        """The namespace of a head, or of "client", "router", "far"."""
        if where in ("client", "router", "far"):
            return f"{self.prefix}-{where}"
        return self.head(where)["netns"]

    def _note_head(self, kind, name, **addresses):
        directory = os.path.join(self.directory, "heads", name)
        os.makedirs(directory, exist_ok=True)
        head_processes.write_boot_id(directory)
        self.state.note(kind, {
            "name": name, "netns": f"{self.prefix}-{name}", "dir": directory, **addresses,
            "etcd_dir": os.path.join(directory, "etcd"),
            "config_dir": os.path.join(directory, "etc"),
            "run_dir": os.path.join(directory, "run"),
            "log_dir": os.path.join(directory, "log"),
            "socket": os.path.join(directory, "run", "vnfsd.sock")})
        self.state.note("run_dirs", os.path.join(directory, "run"))
        mounts.mount_run_dir(os.path.join(directory, "run"))

    def _start_head(self, index):
        head = self.state.data["heads"][index]
        if index == 0:
            membership.init(self, head)
        else:
            membership.join(self, head, etcd_member=len(self.state.data["heads"]) > 1
                            and index < ETCD_MEMBERS_MAX)
        if self.state.data.get("reserved"):
            program = reservations.install(self.directory, membership.FENCE_RESERVATIONS,
                                           root_dir(), self.prefix)
            membership.set_in_config(head, {"reservation_program": f"'{program}'"})
        if self.has_etcd(head):
            self.start_etcd(head["name"])
        self.start_vnfsd(head["name"])
        if index > 0 and self.has_etcd(head):
            self.wait_members()

    def _start_witness(self):
        """Starts a third etcd member for two heads; it serves no VNFS."""
        witness = self.head(WITNESS)
        membership.join(self, witness, etcd_member=True)
        self.start_etcd(WITNESS)

    def wait_members(self):
        """Waits until every etcd member that was started votes and every agent uses all."""
        members = [head for head in self.state.data["heads"] + self.state.data["witnesses"]
                   if f"etcd.{head['name']}" in self.state.data["processes"]]

        def settled():
            for head in self.state.data["heads"]:
                if f"vnfsd.{head['name']}" not in self.state.data["processes"]:
                    continue
                seen = self.symnas(head["name"]).json("status")["etcd"]
                if len(seen) != len(members) or not all(m["reachable"] for m in seen):
                    raise LabError(f"{head['name']} sees {seen}")
            return True
        eventually(MEMBERS_READY_S, f"{len(members)} etcd members are used by every head", settled)

    def join_anew(self, name):
        """Lets a head that was removed from the cluster join it again, like a new one."""
        head = self.head(name)
        processes.stop(self.process(f"vnfsd.{name}"), STOP_GRACE_S)
        shutil.rmtree(head["config_dir"])
        head_processes.write_boot_id(head["dir"])
        membership.join(self, head, etcd_member=False)
        self.start_vnfsd(name)

    # --- processes of a head, also for tests that stop and start them

    def start_etcd(self, head_name):
        head = self.head(head_name)
        head_processes.set_cables(self, head_name, "up")
        argv = [product.program("etcd"), "--config-file", self._etcd_config(head)]
        record = processes.spawn(argv, os.path.join(head["dir"], "etcd.log"), netns=head["netns"],
                                 cgroup=head_processes.cgroup_of(self.state, f"{head_name}-etcd"))
        self.state.note_process(f"etcd.{head_name}", record)
        eventually(ETCD_READY_S, f"etcd on {head_name} answers",
                   lambda: self._alive(record, head["dir"], "etcd.log")
                   and self._listens(head, ETCD_CLIENT_PORT))
        return record

    def start_vnfsd(self, head_name, env=None, binds=()):
        """env: variables for it in addition to ours; binds: more bind mounts (processes.spawn)."""
        head = self.head(head_name)
        head_processes.set_cables(self, head_name, "up")
        argv = [product.program("vnfsd"), "--config",
                os.path.join(head["config_dir"], "vnfsd.toml")]
        record = processes.spawn(argv, os.path.join(head["dir"], "vnfsd.log"),
                                 netns=head["netns"], hostname=head_name,
                                 cgroup=head_processes.cgroup_of(self.state, head_name),
                                 env={**os.environ, **env} if env else None,
                                 binds=[*self._binds(head), *binds])
        self.state.note_process(f"vnfsd.{head_name}", record)
        eventually(AGENT_READY_S, f"vnfsd on {head_name} answers",
                   lambda: self._alive(record, head["dir"], "vnfsd.log")
                   and self._answers(head_name))
        return record

    def _binds(self, head):
        """Bind mounts that make the agent believe that the head is a machine of its own."""
        binds = [(head_processes.boot_id_file(head["dir"]), "/proc/sys/kernel/random/boot_id")]
        if self.state.data["lun_kind"] == "fuse":
            binds += fuse_luns.binds(self.state, head)
        return binds

    @staticmethod
    def _etcd_config(head):
        return os.path.join(head["config_dir"], "etcd.yml")

    def has_etcd(self, head):
        return os.path.exists(self._etcd_config(head))

    def _answers(self, head_name):
        """True when the agent answers and has read the cluster's records from etcd."""
        return "cluster" in self.symnas(head_name).json("status")

    @staticmethod
    def _alive(record, directory, log_name):
        if processes.is_alive(record):
            return True
        with open(os.path.join(directory, log_name), encoding="utf-8", errors="replace") as log:
            tail = log.read()[-1500:]
        raise LabDeadEnd(f"{record['argv'][0]} has ended; the end of its log:\n{tail}")

    @staticmethod
    def _listens(head, port):
        wanted = f":{port:04X}"
        with netns.entered(head["netns"]), open("/proc/thread-self/net/tcp") as table:
            return any(line.split()[1].endswith(wanted) and line.split()[3] == "0A"
                       for line in list(table)[1:])

    # --- down

    def down(self):
        """Removes everything; returns False when there was nothing."""
        if not self.state.load():
            return self.state.remove_unborn()
        with self.state.locked():
            data = self.state.data
            # First: a process that waits for a hanging LUN cannot be killed before its answer.
            fuse_luns.stop(self.state)
            for name, record in sorted(data["processes"].items(), reverse=True):
                grace_s = 0 if name.startswith("etcd.") else STOP_GRACE_S
                processes.stop(record, grace_s)
            offspring.stop_vms(self.vm_root())
            offspring.stop_instances(self.directory)
            offspring.kill(self.prefix, data["cgroup"], data["namespaces"])
            mounts.unmount(data.get("run_dirs", []))
            for name in data["namespaces"]:
                netns.delete(name)
            for path in data["files"]:
                luns.remove(path)
            processes.remove_cgroup(data["cgroup"])
            shutil.rmtree(self.directory)
        return True

    # --- observing and acting

    def status(self):
        """Rows (object, state) of everything that is noted."""
        data = self.state.data
        rows = [("lab", f"{'complete' if data['complete'] else 'INCOMPLETE'} in {self.directory}")]
        for name in data["namespaces"]:
            rows.append((name, "there" if netns.exists(name) else "GONE"))
        for name, record in sorted(data["processes"].items()):
            state = f"pid {record['pid']}" if processes.is_alive(record) else "DEAD"
            rows.append((name, state))
        for lun in data["luns"]:
            size = os.path.getsize(lun["file"]) >> 20 if os.path.exists(lun["file"]) else None
            rows.append((lun["name"], f"{lun['path']} {size} MiB" if size else "GONE"))
        return rows

    def exec_in(self, where, argv):
        """Runs argv in a namespace (space_of); returns its status."""
        with netns.entered(self.space_of(where)):
            return subprocess.run(argv).returncode

    def add_lun(self, name, size):
        """Makes one more prewritten LUN file where the agents look for LUNs; returns its path."""
        path = os.path.join(self.state.data["lun_dir"], f"{self.prefix}-lun-{name}.img")
        self.state.note("files", path)
        luns.create_file(path, luns.parse_size(size))
        if self.state.data["lun_kind"] == "fuse":
            self.fault("add", name, path)
            return fuse_luns.path_of(self.state, name)
        return path

    # --- fencing

    def fence(self, name, kind="power", by=None, keep_etcd=False):
        """Has a surviving head fence this one through fence_agent; returns the output."""
        heads = [head["name"] for head in self.state.data["heads"]]
        if name not in heads:
            raise LabError(f"no head {name} in lab {self.prefix}")
        fencer = by or next((head for head in heads if head != name
                             and processes.is_alive(self.process(f"vnfsd.{head}"))), None)
        if fencer is None:
            raise LabError(f"no other head than {name} is running: nobody can fence it")
        self.set_fence_kind(kind, keep_etcd)
        return self.symnas(fencer)("head", "fence", name, "--yes", timeout_s=FENCE_TIMEOUT_S)

    def set_fence_kind(self, kind, keep_etcd=False):
        """Sets how the fence agent cuts a head off from now on: "power" or "lun"."""
        if kind not in FENCE_KINDS:
            raise LabError(f"fence kind {kind!r}: {' or '.join(FENCE_KINDS)} is wanted")
        self.state.data.update(fence_kind=kind, fence_keeps_etcd=keep_etcd)
        self.state.save()

    def unfence(self, name):
        """Lets the head boot again, as a new incarnation."""
        Switch(self).on(name)
        head = self.head(name)
        if self.has_etcd(head) and not processes.is_alive(self.process(f"etcd.{name}")):
            self.start_etcd(name)
        self.start_vnfsd(name)

    def set_fencing(self, automatic, cuts="luns"):
        """Sets whether silent heads and instances are ended without an order, and what the agent
        cuts (its kind has to be set to the same). Restarts the agents."""
        self._set_everywhere({"automatic": "true" if automatic else "false", "cuts": f"'{cuts}'"})

    def set_settling(self, seconds):
        """Sets how long a head serves before VNFSs fail back to it. Restarts the agents."""
        self._set_everywhere({"settle_s": str(seconds)})

    def _set_everywhere(self, settings):
        for head in self.state.data["heads"]:
            if not membership.set_in_config(head, settings):
                continue
            processes.stop(self.process(f"vnfsd.{head['name']}"), AGENT_STOP_S)
            self.start_vnfsd(head["name"])

    def set_fence_timeout(self, seconds):
        """Sets how long one action of a fence may take. Restarts the agents."""
        self._set_everywhere({"timeout_s": str(seconds)})

    def incarnation(self, name):
        """HEAD/BOOT-ID of the head's current boot."""
        with open(head_processes.boot_id_file(self.head(name)["dir"]), encoding="ascii") as file:
            return f"{name}/{file.read().strip()}"

    def break_fence_agent(self, way):
        """From now on the agent fails (as with a dead power switch), hangs, or reports "off" for a
        head that is on; "": it works again."""
        if way not in WAYS_TO_BREAK:
            raise LabError(f"a way to break {way!r}: {WAYS_TO_BREAK} are possible")
        self.state.data["fence_breaks"] = way
        self.state.save()

    def fault(self, *words):
        """Sends a command to the server of the LUNs (LUNS=fuse); returns what it prints."""
        return fuse_luns.command(self.state, *words)

    def popen_in(self, where, argv, **options):
        """Starts argv in a namespace (space_of), as subprocess.Popen."""
        with netns.entered(self.space_of(where)):
            return subprocess.Popen(argv, **options)

    def cgroup(self):
        return self.state.data["cgroup"]

    def vm_root(self):
        return os.path.join(self.directory, "vms")


def elapsed(since):
    return f"{time.monotonic() - since:.1f} s"
