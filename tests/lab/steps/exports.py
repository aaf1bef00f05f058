"""More exports beside the lab's, and a client that walks through all of them
(tests/client/nfs4_exports)."""

import contextlib
import os
import subprocess
import sys

import nfs_wire
from lab_case import check
from symlab.service import EXPORT, VNFS, wait_for_line

WALKER = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_exports")
CLIENTS = "10.0.0.0/24"
ELSEWHERE = "192.0.2.0/24"


def exported(bench, name):
    for one in bench.symnas.json("export", "ls")["exports"]:
        if one["name"] == name:
            return one
    return None


@contextlib.contextmanager
def another_export(bench, name, *words, clients=CLIENTS):
    """An export of the lab's filesystem, which the VNFS serves as well; words: more options."""
    bench.symnas("export", "create", name, "--fs", EXPORT, "--clients", clients, *words)
    try:
        bench.symnas("export", "add", name, "--vnfs", VNFS)
        yield
    finally:
        if exported(bench, name):
            bench.symnas("export", "rm", name, "--yes")


class Walker:
    """A client of nfs4_exports."""

    def __init__(self, bench):
        self.process = bench.lab.popen_in(
            "client", [sys.executable, WALKER, "--url", bench.service.url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_line(self.process, "ready")

    def __call__(self, *words):
        """(status, what follows it)."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        check(answer, f"nfs4_exports has ended: {words}")
        status, _, told = answer.partition(" ")
        return int(status), told

    def expect(self, wanted, *words, told=None):
        """The line is answered so; returns what follows the status."""
        status, answer = self(*words)
        check(status == wanted, f"{words} is answered {status} {answer}, should be {wanted}")
        check(told is None or answer == told, f"{words} is answered {answer}, should be {told}")
        return answer

    def names(self, path):
        """{name: (inode, inode that it is mounted on)} of a directory."""
        return {name: (int(inode), int(below)) for name, inode, below in (
            entry.split(":") for entry in self.expect(0, "list", path).split())}


@contextlib.contextmanager
def walker(bench):
    client = Walker(bench)
    try:
        yield client
    finally:
        client.process.kill()
        client.process.communicate()
