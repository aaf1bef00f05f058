"""Calls of NFSv3 (RFC 1813) and NFSACL as bytes, and their answers, decoded.

NFSACL has no RFC; its format is that of Linux' and Solaris' nfsacl_prot.x: program 100227, version
3, GETACL and SETACL.

Thread class: confined to one thread.
"""

import collections

from nfs4_status import name_of_v3
from nfs4_wire import opaque, u32, u64
from rpc_wire import Rpc

NFS, NFS_VERSION, NFSACL, NFSACL_VERSION = 100003, 3, 100227, 3
(NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE, MKDIR, SYMLINK, MKNOD,
 REMOVE, RMDIR, RENAME, LINK, READDIR, READDIRPLUS, FSSTAT, FSINFO, PATHCONF, COMMIT) = range(22)
REG, DIR, BLK, CHR, LNK, SOCK, FIFO = range(1, 8)
UNCHECKED, GUARDED, EXCLUSIVE = range(3)
UNSTABLE, DATA_SYNC, FILE_SYNC = range(3)
SERVER_TIME = (1,)

Attributes = collections.namedtuple(
    "Attributes", "kind mode nlink uid gid size used rdev fsid fileid atime mtime ctime")
Before = collections.namedtuple("Before", "size mtime ctime")
Wcc = collections.namedtuple("Wcc", "before after")
Entry = collections.namedtuple("Entry", "fileid name cookie attributes handle")
Listing = collections.namedtuple("Listing", "verifier entries eof")
Info = collections.namedtuple("Info", "rtmax rtpref rtmult wtmax wtpref wtmult dtpref maxfilesize "
                              "time_delta properties")
Stat = collections.namedtuple("Stat", "tbytes fbytes abytes tfiles ffiles afiles invarsec")
Conf = collections.namedtuple("Conf", "linkmax name_max no_trunc chown_restricted "
                              "case_insensitive case_preserving")
# status: its name; attributes: of the object, if the answer has them; wcc: one or two
Answer = collections.namedtuple("Answer", "status value attributes wcc", defaults=(None, None, ()))


def sattr(mode=None, uid=None, gid=None, size=None, atime=None, mtime=None):
    """A sattr3. A time: SERVER_TIME, or (seconds, nanoseconds)."""
    made = b"".join(u32(0) if value is None else u32(1, value) for value in (mode, uid, gid))
    made += u32(0) if size is None else u32(1) + u64(size)
    for time in (atime, mtime):
        made += u32(0) if time is None else u32(1) if time == SERVER_TIME else u32(2, *time)
    return made


def _time(reader):
    return reader.u32(), reader.u32()


def fattr(reader):
    return Attributes(*(reader.u32() for _ in range(5)), reader.u64(), reader.u64(),
                      (reader.u32(), reader.u32()), reader.u64(), reader.u64(), _time(reader),
                      _time(reader), _time(reader))


def _post(reader):
    return fattr(reader) if reader.u32() else None


def _wcc(reader):
    before = Before(reader.u64(), _time(reader), _time(reader)) if reader.u32() else None
    return Wcc(before, _post(reader))


def _listing(reader, plus):
    verifier, entries = reader.take(8), []
    while reader.u32():
        fileid, name, cookie = reader.u64(), reader.opaque(), reader.u64()
        attributes = _post(reader) if plus else None
        handle = reader.opaque() if plus and reader.u32() else None
        entries.append(Entry(fileid, name, cookie, attributes, handle))
    return Listing(verifier, entries, bool(reader.u32()))


def _made(reader, status):
    if status != "OK":
        return Answer(status, None, None, (_wcc(reader),))
    handle = reader.opaque() if reader.u32() else None
    return Answer(status, handle, _post(reader), (_wcc(reader),))


class Nfs3(Rpc):
    """A connection for NFSv3. Each function sends a call and returns its Answer."""

    def _ask(self, procedure, arguments):
        reader = self.call(NFS, NFS_VERSION, procedure, arguments)
        return name_of_v3(reader.u32()), reader

    def null(self):
        self.call(NFS, NFS_VERSION, NULL, b"")

    def getattr(self, handle):
        status, reader = self._ask(GETATTR, opaque(handle))
        return Answer(status, None, fattr(reader) if status == "OK" else None)

    def setattr(self, handle, guard=None, **what):
        guarded = u32(0) if guard is None else u32(1, *guard)
        status, reader = self._ask(SETATTR, opaque(handle) + sattr(**what) + guarded)
        return Answer(status, None, None, (_wcc(reader),))

    def lookup(self, directory, name):
        """wcc: the directory's attributes, as its `after`."""
        status, reader = self._ask(LOOKUP, opaque(directory) + opaque(name))
        handle = reader.opaque() if status == "OK" else None
        attributes = _post(reader) if status == "OK" else None
        return Answer(status, handle, attributes, (Wcc(None, _post(reader)),))

    def _read(self, procedure, arguments, value):
        status, reader = self._ask(procedure, arguments)
        attributes = _post(reader)
        return Answer(status, value(reader) if status == "OK" else None, attributes)

    def access(self, handle, bits):
        return self._read(ACCESS, opaque(handle) + u32(bits), lambda r: r.u32())

    def readlink(self, handle):
        return self._read(READLINK, opaque(handle), lambda r: r.opaque())

    def read(self, handle, offset, count):
        """value: (count, end of file, data)"""
        return self._read(READ, opaque(handle) + u64(offset) + u32(count),
                          lambda r: (r.u32(), bool(r.u32()), r.opaque()))

    def readdir(self, handle, cookie=0, verifier=bytes(8), count=4096):
        return self._read(READDIR, opaque(handle) + u64(cookie) + verifier + u32(count),
                          lambda r: _listing(r, False))

    def readdirplus(self, handle, cookie=0, verifier=bytes(8), dircount=4096, maxcount=8192):
        return self._read(READDIRPLUS, opaque(handle) + u64(cookie) + verifier
                          + u32(dircount, maxcount), lambda r: _listing(r, True))

    def fsstat(self, handle):
        return self._read(FSSTAT, opaque(handle),
                          lambda r: Stat(*(r.u64() for _ in range(6)), r.u32()))

    def fsinfo(self, handle):
        return self._read(FSINFO, opaque(handle), lambda r: Info(
            *(r.u32() for _ in range(7)), r.u64(), _time(r), r.u32()))

    def pathconf(self, handle):
        return self._read(PATHCONF, opaque(handle), lambda r: Conf(*(r.u32() for _ in range(6))))

    def _change(self, procedure, arguments, count=1):
        status, reader = self._ask(procedure, arguments)
        return status, reader, tuple(_wcc(reader) for _ in range(count))

    def write(self, handle, data, offset=0, stable=FILE_SYNC, count=None):
        """value: (count, committed, verifier)"""
        status, reader, wcc = self._change(WRITE, opaque(handle) + u64(offset) + u32(
            len(data) if count is None else count, stable) + opaque(data))
        value = (reader.u32(), reader.u32(), reader.take(8)) if status == "OK" else None
        return Answer(status, value, None, wcc)

    def commit(self, handle, offset=0, count=0):
        status, reader, wcc = self._change(COMMIT, opaque(handle) + u64(offset) + u32(count))
        return Answer(status, reader.take(8) if status == "OK" else None, None, wcc)

    def create(self, directory, name, how=UNCHECKED, verifier=None, **what):
        arguments = opaque(directory) + opaque(name) + u32(how)
        arguments += sattr(**what) if verifier is None else verifier
        status, reader = self._ask(CREATE, arguments)
        return _made(reader, status)

    def mkdir(self, directory, name, **what):
        status, reader = self._ask(MKDIR, opaque(directory) + opaque(name) + sattr(**what))
        return _made(reader, status)

    def symlink(self, directory, name, text, **what):
        status, reader = self._ask(SYMLINK, opaque(directory) + opaque(name) + sattr(**what)
                                   + opaque(text))
        return _made(reader, status)

    def mknod(self, directory, name, kind, device=(0, 0), **what):
        made = sattr(**what) if kind in (SOCK, FIFO, CHR, BLK) else b""
        made += u32(*device) if kind in (CHR, BLK) else b""
        status, reader = self._ask(MKNOD, opaque(directory) + opaque(name) + u32(kind) + made)
        return _made(reader, status)

    def remove(self, directory, name):
        status, _, wcc = self._change(REMOVE, opaque(directory) + opaque(name))
        return Answer(status, None, None, wcc)

    def rmdir(self, directory, name):
        status, _, wcc = self._change(RMDIR, opaque(directory) + opaque(name))
        return Answer(status, None, None, wcc)

    def rename(self, from_, old, to, new):
        status, _, wcc = self._change(RENAME, opaque(from_) + opaque(old) + opaque(to)
                                      + opaque(new), 2)
        return Answer(status, None, None, wcc)

    def link(self, handle, directory, name):
        status, reader = self._ask(LINK, opaque(handle) + opaque(directory) + opaque(name))
        attributes = _post(reader)
        return Answer(status, None, attributes, (_wcc(reader),))

    # --- NFSACL

    def getacl(self, handle, mask=0xF):
        """value: (mask, entries of access, entries of default); an entry: (tag, id, permissions)"""
        reader = self.call(NFSACL, NFSACL_VERSION, 1, opaque(handle) + u32(mask))
        status = name_of_v3(reader.u32())
        if status != "OK":
            return Answer(status)  # some servers put attributes behind it
        attributes = _post(reader)
        said = reader.u32()
        lists = []
        for _ in range(2):
            reader.u32()
            lists.append([(reader.u32(), reader.u32(), reader.u32())
                          for _ in range(reader.u32())])
        return Answer(status, (said, *lists), attributes)

    def setacl(self, handle, mask, access, default=()):
        body = opaque(handle) + u32(mask)
        for entries in (access, default):
            body += u32(len(entries), len(entries)) + b"".join(u32(*entry) for entry in entries)
        reader = self.call(NFSACL, NFSACL_VERSION, 2, body)
        status = name_of_v3(reader.u32())
        return Answer(status, None, _post(reader) if status == "OK" else None)
