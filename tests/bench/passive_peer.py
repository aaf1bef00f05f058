"""The peer of bench-failover: ganesha's FSAL_VFS on one ext4, active/passive in two namespaces.

What a cluster manager does for such a pair is done here by a script without a pause: end (or, for a
crash, SIGKILL) the server, unmount, take the address away; mount on the other side, bring the
address up, announce it, start the server. Nothing is detected, nobody is fenced: a real pair waits
for both as well. The recovery directory is on the shared filesystem, as its manual asks for.
"""

import contextlib
import os
import socket
import struct
import subprocess
import time

from failover_clients import NativeClients, longest
from symlab import luns, netns, processes, product
from symlab.cluster import NFS_BRIDGE
from symlab.wait import eventually

VIP = "10.0.0.240"
SIZE = 1 << 30
READY_S = 20.0
AFTER_GRACE_S = 8.0  # lock requests are tried again meanwhile
ETH_ARP, ARP_REQUEST = 0x0806, 1
# (name, lease and grace period in seconds). The first is what ganesha does unless told otherwise.
GRACES = (("default grace", 60, 90), ("short grace", 5, 10))

CONFIG = """
NFS_CORE_PARAM {{
  Protocols = 3, 4; NFS_Port = 2049; MNT_Port = 20048; NLM_Port = 32803;
  Enable_RQUOTA = false; Enable_UDP = false; Plugins_Dir = {plugins};
  Allow_Set_IO_Flusher_Fail = true; Clustered = false;
}}
NFSv4 {{ RecoveryRoot = {recovery}; Only_Numeric_Owners = true; Lease_Lifetime = {lease};
        Grace_Period = {grace}; }}
EXPORT {{
  Export_Id = 1; Path = {path}; Pseudo = /bench; Access_Type = RW; Squash = No_Root_Squash;
  SecType = sys; FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
"""


class Pair:
    """A context: the pair, serving on its first side."""

    def __init__(self, lab, lease_s, grace_s):
        self.lab = lab
        self.lease_s = lease_s
        self.grace_s = grace_s
        self.directory = os.path.join(lab.directory, "pair")
        self.mount_point = os.path.join(self.directory, "mnt")
        self.spaces = [f"{lab.prefix}-pair{n}" for n in (1, 2)]
        self.active = 0
        self.record = None
        self._undo = contextlib.ExitStack()

    @property
    def url(self):
        return f"nfs://{VIP}{self.mount_point}"

    @property
    def url4(self):
        return f"nfs://{VIP}/bench"

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            os.makedirs(self.mount_point, exist_ok=True)
            image = os.path.join(self.directory, "pair.img")
            undo.callback(luns.remove, image)
            luns.create_file(image, SIZE)
            self.loop = luns.attach_loop(image)
            _run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", "-F", self.loop)
            for n, space in enumerate(self.spaces):
                netns.create(space)
                undo.callback(netns.delete, space)
                netns.connect_to_bridge(space, "eth1", f"10.0.0.{241 + n}/24", self.lab.hub_netns,
                                        NFS_BRIDGE, f"pair{n + 1}-nfs")
            undo.callback(subprocess.run, ["umount", self.mount_point], stderr=subprocess.DEVNULL,
                          check=False)
            undo.callback(self._kill)
            self._take_over()
            eventually(READY_S, "the pair answers", self.answers)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self._undo.close()

    def _take_over(self):
        space = self.spaces[self.active]
        _run("mount", self.loop, self.mount_point)
        recovery = os.path.join(self.mount_point, ".recovery")
        os.makedirs(recovery, exist_ok=True)
        netns.ip("addr", "add", f"{VIP}/24", "dev", "eth1", netns=space)
        announce(space)
        prefix = os.path.join(product.cache_dir(), "ganesha")
        config = os.path.join(self.directory, "ganesha.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(plugins=os.path.join(prefix, "lib", "ganesha"),
                                     recovery=recovery, path=self.mount_point,
                                     lease=self.lease_s, grace=self.grace_s))
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(prefix, "lib"))
        start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_start")
        self.record = processes.spawn(
            [start, "-", os.path.join(prefix, "bin", "ganesha.nfsd"), "-F", "-f", config,
             "-p", os.path.join(self.directory, "pid"),
             "-L", os.path.join(self.directory, "ganesha.log")],
            os.path.join(self.directory, "start.log"), netns=space, env=env)

    def _kill(self):
        processes.kill_pids(netns.processes_inside(self.spaces))
        processes.stop(self.record, 0)

    def answers(self):
        with netns.entered(self.spaces[self.active]):
            for table in ("tcp", "tcp6"):
                with open(f"/proc/thread-self/net/{table}", encoding="ascii") as file:
                    if any(line.split()[1].endswith(":0801") for line in list(file)[1:]):
                        return True
        return False

    def move(self, crash):
        """The other side serves; returns at once."""
        if not crash:
            processes.stop(self.record, READY_S)
        self._kill()
        netns.ip("addr", "del", f"{VIP}/24", "dev", "eth1", netns=self.spaces[self.active])
        _run("umount", self.mount_point)
        self.active = 1 - self.active
        self._take_over()


def announce(space):
    """A gratuitous ARP request (RFC 5944 §4.6) for the VIP."""
    with netns.entered(space), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
            link.bind(("eth1", ETH_ARP))
            mac = link.getsockname()[4]
            address = socket.inet_aton(VIP)
            link.send(b"\xff" * 6 + mac + struct.pack(">HHHBBH", ETH_ARP, 1, 0x0800, 6, 4,
                                                      ARP_REQUEST)
                      + mac + address + b"\0" * 6 + address)


def measure(lab, runs, spread, load_of):
    """Rows of bench-failover: `runs` moves and crashes for each grace period and load.

    load_of(lab, url, judged): a context with load on that server.
    """
    rows = []
    for name, lease_s, grace_s in GRACES:
        with Pair(lab, lease_s, grace_s) as pair:
            for load in ("none", "load"):
                beside = load_of(lab, pair.url, judged=False)
                with beside if load == "load" else contextlib.nullcontext():
                    for action in ("rehost", "crash"):
                        seen = moves(lab, pair, action == "crash", runs)
                        rows += [{"load": load, "action": f"peer, {name}: {action}",
                                  "client": client, **spread(values)}
                                 for client, values in seen.items()]
    return rows


def moves(lab, pair, crash, runs):
    """{client: longest gap of each run}."""
    windows = []
    with NativeClients(lab, pair.url, versions=("v3",)) as three, \
            NativeClients(lab, pair.url4, versions=("v4.0", "v4.1")) as four:
        time.sleep(pair.grace_s + AFTER_GRACE_S)
        for _ in range(runs):
            since = time.time()
            pair.move(crash)
            eventually(READY_S, "the pair answers", pair.answers)
            time.sleep(pair.grace_s + AFTER_GRACE_S)
            windows.append((since, time.time()))
        seen = {**three.finish(judged=False), **four.finish(judged=False)}
    return {client: [longest(gaps, since, to) for since, to in windows]
            for client, gaps in seen.items()}


def _run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
