"""Database nodes: processes of dnfs_client, each with an oranfstab, a job and a result of its own.

A node reaches its server by one path or several; Results is what all nodes of a run have said.
"""

import contextlib
import dataclasses
import json
import os
import subprocess
from statistics import mean, median

from symlab import product
from symlab.errors import LabError

PROGRAM = "dnfs_client"
BEGIN_S, END_S = 60.0, 120.0  # beyond the seconds of a job: to mount, and to wait for answers
ERROR_TEXT = 2000
SIGKILLED = -9


@dataclasses.dataclass(frozen=True)
class Server:
    """What an oranfstab says of a server: paths (local address, VIP), and its exports, each mounted
    where its name says."""

    name: str
    paths: tuple
    exports: tuple

    def lines(self):
        pairs = [line for local, vip in self.paths for line in (f"local: {local}", f"path: {vip}")]
        exports = [f"export: /{export} mount: /{export}" for export in self.exports]
        return [f"server: {self.name}", *pairs, *exports, "nfs_version: nfsv3", ""]


class Node:
    """One database node. threads: of a job, as dnfs_client's README describes them."""

    def __init__(self, site, name, server, threads, where="client"):
        self.lab, self.name, self.where, self.threads = site.lab, name, where, threads
        self.server = server
        folder = site.folder
        self.oranfstab = os.path.join(folder, f"{name}.oranfstab")
        self.job = os.path.join(folder, f"{name}.job.json")
        self.out = os.path.join(folder, f"{name}.result.json")
        self.log = os.path.join(folder, f"{name}.log")
        self.process = None

    def start(self, seconds, words=()):
        with open(self.oranfstab, "w", encoding="ascii") as file:
            file.write("\n".join(self.server.lines()))
        with open(self.job, "w", encoding="ascii") as file:
            json.dump({"threads": self.threads, "seconds": seconds}, file, indent=1)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.out)
        argv = [product.program(PROGRAM), "--oranfstab", self.oranfstab, "--job", self.job,
                "--out", self.out, "--seconds", str(seconds), *words]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = self.lab.popen_in(self.where, argv, stdout=log, stderr=log,
                                             stdin=subprocess.DEVNULL)

    def finish(self, timeout_s):
        """Its result. LabError: it failed, or has not ended in time."""
        try:
            status = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{PROGRAM} of {self.name} has not ended after {timeout_s:g} s: see "
                           f"{self.log}") from error
        # What it found is in the result, too; without one it could not begin.
        if not os.path.exists(self.out):
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise LabError(f"{PROGRAM} of {self.name} ended with {status}: "
                               f"{log.read()[-ERROR_TEXT:].strip()}")
        with open(self.out, encoding="utf-8") as file:
            return json.load(file)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Results:
    """What the nodes of one run have said."""

    def __init__(self, nodes, documents):
        self.by_node = {node.name: document
                        for node, document in zip(nodes, documents, strict=True)}

    def threads(self, beginning=""):
        """Results of the threads whose names begin so."""
        return [thread for document in self.by_node.values() for thread in document["threads"]
                if thread["name"].startswith(beginning)]

    def total(self, key, beginning=""):
        return sum(thread[key] for thread in self.threads(beginning))

    def seconds(self, key, beginning=""):
        """{second: sum of all threads}, of every second between the first and the last."""
        seen = {}
        for thread in self.threads(beginning):
            for second in thread["per_second"]:
                at = int(second["t"])
                seen[at] = seen.get(at, 0) + second[key]
        return {at: seen.get(at, 0) for at in range(min(seen), max(seen) + 1)} if seen else {}

    def rate(self, key, beginning=""):
        """What all threads did per second, in the seconds in which every node was at work: without
        the first and the last, in which some began or ended."""
        spans = [[int(second["t"]) for thread in document["threads"]
                  for second in thread["per_second"] if thread["name"].startswith(beginning)]
                 for document in self.by_node.values()]
        spans = [span for span in spans if span]
        begin, end = max(min(span) for span in spans), min(max(span) for span in spans)
        inside = [value for at, value in self.seconds(key, beginning).items() if begin < at < end]
        if not inside:
            raise LabError(f"the nodes were not at work together for three seconds: {spans}")
        return mean(inside)

    def mib_per_s(self, beginning=""):
        return self.rate("bytes", beginning) / (1 << 20)

    def latency(self, share, beginning=""):
        """In microseconds: the median of the threads' for p50, else that of the worst thread."""
        values = [thread["latency_us"][share] for thread in self.threads(beginning)]
        return median(values) if share == "p50" else max(values)

    def longest_us(self, beginning=""):
        """The longest a request of these threads took."""
        return max(thread["latency_us"]["max"] for thread in self.threads(beginning))

    def paths(self):
        """{VIP: bytes of all nodes}."""
        seen = {}
        for document in self.by_node.values():
            for path in document["paths"]:
                seen[path["path"]] = seen.get(path["path"], 0) + path["bytes"]
        return seen

    def path_total(self, key):
        return sum(path[key] for document in self.by_node.values() for path in document["paths"])


def run(nodes, seconds, meanwhile=None, words=()):
    """Has all nodes work at once; calls meanwhile() when they have begun. Returns their Results."""
    try:
        for node in nodes:
            node.start(seconds, words)
        if meanwhile:
            meanwhile()
        return Results(nodes, [node.finish(BEGIN_S + seconds + END_S) for node in nodes])
    finally:
        for node in nodes:
            node.kill()
