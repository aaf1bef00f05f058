"""The demo's cluster: three heads, two VNFSs of one filesystem, a Linux client that mounts both.

Thread class: confined to one thread.
"""

import os

from .cluster import NFS_BRIDGE
from .errors import LabError
from .service import SharedService

HEADS = 3
LUN_COUNT = 4
LUN_SIZE = "768M"
VM_ADDRESS = "10.0.0.201/24"
VM_TIMEOUT_S = 400.0  # a busy machine; the longest script takes 20 s on an idle one
VERSIONS = {"v3": "vers=3,lock", "v41": "vers=4.1"}
GAP_NOTED_MS = 20
GAP_PAUSE_US = 5000
NAMES = {"v3": "NFSv3", "v41": "NFSv4.1"}


class DemoCluster:
    """`moving` and `other`: its VNFSs; mounts in the VM: /mnt/v3 and /mnt/v41 of `moving`,
    /mnt/other3 and /mnt/other41 of `other`."""

    def __init__(self, lab, vm, report):
        self.lab = lab
        self.vm = vm
        self.report = report
        self.moving, self.other = (SharedService(lab, n, backups=True) for n in (1, 2))

    def make(self):
        fact = self.report.fact
        self.lab.up(HEADS, LUN_COUNT, LUN_SIZE)
        fact(f"{HEADS} heads run, each in a network namespace with an agent and an etcd member; "
             f"they share {LUN_COUNT} LUN files of {LUN_SIZE}")
        self.lab.set_fence_kind("power")
        self.lab.set_fencing(automatic=True, cuts="power")
        fact("a silent head will be fenced without an order (the lab's power switch)")
        luns = self.lab.state.data["luns"]
        commands = [["network", "create", "nfs0", "--device", "eth1"],
                    ["lun", "import", *(f"{lun['name']}={lun['path']}" for lun in luns)],
                    *self.moving.commands(), *self.other.commands()]
        for command in commands:
            self.lab.symnas()(*command)
            fact("symnas " + " ".join(shown(word) for word in command))
        for service in (self.moving, self.other):
            service.wait_serving()
        fact(" and ".join(f"{s.name} on head {s.home} at {s.vip}"
                          for s in (self.moving, self.other))
             + f" serve the same filesystem {self.moving.filesystem}")

    def boot_client(self, disks):
        self.vm.start(VM_ADDRESS, NFS_BRIDGE, self.lab.hub_netns, cgroup=self.lab.cgroup(),
                      disks=disks)
        release = self.in_vm("uname -r")
        self.report.fact(f"a machine with a Linux kernel of its own has booted: {release}, "
                         f"{self.vm.described}")
        self.in_vm("guest_statd")
        for prefix, service in (("v", self.moving), ("other", self.other)):
            for name, options in VERSIONS.items():
                path = f"/mnt/{prefix}{name[1:]}"
                self.in_vm(f"mkdir -p {path} && nfsmount -o {options} "
                           f"{service.vip}:/{service.filesystem} {path}")
        self.report.fact("it has mounted both VNFSs, each over NFSv3 and over NFSv4.1, with locks")

    def in_vm(self, script):
        """Runs a script in the client, which must end well; returns its output, stripped."""
        result = self.vm.run(script, VM_TIMEOUT_S)
        if result.status != 0:
            raise LabError(f"the client ended with {result.status}: {result.output[-1500:]}\n"
                           f"of {script}\nits console: {self.vm.console()[-800:]}")
        return result.output.strip()


class LinuxGaps:
    """A context: processes of the client that read and write two files, and note how long they
    wait."""

    def __init__(self, cluster):
        self.cluster = cluster
        self._read = 0

    def __enter__(self):
        self.cluster.in_vm("rm -f /tmp/stop")
        files = " ".join(f"/mnt/{name}/gaps-{name}" for name in VERSIONS)
        self._job = self.cluster.vm.start_job(
            f"guest_gaps {GAP_NOTED_MS} {GAP_PAUSE_US} /tmp/stop {files}")
        return self

    def __exit__(self, *_):
        self._job.kill()

    def longest(self):
        """{version: ms} of the gaps since the last call; 0: none was noted.

        A gap that lasts still is waited for: until the client is answered in both mounts.
        """
        self.cluster.in_vm("".join(f": > /mnt/{name}/answers-{name}\n" for name in VERSIONS))
        size = -1
        while size != len(self._job.output):
            size = len(self._job.output)
            self._job.poll(0.1)
        text = self._job.output.decode(errors="replace")
        if self._job.status is not None:
            raise LabError(f"the client's readers and writers ended: {text[-800:]}")
        end = text.rfind("\n") + 1
        found = longest_gaps(text[self._read:end])
        self._read = end
        return found


def longest_gaps(text):
    """{"NFSv3": ms, "NFSv4.1": ms} of what guest_gaps printed."""
    found = dict.fromkeys(NAMES.values(), 0.0)
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[0] == "gap":
            name = NAMES[words[1].rsplit("-", 1)[1]]
            found[name] = max(found[name], float(words[3]))
    return found


def shown(word):
    """A word of a command as it is printed: paths of the lab without their folders."""
    name, separator, path = str(word).partition("=")
    return f"{name}={os.path.basename(path)}" if separator and os.path.isabs(path) else str(word)
