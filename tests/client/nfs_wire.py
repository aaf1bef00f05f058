"""ONC RPC, MOUNT 3, NFSv3 and NFSv4.0, as far as needed to send a request twice, byte for byte.

RFC 5531 (RPC), RFC 1833 (portmapper), RFC 1813 (MOUNT and NFSv3), RFC 7530 (NFSv4.0). Calls are
bytes; the caller chooses the xid.
"""

import socket
import struct

NFS_PORT = 2049
PORTMAPPER, NFS, MOUNT = 100000, 100003, 100005
AUTH_SYS = 1
OK, NOENT, EXIST = 0, 2, 17

(GETATTR, SETATTR, LOOKUP, WRITE, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME,
 LINK) = (1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15)
MAKING = (CREATE, MKDIR, SYMLINK, MKNOD)
UNCHECKED, GUARDED, EXCLUSIVE = 0, 1, 2
FIFO = 7
FATTR3_BYTES = 84


def u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def opaque(data):
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


def text(name):
    return opaque(name.encode())


def call(xid, program, version, procedure, arguments, uid=0):
    """A call message with AUTH_SYS."""
    credentials = u32(0) + text("resend") + u32(uid, uid, 0)
    return (u32(xid, 0, 2, program, version, procedure, AUTH_SYS) + opaque(credentials)
            + u32(0, 0) + arguments)


class Reader:
    """Reads XDR from the front."""

    def __init__(self, data):
        self.data = data

    def take(self, count):
        taken, self.data = self.data[:count], self.data[count:]
        if len(taken) != count:
            raise ValueError("the reply is cut off")
        return taken

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def opaque(self):
        size = self.u32()
        return self.take(size + -size % 4)[:size]


def sattr3(mode=None, size=None):
    def optional(value, kind):
        return u32(0) if value is None else u32(1) + struct.pack(kind, value)
    return optional(mode, ">I") + u32(0, 0) + optional(size, ">Q") + u32(0, 0)


class Connection:
    """One TCP connection; the replies come in the order of the calls, which are sent one by one."""

    def __init__(self, address, port=NFS_PORT, timeout_s=2.0):
        self.socket = socket.create_connection((address, port), timeout=timeout_s)
        self.socket.settimeout(20.0)

    def close(self):
        self.socket.close()

    def _receive(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the server has closed the connection")
            data += more
        return data

    def ask(self, message):
        """Sends a call and returns the results in its reply."""
        self.socket.sendall(u32(1 << 31 | len(message)) + message)
        size = struct.unpack(">I", self._receive(4))[0] & 0x7FFFFFFF
        reply = Reader(self._receive(size))
        xid, kind, accepted = reply.u32(), reply.u32(), reply.u32()
        if u32(xid) != message[:4] or kind != 1 or accepted != 0:
            raise ConnectionError(f"no answer to xid {message[:4].hex()}: {xid:08x} {accepted}")
        reply.u32(), reply.opaque()
        if reply.u32() != 0:
            raise ConnectionError("the call was not accepted")
        return reply


def mount(address, export):
    """The handle of an export's root."""
    portmapper = Connection(address, 111)
    port = portmapper.ask(call(1, PORTMAPPER, 2, 3, u32(MOUNT, 3, 6, 0))).u32()
    portmapper.close()
    mountd = Connection(address, port)
    reply = mountd.ask(call(2, MOUNT, 3, 1, text(export)))
    mountd.close()
    status = reply.u32()
    if status != OK:
        raise ConnectionError(f"MOUNT of {export}: {status}")
    return reply.opaque()


def made(procedure, reply):
    """(status, handle) of a reply of NFSv3; the handle is b"" when the reply has none."""
    status = reply.u32()
    if status != OK:
        return status, b""
    if procedure == LOOKUP:
        return status, reply.opaque()
    if procedure in MAKING and reply.u32():
        return status, reply.opaque()
    return status, b""


# --- NFSv4.0

OP4_CREATE, OP4_GETFH, OP4_LINK, OP4_LOOKUP, OP4_PUTROOTFH = 6, 10, 11, 15, 24
OP4_REMOVE, OP4_RENAME, OP4_SAVEFH = 28, 29, 32
_CHANGE_BYTES = 20
_RESULT_BYTES = {OP4_LINK: _CHANGE_BYTES, OP4_REMOVE: _CHANGE_BYTES, OP4_RENAME: 2 * _CHANGE_BYTES,
                 OP4_LOOKUP: 0, OP4_PUTROOTFH: 0, OP4_SAVEFH: 0}


def walk(path):
    """Operations that make the directory or file at `path` the current file handle."""
    return [u32(OP4_PUTROOTFH)] + [u32(OP4_LOOKUP) + text(part) for part in path]


def make_directory(name):
    return u32(OP4_CREATE, 2) + text(name) + u32(0, 0)


def compound(xid, operations):
    return call(xid, NFS, 4, 1, text("") + u32(0, len(operations)) + b"".join(operations))


def compound_results(reply):
    """[(operation, status, handle or b"")] of a COMPOUND's reply."""
    reply.u32(), reply.opaque()
    results = []
    for _ in range(reply.u32()):
        operation, status, handle = reply.u32(), reply.u32(), b""
        if status == OK and operation == OP4_GETFH:
            handle = reply.opaque()
        elif status == OK and operation == OP4_CREATE:
            reply.take(_CHANGE_BYTES)
            reply.take(4 * reply.u32())
        elif status == OK:
            reply.take(_RESULT_BYTES[operation])
        results.append((operation, status, handle))
    return results
