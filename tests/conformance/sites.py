"""What the cases are carried out on: symnas on three heads, or ganesha's FSAL_VFS on ext4.

Thread class: a site is confined to one thread, but for Symnas.move().
"""

import os
import re
import subprocess
import threading

import peer
from secured import Secured
from symlab import product
from symlab.cluster import Lab
from symlab.errors import LabError
from symlab.service import EXPORT, VIP, VNFS, Service

HEADS = 3
LUNS = 4
LUN_SIZE = "1G"
PEER_BYTES = 4 << 30
PEER_MEMORY_BYTES = 1 << 30
MANY_NAMES = 100_000
FINDING = re.compile(r"/v[\d.]+/([^/]+)/.*")  # of a file of a case
MOVE_MAX_S = 60.0
CHECK_MAX_S = 120.0


class Site:
    """server: an address; pseudo: the export's path over NFSv4; url: libnfs' for all of it."""

    def __init__(self, prefix):
        self.lab = Lab(prefix)
        self.lab.down()  # what an interrupted run has left

    def close(self):
        self.lab.down()

    def check(self):
        """Lines of verdicts about what the cases have left."""
        return []

    def run_beside(self, argv, timeout_s):
        """Yields the lines of a program in the network of the clients."""
        with self.lab.popen_in("client", argv, stdout=subprocess.PIPE, text=True) as process:
            timer = threading.Timer(timeout_s, process.kill)
            timer.start()
            try:
                yield from process.stdout
            finally:
                timer.cancel()
        if process.returncode < 0:
            yield f"not ok {os.path.basename(argv[0])}: ended by signal {-process.returncode}"


    def start_names(self):
        """Begins to make the directory `many` with 100,000 files; returns the process."""
        argv = [product.program("nfs_load"), "--url", self.url, "--case", "create", "--dir", "many",
                "--files", str(MANY_NAMES), "--connections", "4", "--depth", "8",
                "--seconds", "600"]
        return self.lab.popen_in("client", argv, stdout=subprocess.DEVNULL)


class Symnas(Site):
    server = VIP
    pseudo = f"/{EXPORT}"
    url = f"nfs://{VIP}/{EXPORT}"

    def start(self):
        self.lab.up(HEADS, LUNS, LUN_SIZE)
        Service(self.lab).create()

    def secure(self, flavor):
        return Secured(self.lab, flavor)

    def path(self, _version):
        return self.pseudo

    def check(self):
        """A finding is told of the case that has made the file."""
        try:
            self.lab.symnas()("fs", "check", EXPORT, timeout_s=CHECK_MAX_S)
            return ["ok fs_check"]
        except product.CommandFailed as failed:
            lines = failed.output.strip().splitlines()
            found = [FINDING.match(line) for line in lines]
            if len(lines) == 1 or not all(found[:-1]):  # the last line counts the findings
                return [f"not ok fs_check: {' '.join(failed.output.split())}"]
            return [f"not ok fs_check.{one[1]}: {one[0]}" for one in found[:-1]]

    def move(self, number):
        """Moves the VNFS to another head, in turn; number: 1, 2, ..."""
        names = [head["name"] for head in self.lab.state.data["heads"]]
        self.lab.symnas()("vnfs", "rehost", VNFS, names[number % len(names)],
                          timeout_s=MOVE_MAX_S)


class Vfs(Site):
    server = peer.ADDRESS
    pseudo = "/bench"

    @property
    def url(self):
        return self.peer.url

    def start(self):
        self.lab.up(1, 0)  # its networks are what is needed
        self.peer = peer.Peer(self.lab, PEER_BYTES, PEER_MEMORY_BYTES, peer.THREADS)
        self.peer.start()
        self.peer.start_statd()

    def path(self, version):
        return self.peer.mount_point if version == "v3" else self.pseudo

    def start_names(self):
        """Not over NFS: ganesha keeps a descriptor of each file that NFSv3 creates."""
        script = f"mkdir many && cd many && seq -f file%.0f {MANY_NAMES} | xargs touch"
        return subprocess.Popen(["sh", "-c", script], cwd=self.peer.mount_point)

    def close(self):
        if hasattr(self, "peer"):
            self.peer.close()
        super().close()


class Moves:
    """Moves the VNFS every so often while the body runs."""

    def __init__(self, site, every_s):
        self.site = site
        self.every_s = every_s
        self.done = 0
        self.error = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self.error and not self._over.wait(self.every_s):
            try:
                self.site.move(self.done + 1)
                self.done += 1
            except LabError as error:
                self.error = " ".join(str(error).split())

    def verdict(self):
        if self.error:
            return f"not ok moves: move {self.done + 1}: {self.error}"
        print(f"{self.done} moves", flush=True)
        return "ok moves" if self.done else "skip moves: the run was too short for one"


SITES = {"symnas": Symnas, "vfs": Vfs}
