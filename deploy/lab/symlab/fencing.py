"""Fencing of a lab's heads: fence_agent's power switch and its refusal of I/O on the LUNs.

power: SIGKILL of everything on the head, then the proof that nothing of it reaches a LUN any more:
the byte of each of its instances is obtained on every LUN, through the inode that they had open.
lun: the LUN server refuses the head (EBADE, as after a reservation was preempted); its processes
go on. `unfence` brings the head back as a new incarnation, never as the old one.
"""

import contextlib
import errno
import fcntl
import os
import signal
import struct
import time

from . import fuse_luns, head_processes
from .errors import LabError

KINDS = ("power", "lun")
WAYS_TO_BREAK = ("", "fails", "hangs", "lies")  # ways to break what fences
STATUS_ON, STATUS_ERROR, STATUS_OFF = 0, 1, 2  # exit statuses of the action "status"
CUT_OFF = "cut_off"  # name of a file in a head's directory
OFD_WAIT_S = 20.0
_F_OFD_SETLK = 37  # linux/fcntl.h
_POLL_S = 0.05


def read_request(stream):
    """Reads the key=value lines of the fence-agents protocol; skips comments and blank lines."""
    request = {}
    for line in stream:
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            request[key.strip()] = value.strip()
    return request


def try_byte(path, byte):
    """Takes and releases the OFD write lock on one byte; False: somebody else has it."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        # struct flock: l_type, l_whence, l_start, l_len, l_pid
        fcntl.fcntl(fd, _F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, byte, 1, 0))
        return True
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise LabError(f"{path}: OFD lock of byte {byte}: {error.strerror}") from error
    finally:
        os.close(fd)


def obtain_byte(path, byte, wait_s=OFD_WAIT_S):
    """Waits for the byte. LabError: I/O of the killed instance keeps it."""
    deadline = time.monotonic() + wait_s
    while not try_byte(path, byte):
        if time.monotonic() > deadline:
            raise LabError(f"{path}: byte {byte} is still locked after {wait_s:g} s: I/O of the "
                           "killed instance is in flight")
        time.sleep(_POLL_S)


class Switch:
    """Cuts the heads of a lab off; it remembers this in a file per head, so several can be cut
    off."""

    def __init__(self, lab):
        self.lab = lab

    def _head(self, name):
        for head in self.lab.state.data["heads"]:
            if head["name"] == name:
                return head
        raise LabError(f"no head {name} in lab {self.lab.prefix}")

    def _memory(self, name):
        return os.path.join(self._head(name)["dir"], CUT_OFF)

    def _note(self, name, kind):
        path = self._memory(name)
        if kind:
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.write(kind)
            os.rename(path + ".new", path)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)

    def kind_of(self, name):
        """The way in which the head is cut off, or None."""
        try:
            with open(self._memory(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def status(self, name):
        return STATUS_OFF if self.kind_of(name) else STATUS_ON

    def off(self, name, kind, etcd=True):
        """Cuts the head off and returns the proof in one line. LabError: nothing is proved."""
        if kind == "power":
            proof = self._power_off(name, etcd)
        elif kind == "lun":
            fuse_luns.command(self.lab.state, "fence", "all", name)
            proof = f"every LUN refuses {name} with EBADE"
        else:
            raise LabError(f"fence kind {kind!r}: {' or '.join(KINDS)} is wanted")
        self._note(name, kind)
        return proof

    def _power_off(self, name, etcd):
        head = self._head(name)
        bytes_held = {vnfs: described["vnfs_id"]
                      for vnfs, (_, described) in head_processes.instances(head).items()}
        if etcd:
            killed = head_processes.lose_power(self.lab, name)
        else:
            killed = head_processes.end_kernel(self.lab, name, etcd=False)
        paths = [self._lun_path(head, lun) for lun in self.lab.state.data["luns"]]
        for path in paths:
            for byte in bytes_held.values():
                obtain_byte(path, byte)
        return (f"power of {name} is off: {killed} processes killed, OFD locks of "
                f"{len(bytes_held)} instances obtained on {len(paths)} LUNs")

    def _lun_path(self, head, lun):
        if self.lab.state.data["lun_kind"] == "fuse":
            return fuse_luns.view_path(head, lun["name"])
        return lun["path"]

    def on(self, name):
        """Lets the head boot again: nothing of its old incarnation runs or is refused any more.

        Its etcd member goes on, even if the head was paused and only its LUNs were fenced.
        """
        head = self._head(name)
        # This was proved when it was cut off; other heads' instances may hold the bytes since then.
        if self.kind_of(name) != "power":
            self._power_off(name, etcd=False)
        head_processes.signal_all(head_processes.of_head(self.lab, name), signal.SIGCONT)
        reserved = self.lab.state.data.get("reserved")  # there its next boot has to register
        if self.lab.state.data["lun_kind"] == "fuse" and not reserved:
            fuse_luns.command(self.lab.state, "unfence", "all", name)
        head_processes.set_cables(self.lab, name, "up")
        head_processes.write_boot_id(head["dir"])
        self._note(name, None)
