"""What counting load costs an instance: its hook is taken away from the running process and put
back. The product has no such switch."""

import contextlib
import os
import re
import struct
import subprocess

from symlab.errors import LabError

LIBRARY = "libganesha_nfsd.so"
HOOK = "nfs_after_op"  # deploy/ganesha/patches/hooks/0142-after-an-operation.patch


def _library(pid):
    """(path, address) at which the instance has mapped ganesha's library."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            if re.search(rf"{re.escape(LIBRARY)}[.\d]*$", line.strip()):
                words = line.split()
                return words[-1], int(words[0].split("-")[0], 16) - int(words[2], 16)
    raise LabError(f"process {pid} has no {LIBRARY}")


def _address(pid):
    path, base = _library(pid)
    symbols = subprocess.run(["nm", "-D", f"/proc/{pid}/root{path}"], capture_output=True,
                             text=True, check=True).stdout
    for line in symbols.splitlines():
        words = line.split()
        if words[-1].split("@")[0] == HOOK and len(words) == 3:
            return base + int(words[0], 16)
    raise LabError(f"{path} has no {HOOK}")


@contextlib.contextmanager
def uncounted(pid):
    """Inside, the instance counts nothing."""
    at = _address(pid)
    memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    try:
        before = os.pread(memory, 8, at)
        if before == bytes(8):
            raise LabError(f"process {pid} counts nothing")
        os.pwrite(memory, struct.pack("Q", 0), at)
        try:
            yield
        finally:
            os.pwrite(memory, before, at)
    finally:
        os.close(memory)
