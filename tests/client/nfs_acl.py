"""ACLs as bytes: FATTR4_ACL of NFSv4 (RFC 8881 section 6.2.1) and NFSACL, which Linux and Solaris
have beside NFSv3 (program 100227 on the port of NFS).

Thread class: pure functions, and one connection each.
"""

import nfs_wire
from nfs4_owners import Owners
from nfs4_wire import GETATTR, LOOKUP, OK, PUTFH, SETATTR, Refused, opaque
from nfs_wire import Reader, text, u32

NFSACL, GETACL, SETACL = 100227, 1, 2
ACCESS, DEFAULT = 1, 4  # of the mask
DEFAULT_TAG = 0x1000
USER_OBJECT, USER, GROUP_OBJECT, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
ALLOW, DENY, AUDIT = 0, 1, 2
FILE_INHERIT, DIRECTORY_INHERIT, INHERIT_ONLY, OF_GROUP = 1, 2, 8, 0x40
_ACL_BIT, _MODE_BIT = 1 << 12, 1 << 1  # of the first and the second word
_ANONYMOUS = b"\0" * 16


class Nfs3:
    """An NFSv3 client that has an export mounted."""

    def __init__(self, address, export):
        self.root = nfs_wire.mount(address, export)
        self.connection = nfs_wire.Connection(address)
        self.xid = 1000
        self.uid = 0

    def ask(self, procedure, arguments, program=nfs_wire.NFS):
        self.xid += 1
        return self.connection.ask(
            nfs_wire.call(self.xid, program, 3, procedure, arguments, self.uid))

    def status(self, procedure, arguments):
        return self.ask(procedure, arguments).u32()

    def make(self, procedure, parent, name, mode):
        how = u32(nfs_wire.UNCHECKED) if procedure == nfs_wire.CREATE else b""
        arguments = opaque(parent) + text(name) + how + nfs_wire.sattr3(mode=mode)
        status, handle = nfs_wire.made(procedure, self.ask(procedure, arguments))
        if status != OK:
            raise Refused(procedure, status)
        return handle

    def mode(self, handle):
        reply = self.ask(nfs_wire.GETATTR, opaque(handle))
        reply.u32(), reply.u32()
        return reply.u32() & 0o7777

    def chmod(self, handle, mode):
        return self.status(nfs_wire.SETATTR, opaque(handle) + nfs_wire.sattr3(mode=mode) + u32(0))

    def set_acls(self, handle, access=None, default=None):
        """Sets what is given: [(tag, id, rights)]. Returns the status."""
        mask = (ACCESS if access is not None else 0) | (DEFAULT if default is not None else 0)
        return self.ask(SETACL, opaque(handle) + u32(mask) + _entries(access or [])
                        + _entries(default or [], DEFAULT_TAG), NFSACL).u32()

    def acls(self, handle):
        """(access, default): [(tag, id, rights)] without the ids of owner and group, or a
        status."""
        reply = self.ask(GETACL, opaque(handle) + u32(ACCESS | DEFAULT), NFSACL)
        status = reply.u32()
        if status != OK:
            return status
        if reply.u32():
            reply.take(nfs_wire.FATTR3_BYTES)
        reply.u32()
        return _read_entries(reply), _read_entries(reply)


def _entries(acl, tag=0):
    return u32(len(acl), len(acl)) + b"".join(u32(kind | tag, who, rights)
                                              for kind, who, rights in acl)


def _read_entries(reply):
    reply.u32()
    found = []
    for _ in range(reply.u32()):
        tag, who, rights = reply.u32() & ~DEFAULT_TAG, reply.u32(), reply.u32()
        found.append((tag, who if tag in (USER, GROUP) else 0, rights))
    return found


class Nfs4(Owners):
    """An NFSv4 client; `handle`s are those that `find` returns."""

    def find(self, *names):
        return self._ask(lambda: [(PUTFH, opaque(self.root), None),
                                  *((LOOKUP, text(name), None) for name in names),
                                  (10, b"", lambda answer: answer.opaque())])[-1]

    def acl(self, handle):
        """[(type, flags, mask, who)] of a file, and its mode."""
        def parse(answer):
            answer.bitmap()
            values = Reader(answer.opaque())
            aces = [(values.u32(), values.u32(), values.u32(), values.opaque().decode())
                    for _ in range(values.u32())]
            return aces, values.u32()
        return self._ask(lambda: [(PUTFH, opaque(handle), None),
                                  (GETATTR, u32(2, _ACL_BIT, _MODE_BIT), parse)])[-1]

    def set_acl(self, handle, aces):
        """Sets [(type, flags, mask, who)]. Returns the status."""
        values = u32(len(aces)) + b"".join(u32(*ace[:3]) + text(ace[3]) for ace in aces)
        arguments = _ANONYMOUS + u32(1, _ACL_BIT) + opaque(values)
        try:
            self._ask(lambda: [(PUTFH, opaque(handle), None), (SETATTR, arguments, None)])
        except Refused as refused:
            return refused.status
        return OK
