"""Calls of ONC RPC as bytes, over UDP and TCP, and what they cost the instance (RFC 5531)."""

import contextlib
import os
import socket
import struct

from lab_case import check
from symlab import netns
from symlab.service import VIP, VNFS

NFS, MOUNT, NLM, RQUOTA = 100003, 100005, 100021, 100011
NFS_PORT, MOUNT_PORT, NLM_PORT, RQUOTA_PORT = 2049, 20048, 32803, 875
LAST_FRAGMENT = 0x80000000
NULL_REPLY_BYTES = 24  # without a verifier, over UDP
ANSWER_S = 5.0
DATAGRAM_MAX = 65536
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def call(program, version, procedure=0, arguments=b"", xid=0x5E55):
    """A call without credential and verifier; procedure 0 is NULL."""
    return struct.pack(">IIIIII16x", xid, 0, 2, program, version, procedure) + arguments


def record(message, mark=LAST_FRAGMENT):
    """As a fragment of a stream; mark 0: it is not the last one of its record."""
    return struct.pack(">I", mark | len(message)) + message


@contextlib.contextmanager
def from_client(bench):
    """The calling thread is in the client's network."""
    with netns.entered(bench.lab.space_of("client")):
        yield


def ask_by_datagram(message, address=VIP, port=MOUNT_PORT):
    """The reply, from that very address and port; None: there was none."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.settimeout(ANSWER_S)
        asking.connect((address, port))
        try:
            asking.send(message)
            return asking.recv(DATAGRAM_MAX)
        except OSError:
            return None


def connected(port=NFS_PORT, address=VIP):
    return socket.create_connection((address, port), ANSWER_S)


def ask_by_stream(message, port=NFS_PORT, address=VIP):
    """The reply over a connection of its own; None: there was none in time."""
    try:
        with connected(port, address) as stream:
            stream.sendall(record(message))
            size, = struct.unpack(">I", stream.recv(4, socket.MSG_WAITALL))
            return stream.recv(size & ~LAST_FRAGMENT, socket.MSG_WAITALL)
    except (OSError, struct.error):
        return None


def check_answers(when):
    """NFS answers over TCP, MOUNT over both."""
    check(ask_by_stream(call(NFS, 3)), f"{when}: NFS does not answer over TCP")
    check(ask_by_stream(call(MOUNT, 3), MOUNT_PORT), f"{when}: MOUNT does not answer over TCP")
    check(ask_by_datagram(call(MOUNT, 3)), f"{when}: MOUNT does not answer over UDP")


class Cost:
    """What an instance has used and written since the object was made."""

    def __init__(self, bench, vnfs=VNFS):
        self.pid = bench.service.serving(vnfs)["pid"]
        self.log, = [path for path in bench.logs() if os.path.basename(path) == f"{vnfs}.log"]
        self._before = self._cpu_s(), self._lines(), self._memory_bytes(), self.descriptors()

    def _cpu_s(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def _lines(self):
        with open(self.log, "rb") as file:
            return sum(1 for _ in file)

    def _memory_bytes(self):
        with open(f"/proc/{self.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    @property
    def cpu_s(self):
        return self._cpu_s() - self._before[0]

    @property
    def lines(self):
        return self._lines() - self._before[1]

    @property
    def memory_bytes(self):
        return self._memory_bytes() - self._before[2]

    @property
    def more_descriptors(self):
        return self.descriptors() - self._before[3]
