"""The peer of the benchmark: ganesha's FSAL_VFS on ext4 on a LUN file of the same kind.

It has the same ganesha build and the same settings, hangs on the same bridge, and runs in a memory
cgroup, so that a file 8 times larger than the cgroup makes it work from the LUN as symnas does.
"""

import contextlib
import os
import subprocess
import sys

REPO = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(REPO, "deploy", "lab"))

from symlab import luns, netns, processes, product
from symlab.cluster import NFS_BRIDGE
from symlab.wait import eventually

ADDRESS = "10.0.0.250"
CGROUP_MEMORY_ROOT = "/sys/fs/cgroup/memory"
READY_S = 20.0
THREADS = 16  # RPC_Ioq_ThrdMax; symnas plans for blocked kv calls as well

CONFIG = """
NFS_CORE_PARAM {{
  Protocols = 3, 4; NFS_Port = 2049; MNT_Port = 20048; NLM_Port = 32803;
  Enable_RQUOTA = false; Enable_UDP = false; Plugins_Dir = {plugins};
  Allow_Set_IO_Flusher_Fail = true; RPC_Ioq_ThrdMax = {threads}; Clustered = false;
  Getattrs_In_Complete_Read = false; Enable_NFS_Stats = false;
}}
NFSv4 {{ Graceless = true; RecoveryRoot = {run}; Only_Numeric_Owners = true; }}
EXPORT {{
  Export_Id = 1; Path = {path}; Pseudo = /bench; Access_Type = RW; Squash = No_Root_Squash;
  SecType = sys; FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
"""


class Peer:
    """FSAL_VFS in a namespace on the lab's NFS bridge; close() removes everything it made."""

    def __init__(self, lab, size_bytes, memory_bytes, threads):
        self.lab = lab
        self.size_bytes = size_bytes
        self.memory_bytes = memory_bytes
        self.threads = threads
        self.directory = os.path.join(lab.directory, "peer")
        self.image = os.path.join(self.directory, "peer.img")
        self.mount_point = os.path.join(self.directory, "mnt")
        self.netns = f"{lab.prefix}-peer"
        self.cgroup = os.path.join(CGROUP_MEMORY_ROOT, f"symnas-bench-{lab.prefix}")
        self.record = None
        self._undo = contextlib.ExitStack()

    @property
    def url(self):
        return f"nfs://{ADDRESS}{self.mount_point}"

    def start(self):
        os.makedirs(self.mount_point, exist_ok=True)
        self._undo.callback(luns.remove, self.image)
        luns.create_file(self.image, self.size_bytes)
        loop = luns.attach_loop(self.image)
        _run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", "-F", loop)
        _run("mount", loop, self.mount_point)
        self._undo.callback(_run, "umount", self.mount_point)
        netns.create(self.netns)
        self._undo.callback(netns.delete, self.netns)
        netns.connect_to_bridge(self.netns, "eth1", f"{ADDRESS}/24", self.lab.hub_netns,
                                NFS_BRIDGE, "peer-nfs")
        self.limit_memory(self.memory_bytes)
        self._undo.callback(_remove_cgroup, self.cgroup)
        self._start_server()

    def _start_server(self):
        prefix = os.path.join(product.cache_dir(), "ganesha")
        config = os.path.join(self.directory, "ganesha.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(plugins=os.path.join(prefix, "lib", "ganesha"),
                                     threads=self.threads, run=self.directory,
                                     path=self.mount_point))
        launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_start")
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(prefix, "lib"))
        self.record = processes.spawn(
            [launcher, self.cgroup, os.path.join(prefix, "bin", "ganesha.nfsd"), "-F", "-f", config,
             "-p", os.path.join(self.directory, "pid"),
             "-L", os.path.join(self.directory, "ganesha.log")],
            os.path.join(self.directory, "start.log"), netns=self.netns, env=env)
        self._undo.callback(processes.stop, self.record, 0)
        self._undo.callback(self._kill_inside)
        eventually(READY_S, "the peer answers", self._answers)

    def start_statd(self):
        """Locks of NFSv3 need it: ganesha asks it to watch each client."""
        folder = os.path.join(self.directory, "statd")
        for name in ("sm", "sm.bak"):
            os.makedirs(os.path.join(folder, name))
        program = os.path.join(product.cache_dir(), "statd", "rpc.statd")
        # Beside ganesha: its /run has the rpcbind that they share.
        processes.spawn(["nsenter", "--target", str(self.record["pid"]), "--mount", "--net",
                         program, "--no-notify", "--foreground", "--state-directory-path", folder],
                        os.path.join(self.directory, "statd.log"))

    def _kill_inside(self):
        processes.kill_pids(netns.processes_inside([self.netns]))

    def _answers(self):
        with netns.entered(self.netns):
            return any(_listens(f"/proc/thread-self/net/{table}") for table in ("tcp", "tcp6"))

    def limit_memory(self, memory_bytes):
        os.makedirs(self.cgroup, exist_ok=True)
        with open(os.path.join(self.cgroup, "memory.limit_in_bytes"), "w") as file:
            file.write(str(memory_bytes))

    def processes(self):
        """{role: [pid]}"""
        return {"instance": netns.processes_inside([self.netns])}

    def close(self):
        self._undo.close()


def _listens(table):
    with open(table, encoding="ascii") as file:
        return any(line.split()[1].endswith(":0801") for line in list(file)[1:])


def _run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def _remove_cgroup(path):
    """The kernel lets go of a cgroup some moments after its last process was reaped."""

    def removed():
        with contextlib.suppress(OSError):
            os.rmdir(path)
        return not os.path.exists(path)

    eventually(READY_S, f"{path} is empty", removed)
