"""The status with which a server answers one request: of MOUNT, NFSv3, NFSv4 and NLM, as numbers.

Thread class: confined to one thread.
"""

import socket
import struct

import nfs4_client
import nfs_wire as wire
from nfs4_wire import GETATTR, GETFH, LOOKUP, PUTFH, Refused, XdrReader, opaque, u32, u64
from nfs_wire import sattr3, text

CREATE, LINK, READDIR, REMOVE, RENAME, SAVEFH, SETATTR, SEEK = 6, 11, 26, 28, 29, 32, 34, 69
DIRECTORY = 2
SIZE_BIT, MODE_BIT_WORD1 = 1 << 4, 1 << 1
NLM, NLM_VERSION, NLM_PORT = 100021, 4, 32803
NLM_LOCK, NLM_UNLOCK, NLM_FREE_ALL = 2, 4, 23
READDIR3 = 16


def mnt(address, path):
    """(status, handle) of MNT."""
    portmapper = wire.Connection(address, 111)
    port = portmapper.ask(wire.call(1, wire.PORTMAPPER, 2, 3, u32(wire.MOUNT, 3, 6, 0))).u32()
    portmapper.close()
    mountd = wire.Connection(address, port)
    reply = mountd.ask(wire.call(2, wire.MOUNT, 3, 1, text(path)))
    mountd.close()
    status = reply.u32()
    return status, reply.opaque() if status == wire.OK else b""


class V3:
    """NFSv3 on one connection."""

    def __init__(self, address, root):
        self.connection = wire.Connection(address)
        self.root = root
        self.xid = 0x3E550000
        self.uid = 0

    def act_as(self, uid):
        """Whose requests they are from now on; at first root's."""
        self.uid = uid

    def ask(self, procedure, arguments):
        self.xid += 1
        return self.connection.ask(wire.call(self.xid, wire.NFS, 3, procedure, arguments, self.uid))

    def handle(self, name, at=None):
        return wire.made(wire.LOOKUP, self.ask(wire.LOOKUP, opaque(at or self.root) + text(name)))

    def make(self, procedure, name, at=None):
        """(status, handle) of CREATE or MKDIR."""
        how = u32(wire.UNCHECKED) if procedure == wire.CREATE else b""
        mode = 0o644 if procedure == wire.CREATE else 0o755
        return wire.made(procedure, self.ask(procedure, opaque(at or self.root) + text(name) + how
                                             + sattr3(mode=mode)))

    def remove(self, procedure, name, at=None):
        return self.ask(procedure, opaque(at or self.root) + text(name)).u32()

    def rename(self, name, to, to_dir=None):
        return self.ask(wire.RENAME, opaque(self.root) + text(name)
                        + opaque(to_dir or self.root) + text(to)).u32()

    def link(self, file, name):
        return self.ask(wire.LINK, opaque(file) + opaque(self.root) + text(name)).u32()

    def setattr(self, handle, **what):
        return self.ask(wire.SETATTR, opaque(handle) + sattr3(**what) + u32(0)).u32()

    def getattr(self, handle):
        return self.ask(wire.GETATTR, opaque(handle)).u32()

    def readdir(self, handle, cookie):
        return self.ask(READDIR3, opaque(handle) + u64(cookie) + bytes(8) + u32(4096)).u32()


class V4:
    """NFSv4.`minor`; operations are sent once, whatever the answer is."""

    def __init__(self, address, export, minor):
        self.client = nfs4_client.Client(address, export, minor)
        self.root = self.client.root

    def act_as(self, uid):
        self.client.connection.act_as(uid, 0)

    def _status(self, *operations):
        try:
            self.client.once(*((number, arguments, _PARSERS.get(number))
                                for number, arguments in operations))
        except Refused as refused:
            return refused.status
        return wire.OK

    def handle(self, name, at=None):
        try:
            found = self.client.once((PUTFH, opaque(at or self.root), None),
                                     (LOOKUP, opaque(name), None),
                                     (GETFH, b"", XdrReader.opaque))
        except Refused as refused:
            return refused.status, b""
        return wire.OK, found[-1]

    def make(self, procedure, name, at=None):
        """As of V3; files are made by other means."""
        assert procedure == wire.MKDIR
        return self._status((PUTFH, opaque(at or self.root)),
                            (CREATE, u32(DIRECTORY) + opaque(name) + u32(0, 0))), b""

    def remove(self, _, name, at=None):
        return self._status((PUTFH, opaque(at or self.root)), (REMOVE, opaque(name)))

    def rename(self, name, to, to_dir=None):
        return self._status((PUTFH, opaque(self.root)), (SAVEFH, b""),
                            (PUTFH, opaque(to_dir or self.root)),
                            (RENAME, opaque(name) + opaque(to)))

    def link(self, file, name):
        return self._status((PUTFH, opaque(file)), (SAVEFH, b""), (PUTFH, opaque(self.root)),
                            (LINK, opaque(name)))

    def setattr(self, handle, mode=None, size=None):
        if size is not None:
            attributes = u32(1, SIZE_BIT) + opaque(u64(size))
        else:
            attributes = u32(2, 0, MODE_BIT_WORD1) + opaque(u32(mode))
        return self._status((PUTFH, opaque(handle)), (SETATTR, bytes(16) + attributes))

    def getattr(self, handle):
        return self._status((PUTFH, opaque(handle)), (GETATTR, u32(1, SIZE_BIT)))

    def readdir(self, handle, cookie):
        return self._status((PUTFH, opaque(handle)),
                            (READDIR, u64(cookie) + bytes(8) + u32(4096, 4096, 0)))

    def seek(self, handle):
        return self._status((PUTFH, opaque(handle)), (SEEK, bytes(16) + u64(0) + u32(0)))

    def lock(self, start, length):
        """Of the file that client.open() has opened."""
        try:
            self.client.held = self.client.once(
                self.client._here(), self.client._lock(start, length, 2))[1]
        except Refused as refused:
            return refused.status
        return wire.OK


def _skip_bitmap(answer):
    answer.bitmap()


_PARSERS = {
    GETATTR: lambda a: (a.bitmap(), a.opaque()), SETATTR: _skip_bitmap,
    CREATE: lambda a: (a.take(20), a.bitmap()), REMOVE: lambda a: a.take(20),
    RENAME: lambda a: a.take(40), LINK: lambda a: a.take(20)}


class Nlm:
    """A lock manager that sends from a port below 1024, and is never called back."""

    def __init__(self, address, name="statuses", state=1):
        self.name = name
        self.state = state
        self.socket = socket.socket()
        self.socket.settimeout(30.0)
        for port in range(950, 800, -1):
            try:
                self.socket.bind(("", port))
                break
            except OSError:
                continue
        self.socket.connect((address, NLM_PORT))

    def _ask(self, procedure, arguments):
        message = wire.call(77, NLM, NLM_VERSION, procedure, arguments)
        self.socket.sendall(u32(1 << 31 | len(message)) + message)
        reply = wire.Reader(self._receive(struct.unpack(">I", self._receive(4))[0] & 0x7FFFFFFF))
        for _ in range(4):
            reply.u32()
        reply.opaque()
        if reply.u32() != 0:
            raise ConnectionError("the call was not accepted")
        return reply

    def _receive(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the server has closed the connection")
            data += more
        return data

    def _lock(self, handle, svid, start, length):
        return (text(self.name) + opaque(handle) + text(f"{svid}@{self.name}") + u32(svid)
                + u64(start, length))

    def lock(self, handle, start, length, svid=1):
        reply = self._ask(NLM_LOCK, text("c") + u32(0, 1) + self._lock(handle, svid, start, length)
                          + u32(0, self.state))
        reply.opaque()
        return reply.u32()

    def unlock(self, handle, start, length, svid=1):
        reply = self._ask(NLM_UNLOCK, text("c") + self._lock(handle, svid, start, length))
        reply.opaque()
        return reply.u32()

    def free_all(self):
        self._ask(NLM_FREE_ALL, text(self.name) + u32(self.state))

    def close(self):
        self.socket.close()
