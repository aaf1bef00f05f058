"""Calls of NFSv4.0 and v4.1 as bytes, and their answers. Formats: RFC 5531, 7530, 8881.

Thread class: confined to one thread.
"""

import os
import socket
import struct

PORT = 2049
ANSWER_S = 10.0
AGAIN_S = 0.2  # wait after DELAY and GRACE
RECORD_MAX = 8 << 20

OK = 0
GRACE, DELAY, NO_GRACE = 10013, 10008, 10033
DENIED, RECLAIM_BAD = 10010, 10034
# Statuses that mean: the server has restarted, or has forgotten this client.
FORGOTTEN = {10022: "STALE_CLIENTID", 10023: "STALE_STATEID", 10025: "BAD_STATEID",
             10011: "EXPIRED", 10052: "BADSESSION", 10078: "DEADSESSION",
             10055: "CONN_NOT_BOUND_TO_SESSION", 10063: "SEQ_MISORDERED", 10026: "BAD_SEQID"}

(CLOSE, CREATE, GETATTR, GETFH, LOCK, LOCKU, LOOKUP, OPEN, OPEN_CONFIRM, OPEN_DOWNGRADE, PUTFH,
 PUTROOTFH, READ, SETATTR, SETCLIENTID, SETCLIENTID_CONFIRM, WRITE, EXCHANGE_ID, CREATE_SESSION,
 SEQUENCE, RECLAIM_COMPLETE) = (
     4, 6, 9, 10, 12, 14, 15, 18, 20, 21, 22, 24, 25, 34, 35, 36, 38, 42, 43, 53, 58)
_CONFIRM = 2  # OPEN4_RESULT_CONFIRM
_CALL = 0


class Gone(Exception):
    """The connection has ended, or an answer did not come in time."""


class Refused(Exception):
    """The status with which the server refused an operation. answer: what follows the status."""

    def __init__(self, op, status, answer=None):
        super().__init__(f"operation {op}: status {status}")
        self.op = op
        self.status = status
        self.answer = answer


def u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def u64(*values):
    return struct.pack(f">{len(values)}Q", *values)


def opaque(data):
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


class XdrReader:
    """Reads XDR."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise Gone(f"an answer of {len(self.data)} bytes is cut off")
        self.at += size
        return self.data[self.at - size:self.at]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.take(8))[0]

    def opaque(self):
        size = self.u32()
        data = self.take(size)
        self.take(-size % 4)
        return data

    def bitmap(self):
        for _ in range(self.u32()):
            self.u32()


def receive_record(connection):
    """The next record of a socket (RFC 5531 section 11). Raises Gone."""
    def receive(size):
        data = b""
        while len(data) < size:
            more = connection.recv(size - len(data))
            if not more:
                raise Gone("closed by the server")
            data += more
        return data

    record, last = b"", False
    try:
        while not last:
            mark = struct.unpack(">I", receive(4))[0]
            last = bool(mark & 0x80000000)
            if (mark & 0x7FFFFFFF) > RECORD_MAX:
                raise Gone(f"a record of {mark & 0x7FFFFFFF} bytes")
            record += receive(mark & 0x7FFFFFFF)
    except OSError as error:
        raise Gone(str(error) or type(error).__name__) from error
    return record


class Connection:
    """Calls of the COMPOUND procedure, one at a time."""

    def __init__(self, address, uid=0):
        self.xid = int.from_bytes(os.urandom(4), "big")
        try:
            self.socket = socket.create_connection((address, PORT))
        except OSError as error:
            raise Gone(str(error)) from error
        self.act_as(uid, uid)
        self.socket.settimeout(ANSWER_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def act_as(self, uid, gid, groups=()):
        """The caller of all calls from now on; a new connection's is uid."""
        self.credential = u32(0) + opaque("nfs4") + u32(uid, gid, len(groups), *groups)

    def close(self):
        self.socket.close()

    def compound(self, minor, operations):
        """operations: [(number, arguments)]. Returns the reader behind its count of results."""
        xid = self.send(minor, operations)
        while True:
            answered, answer = self.receive()
            if answered == xid:
                return answer

    def send(self, minor, operations, again=None):
        """Sends a call and returns its xid, which receive() returns with the answer. `again`: the
        xid of a call that is sent again."""
        if again is None:
            self.xid = (self.xid + 1) & 0xFFFFFFFF
        xid = self.xid if again is None else again
        call = u32(xid, 0, 2, 100003, 4, 1, 1) + opaque(self.credential) + u32(0, 0)
        call += opaque("") + u32(minor, len(operations))
        call += b"".join(u32(number) + arguments for number, arguments in operations)
        try:
            self.socket.sendall(u32(0x80000000 | len(call)) + call)
        except OSError as error:
            raise Gone(str(error)) from error
        return xid

    def ignore_call(self):
        """Waits for a call by the server. It is never answered."""
        message = self._message()
        message.u32()
        if message.u32() != _CALL:
            raise Gone("an answer to nothing")

    def _message(self):
        return XdrReader(receive_record(self.socket))

    def receive(self):
        """Returns (xid, the reader behind its count of results) of the next answer."""
        answer = self._message()
        xid = answer.u32()
        kind, state = answer.u32(), answer.u32()
        answer.u32()
        answer.opaque()  # verifier
        if kind != 1 or state != 0 or answer.u32() != 0:
            raise Gone("the call was not accepted")
        answer.u32()  # the status of the last operation is its own
        answer.opaque()
        answer.u32()
        return xid, answer


def expect_ok(answer):
    """Reads the head of an operation's result. Errors: Refused."""
    number, status = answer.u32(), answer.u32()
    if status != OK:
        raise Refused(number, status, answer)


def opened_stateid(answer):
    """The stateid of an OPEN, and whether it must be confirmed (v4.0)."""
    stateid = answer.take(16)
    answer.take(20)
    flags = answer.u32()
    answer.bitmap()
    if answer.u32() == 3 and answer.u32() in (1, 2):  # OPEN_DELEGATE_NONE_EXT
        answer.u32()
    return stateid, flags & _CONFIRM
