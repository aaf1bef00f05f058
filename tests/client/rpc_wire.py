"""ONC RPC over TCP (RFC 5531) as far as a test needs it: calls as bytes, and what was said of them.

Thread class: confined to one thread.
"""

import os
import socket

from nfs4_wire import Gone, XdrReader, opaque, receive_record, u32

ANSWER_S = 15.0
CALLS_MAX = 5000  # of one connection: a listing that never ends must not be followed for ever
_CALL, _REPLY = 0, 1

# What became of a call that was accepted (accept_stat), and of one that was denied.
ACCEPTED = {0: "SUCCESS", 1: "PROG_UNAVAIL", 2: "PROG_MISMATCH", 3: "PROC_UNAVAIL",
            4: "GARBAGE_ARGS", 5: "SYSTEM_ERR"}
DENIED = {0: "RPC_MISMATCH", 1: "AUTH_ERROR"}


class Rejected(Exception):
    """A call was not carried out. how: a name of ACCEPTED or DENIED; answer: the reader behind."""

    def __init__(self, how, answer):
        super().__init__(how)
        self.how = how
        self.answer = answer


def auth_sys(uid=0, gid=0, groups=(), machine="wire"):
    """A credential: flavour and body."""
    return u32(1) + opaque(u32(0) + opaque(machine) + u32(uid, gid, len(groups), *groups))


AUTH_NONE = u32(0, 0)


class Rpc:
    """One connection. `credential` is that of all calls from now on."""

    def __init__(self, address, port=2049, reserved=False, source=None):
        """reserved: from a port below 1024, as a mount protocol may want it. source: the client's
        address, if it has several."""
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.socket.settimeout(ANSWER_S)
        try:
            if reserved:
                self._bind_reserved()
            elif source:
                self.socket.bind((source, 0))
            self.socket.connect((address, port))
        except OSError as error:
            raise Gone(str(error)) from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.xid = int.from_bytes(os.urandom(4), "big")
        self.credential = auth_sys()
        self.calls = 0

    def _bind_reserved(self):
        for port in range(1022, 700, -1):
            try:
                self.socket.bind(("", port))
                return
            except OSError:
                continue

    def close(self):
        self.socket.close()

    def call(self, program, version, procedure, arguments):
        """Sends a call and returns the reader of its results. Errors: Rejected, Gone."""
        return self.answer_to(self.send(program, version, procedure, arguments))

    def send(self, program, version, procedure, arguments, xid=None, rpc_version=2):
        """Returns the call's xid. xid: that of a call that is sent again."""
        self.calls += 1
        if self.calls > CALLS_MAX:
            raise Gone(f"no end after {CALLS_MAX} calls")
        if xid is None:
            self.xid = xid = (self.xid + 1) & 0xFFFFFFFF
        message = u32(xid, _CALL, rpc_version, program, version, procedure) + self.credential
        self.send_record(message + AUTH_NONE + arguments)
        return xid

    def send_record(self, message):
        try:
            self.socket.sendall(u32(0x80000000 | len(message)) + message)
        except OSError as error:
            raise Gone(str(error)) from error

    def answer_to(self, xid):
        """Waits for the answer to a call; other messages, calls by the server too, are dropped."""
        while True:
            answer = XdrReader(receive_record(self.socket))
            if answer.u32() == xid and answer.u32() == _REPLY:
                break
        if answer.u32() != 0:
            raise Rejected(DENIED.get(answer.u32(), "?"), answer)
        answer.u32()
        answer.opaque()
        how = answer.u32()
        if how != 0:
            raise Rejected(ACCEPTED.get(how, f"accept_stat {how}"), answer)
        return answer


def port_of(address, program, version):
    """Where a program listens by the portmapper (RFC 1833); 0: nowhere."""
    portmapper = Rpc(address, 111)
    try:
        return portmapper.call(100000, 2, 3, u32(program, version, 6, 0)).u32()
    finally:
        portmapper.close()


def mount(address, path):
    """(status, handle) of MNT (RFC 1813 section 5.2.1)."""
    mountd = Rpc(address, port_of(address, 100005, 3), reserved=True)
    try:
        answer = mountd.call(100005, 3, 1, opaque(path))
    finally:
        mountd.close()
    status = answer.u32()
    return status, answer.opaque() if status == 0 else b""
