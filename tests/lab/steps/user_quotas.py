"""Quotas of users of a lab's filesystem: switched on meanwhile, and what is used."""

import contextlib

from symlab.service import EXPORT
from symlab.wait import eventually

COUNTED_S = 60.0


@contextlib.contextmanager
def counted(bench):
    """Usage of the shared filesystem is counted meanwhile; files that the test made are removed."""
    bench.symnas("quota", "on", EXPORT)
    eventually(COUNTED_S, "every inode is counted", lambda: state(bench) == "on")
    try:
        yield
    finally:
        bench.symnas("quota", "off", EXPORT)


def state(bench):
    return bench.symnas.json("quota", "ls", EXPORT)["state"]


def used(bench, uid):
    rows = bench.symnas.json("quota", "report", EXPORT)["quotas"]
    return next((row for row in rows if (row["kind"], row["id"]) == ("user", uid)),
                {"used_bytes": 0, "used_inodes": 0})


def file_of(shell, name, uid):
    """Makes a file of that user, whom the shell is from now on."""
    shell.expect("NFS3_OK", "create", name)
    shell.expect("NFS3_OK", "chown", name, uid)
    shell.expect("NFS3_OK", "as", uid)
