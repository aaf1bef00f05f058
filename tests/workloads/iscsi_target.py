"""An iSCSI target on a head, and an initiator that reads from it, both without a kernel's help.

tgtd and iscsi-perf (libiscsi) of Debian: `deploy/setup/setup tgt` unpacks them into the cache.
"""

import os
import re
import subprocess
import time

from symlab import processes, product
from symlab.errors import LabError
from symlab.wait import eventually

NAME = "iqn.2026-01.lab.symnas:half"
PORT = 3260
CONTROL = "91"  # of tgtd's control sockets on this machine
READY_S = 10.0
SLACK_S = 60.0
SECTOR = 512


def _program(path):
    whole = os.path.join(product.cache_dir(), "tgt/usr", path)
    if not os.access(whole, os.X_OK):
        raise LabError(f"{whole} is missing: deploy/setup/setup tgt unpacks it")
    return whole


class Target:
    """A context: tgtd in the first head's namespace, which serves one device to everybody."""

    def __init__(self, lab, device):
        self.lab, self.device = lab, device
        self.head = lab.state.data["heads"][0]
        self.record = None

    @property
    def url(self):
        return f"iscsi://{self.head['nfs']}:{PORT}/{NAME}/1"

    def _admin(self, *words):
        return product.run([_program("sbin/tgtadm"), "-C", CONTROL, "--lld", "iscsi", *words])

    def __enter__(self):
        self.record = processes.spawn(
            [_program("sbin/tgtd"), "-f", "-C", CONTROL, "--iscsi",
             f"portal={self.head['nfs']}:{PORT}"],
            os.path.join(self.head["dir"], "tgtd.log"), netns=self.head["netns"])
        self.lab.state.note_process("tgtd", self.record)
        eventually(READY_S, "tgtd answers", lambda: self._admin(
            "--op", "new", "--mode", "target", "--tid", "1", "-T", NAME) is not None)
        self._admin("--op", "new", "--mode", "logicalunit", "--tid", "1", "--lun", "1", "-b",
                    self.device, "--bsoflags", "direct")
        self._admin("--op", "bind", "--mode", "target", "--tid", "1", "-I", "ALL")
        return self

    def __exit__(self, *_):
        processes.stop(self.record, 0)

    def reader(self, seconds, block_bytes, depth, random):
        """Starts an initiator that reads for so long."""
        words = ["-r"] if random else []
        libraries = os.path.join(product.cache_dir(), "tgt/usr/lib/x86_64-linux-gnu")
        return Reader(self.lab.popen_in("client", [
            _program("bin/iscsi-perf"), "-m", str(depth), "-b", str(block_bytes // SECTOR), "-t",
            str(int(seconds)), *words, self.url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "LD_LIBRARY_PATH": libraries}), seconds)


class Reader:
    """A running iscsi-perf."""

    def __init__(self, process, seconds):
        self.process, self.end = process, time.monotonic() + seconds + SLACK_S

    def rate(self):
        """Reads per second, when it has ended. LabError: it failed."""
        try:
            out, _ = self.process.communicate(timeout=max(1.0, self.end - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            self.process.communicate()
            raise LabError("iscsi-perf has not ended in time") from error
        told = out.decode(errors="replace").replace("\r", "\n")
        found = re.findall(r"iops average (\d+)", told)
        if self.process.returncode or not found:
            raise LabError(f"iscsi-perf ended with {self.process.returncode}: {told[-500:]}")
        return int(found[-1])
