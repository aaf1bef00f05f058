"""A VNFS with four VIPs, a database host with four addresses, and dnfs_client between them
(tests/workloads/dnfs): jobs, results, and paths on which packets vanish."""

import contextlib
import json
import os
import subprocess
import tempfile

from lab_case import check
from symlab import netns, product
from symlab.service import EXPORT

VNFS = "ora"
VIPS = tuple(f"10.0.0.{number}" for number in range(111, 115))
LOCALS = tuple(f"10.0.0.{number}" for number in range(211, 215))
NOBODY = "10.0.0.250"
DEVICE = "eth1"
TABLE = "symnas_dnfs"
SEGMENTS = 65535  # what a device takes at once, unless it is told less
BLOCK = 8192
MIB = 1 << 20
IO_MS = 1500  # a path without an answer so long has failed
CLIENT_S = 120.0
WORDS = ("--io-timeout-ms", IO_MS, "--connect-timeout-ms", 5000, "--retry-max-ms", 2000)


@contextlib.contextmanager
def oracle_vnfs(bench):
    """VNFS `ora` on the export of the first, and the host's addresses; gone afterwards."""
    space = bench.lab.space_of("client")
    with contextlib.ExitStack() as stack:
        for address in LOCALS:
            netns.ip("addr", "add", f"{address}/24", "dev", DEVICE, netns=space)
            stack.callback(netns.ip, "addr", "del", f"{address}/24", "dev", DEVICE, netns=space)
        bench.symnas("vnfs", "create", VNFS, "--vip", ",".join(f"{vip}/24" for vip in VIPS),
                     "--network", "nfs0", "--exports", EXPORT, "--heads", "c1n1")
        stack.callback(bench.symnas, "vnfs", "rm", VNFS, "--yes")
        stack.callback(bench.symnas, "vnfs", "stop", VNFS)
        bench.service.wait_serving(VNFS)
        yield


def table(paths, more=()):
    """An oranfstab: line 1 the server, then two lines for each path (local address, VIP)."""
    lines = ["server: ora"]
    for local, vip in paths:
        lines += [f"local: {local}", f"path: {vip}"]
    return "\n".join([*lines, *more, f"export: /{EXPORT} mount: /mnt/{EXPORT}", ""])


def line_of(path):
    """The line in which table() has the path's VIP; the first path is 0."""
    return 3 + 2 * path


def pairs(count):
    return list(zip(LOCALS, VIPS, strict=True))[:count]


def thread(name, mode, mib=16, **members):
    return {"name": name, "file": f"/{EXPORT}/dnfs_{name}", "mode": mode, "block_bytes": BLOCK,
            "depth": 8, "size_bytes": mib * MIB, **members}


OLTP = (thread("dbwr", "mix"), thread("lgwr", "seqwrite", 4, depth=1))


class Run:
    """A dnfs_client under way in the client's namespace."""

    def __init__(self, bench, text, threads, seconds, *words):
        self.folder = tempfile.TemporaryDirectory(prefix="symnas_dnfs_")
        self._write("oranfstab", text)
        self._write("job", json.dumps({"threads": list(threads), "seconds": seconds}))
        self.process = bench.lab.popen_in(
            "client", [product.program("dnfs_client"), "--oranfstab", self.path("oranfstab"),
                       "--job", self.path("job"), "--out", self.path("result"),
                       *map(str, WORDS), *map(str, words)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.status, self.said, self.result = None, "", None

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def _write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def finish(self):
        """Waits for its end; `status`, `said` (standard error), `result` (None: there is none)."""
        _, self.said = self.process.communicate(timeout=CLIENT_S)
        self.status = self.process.returncode
        if os.path.exists(self.path("result")):
            with open(self.path("result"), encoding="ascii") as file:
                self.result = json.load(file)
        return self

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.folder.cleanup()

    def paths(self):
        return self.result["paths"]

    def longest_us(self):
        return max(one["latency_us"]["max"] for one in self.result["threads"])

    def check_clean(self):
        """No error, nothing corrupt, and every thread did something."""
        check(self.status == 0 and self.result, f"dnfs_client ended with {self.status}: {self.said}"
              f"{self.result and [one['findings'] for one in self.result['threads']]}")
        for one in self.result["threads"]:
            check(one["errors"] == one["corrupt"] == 0 and one["ops"] > 0, f"{one}")
        return self

    def check_said(self, line, *words):
        """Standard error names that line of the oranfstab, with these words."""
        check(any(f"line {line}:" in said and all(word in said for word in words)
                  for said in self.said.splitlines()),
              f"nothing about line {line} with {words} in: {self.said}")


@contextlib.contextmanager
def running(bench, text, threads=OLTP, seconds=8, words=()):
    """A Run, killed and removed in the end; the body finishes it."""
    run = Run(bench, text, threads, seconds, *words)
    try:
        yield run
    finally:
        run.close()


def run_whole(bench, text, threads=OLTP, seconds=8, words=()):
    with running(bench, text, threads, seconds, words) as run:
        return run.finish()


@contextlib.contextmanager
def vanishing(bench, vips, longer_than=0):
    """Packets of the host to these VIPs that are longer than so many bytes vanish. The kernel hands
    a rule several segments as one, unless the device takes no more than one."""
    space = bench.lab.space_of("client")
    if longer_than:
        netns.ip("link", "set", "dev", DEVICE, "gso_max_segs", 1, netns=space)
    length = f"meta length > {longer_than} " if longer_than else ""
    rules = " ".join(f"ip daddr {vip} {length}drop;" for vip in vips)
    with netns.entered(bench.lab.space_of("client")):
        chain = f"chain out {{ type filter hook output priority 0; {rules} }}"
        subprocess.run(["nft", "-f", "-"], text=True, check=True,
                       input=f"table inet {TABLE} {{ {chain}; }}\n")
    try:
        yield
    finally:
        with netns.entered(bench.lab.space_of("client")):
            subprocess.run(["nft", "delete", "table", "inet", TABLE], check=True)
        if longer_than:
            netns.ip("link", "set", "dev", DEVICE, "gso_max_segs", SEGMENTS, netns=space)


def symnas_there(bench, *words):
    """symnas on the database host, with the socket of the head; (status, document)."""
    argv = [product.program("symnas"), "--socket", bench.symnas.socket_path, *words, "-o", "json"]
    done = bench.lab.popen_in("client", argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    out, said = done.communicate(timeout=CLIENT_S)
    check(out, f"{words} ended with {done.returncode}: {said}")
    return done.returncode, json.loads(out)


__all__ = ["BLOCK", "IO_MS", "LOCALS", "NOBODY", "OLTP", "VIPS", "VNFS", "line_of",
           "oracle_vnfs", "pairs", "run_whole", "running", "symnas_there", "table", "thread",
           "vanishing"]
