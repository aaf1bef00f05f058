"""Clients of a VNFS that note every gap in its answers, native ones and Linux in a VM.

A gap is (end in seconds since 1970 on this machine, length in ms).
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../client"), os.path.join(HERE, "../../deploy/lab")]

from qemu_vm import QemuVm
from symlab import product
from symlab.cluster import NFS_BRIDGE
from symlab.errors import LabError
from symlab.service import wait_for_line

NFS4_GAPS = os.path.join(HERE, "../client/nfs4_gaps")
NOTED_MS = "10"
PAUSE_US = "5000"
FOREVER_S = "36000"
STOP_S = 400.0
SLACK_S = 0.05
VERSIONS = ("v3", "v4.0", "v4.1")
VM_ADDRESS = "10.0.0.202/24"
VM_VERSIONS = {"v3": "vers=3,nolock", "v4.0": "vers=4.0", "v4.1": "vers=4.1"}
VM_S = 120.0
VM_PAUSE_US = "5000"
POLL_S = 0.5


def longest(gaps, since, to):
    """The longest gap that overlaps a span; NOTED_MS stands for "none that was noted"."""
    return max((ms for at, ms in gaps if at > since - SLACK_S and at - ms / 1000 < to),
               default=float(NOTED_MS))


def by_version(version, kind):
    return f"{version}, lock" if kind == "lock" else version


class NativeClients:
    """A context: a program per version, each with a connection per kind of operation."""

    def __init__(self, lab, url, versions=VERSIONS, row=by_version):
        """`row`: the name of the client to which (version, kind) counts."""
        self.lab = lab
        self.url = url
        self.versions = versions
        self.row = row
        self.tools = {}

    def _command(self, version):
        common = ["--url", self.url, "--pause-us", PAUSE_US, "--noted-ms", NOTED_MS,
                  "--seconds", FOREVER_S]
        if version == "v3":
            return [product.program("nfs_io"), "gaps", "--kinds", "read,write,getattr", *common]
        return [NFS4_GAPS, "--minor", version[-1], "--kinds", "read,write,getattr,lock", *common]

    def __enter__(self):
        for version in self.versions:
            self.tools[version] = self.lab.popen_in(
                "client", self._command(version), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True)
        for tool in self.tools.values():
            wait_for_line(tool, "running")
        return self

    def finish(self, judged=True):
        """{client: gaps}. Unless `judged`, a client may have been refused or given up meanwhile."""
        found = {}
        for version, tool in self.tools.items():
            tool.send_signal(signal.SIGTERM)
            out, err = tool.communicate(timeout=STOP_S)
            if judged and tool.returncode:
                raise LabError(f"the {version} client failed: {out[-2000:]}{err[-2000:]}")
            for kind, seen in json.loads(out.strip().splitlines()[-1]).items():
                gaps = found.setdefault(self.row(version, kind), [])
                gaps.extend((gap["at_s"], gap["ms"]) for gap in seen["gaps"])
        return found

    def __exit__(self, *_):
        for tool in self.tools.values():
            if tool.poll() is None:
                tool.kill()
                tool.wait()


class VmClients:
    """Linux in a VM: a process per version that reads and writes in turn."""

    def __init__(self, vm, job, ahead_s):
        self.vm = vm
        self.ahead_s = ahead_s
        self._job = job
        self._heard = threading.Event()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        """Whoever is not listened to stands still: the way out of the VM holds some KiB."""
        while not self._heard.is_set() and self._job.poll(POLL_S) is None:
            pass

    @classmethod
    @contextlib.contextmanager
    def boot(cls, lab, service):
        """A running one; it ends with the body."""
        vm = QemuVm("vm1", lab.vm_root())
        vm.stop()
        vm.start(VM_ADDRESS, NFS_BRIDGE, lab.hub_netns, cgroup=lab.cgroup())
        try:
            for name, options in VM_VERSIONS.items():
                result = vm.run(f"mkdir -p /mnt/{name} && nfsmount -o {options} "
                                f"{service.vip}:/{service.filesystem} /mnt/{name}", VM_S)
                if result.status:
                    raise LabError(f"client VM: mount over {name}: {result.output}")
            before = time.time()
            guest = float(vm.run("guest_gaps now", VM_S).output)
            ahead_s = guest - (before + time.time()) / 2
            files = " ".join(f"/mnt/{name}/vm-{name}" for name in VM_VERSIONS)
            yield cls(vm, vm.start_job(f"guest_gaps {NOTED_MS} {VM_PAUSE_US} /tmp/stop {files}"),
                      ahead_s)
            # A client that is gone with a reply under way would hold up the next move (moves.md).
            vm.run("touch /tmp/stop; sleep 1", VM_S)
        finally:
            vm.stop()

    def gaps(self):
        """{client: gaps} until now, once."""
        self._heard.set()
        self._listener.join()
        if self._job.status is not None:
            raise LabError(f"client VM: ended: {self._job.output[-2000:]}")
        found = {f"{name}, Linux in a VM": [] for name in VM_VERSIONS}
        for line in self._job.output.decode(errors="replace").splitlines():
            words = line.split()
            if len(words) == 4 and words[0] == "gap":
                name = os.path.basename(words[1]).removeprefix("vm-")
                found[f"{name}, Linux in a VM"].append(
                    (float(words[2]) - self.ahead_s, float(words[3])))
        return found
