"""Directory trees with a quota, and a client of NFSv3 that fills them."""

import os

import nfs3_calls as v3
from lab_case import check
from rpc_wire import auth_sys, mount
from symlab.service import EXPORT, VIP
from symlab.wait import eventually

MARKED_S = 120.0


class Folders:
    """Directories and files through one head, as one user; the calling thread is in the client's
    network when this is made."""

    def __init__(self, service, uid=0):
        self.address = getattr(service, "vip", VIP)
        status, self.root = mount(self.address, "/" + EXPORT)
        check(status == 0, f"MNT of {EXPORT} at {self.address}: status {status}")
        self.nfs = v3.Nfs3(self.address)
        self.nfs.credential = auth_sys(uid, uid)

    def ok(self, answer):
        check(answer.status == "OK", f"answered {answer.status}")
        return answer

    def mkdir(self, name, directory=None):
        return self.ok(self.nfs.mkdir(directory or self.root, name.encode(), mode=0o777)).value

    def create(self, name, directory=None):
        return self.ok(self.nfs.create(directory or self.root, name.encode(), mode=0o666)).value

    def fill(self, directory, count, prefix="f"):
        """Files of one block."""
        for number in range(count):
            self.ok(self.nfs.write(self.create(f"{prefix}{number}", directory), b"x" * 4096))

    def entries(self, directory):
        """With attributes and handles."""
        cookie, verifier, found = 0, bytes(8), []
        while True:
            part = self.ok(self.nfs.readdirplus(directory, cookie, verifier, 32768, 65536)).value
            found += part.entries
            if part.eof:
                return [entry for entry in found if entry.name not in (b".", b"..")]
            cookie, verifier = found[-1].cookie, part.verifier

    def usage(self, directory):
        """(bytes, inodes) of all that lies in it, itself included."""
        used, inodes = 0, 1
        for entry in self.entries(directory):
            if entry.attributes.kind == v3.DIR:
                more = self.usage(entry.handle)
                used, inodes = used + more[0], inodes + more[1]
            else:
                used, inodes = used + entry.attributes.used, inodes + 1
        return used, inodes

    def remove_directory(self, parent, name):
        """With all that is in it."""
        directory = self.ok(self.nfs.lookup(parent, name)).value
        for entry in self.entries(directory):
            if entry.attributes.kind == v3.DIR:
                self.remove_directory(directory, entry.name)
            else:
                self.ok(self.nfs.remove(directory, entry.name))
        self.ok(self.nfs.rmdir(parent, name))


def trees(bench):
    """{path: row}"""
    rows = bench.symnas.json("quota", "tree", "ls", EXPORT)["quotas"]
    return {row["path"]: row for row in rows}


def add_tree(bench, path):
    """The tree's row when all in it is marked."""
    bench.symnas("quota", "tree", "add", EXPORT, path)
    return wait_marked(bench, path)


def wait_marked(bench, path):
    def found():
        row = trees(bench)[path]
        return None if row["marking"] else row
    return eventually(MARKED_S, f"{path} is marked", found)


def heads_that_marked(bench, path):
    """Heads whose log says that the tree is marked."""
    heads = []
    for log in bench.logs():
        with open(log, encoding="utf-8", errors="replace") as file:
            if any(f"({path}) is marked" in line for line in file):
                heads.append(os.path.relpath(log, os.path.join(bench.lab.directory, "heads"))
                             .split(os.sep)[0])
    return heads
