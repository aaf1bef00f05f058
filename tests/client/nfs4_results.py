"""The results of COMPOUND, decoded: what the operations of nfs4_ops.py answer.

Thread class: confined to one thread.
"""

import collections

import nfs4_ops as ops
from nfs4_attributes import read_bitmap, read_fattr
from nfs4_status import name_of
from nfs4_wire import opaque, u32
from rpc_wire import Rpc

PROGRAM, VERSION = 100003, 4
_NULL, _COMPOUND = 0, 1

Result = collections.namedtuple("Result", "op status value")     # status: its name
Compound = collections.namedtuple("Compound", "status tag results")
Change = collections.namedtuple("Change", "atomic before after")
Opened = collections.namedtuple("Opened", "stateid change flags attributes delegation")
Entry = collections.namedtuple("Entry", "cookie name attributes")
Listing = collections.namedtuple("Listing", "verifier entries eof")
Denied = collections.namedtuple("Denied", "start length kind client_id owner")
Written = collections.namedtuple("Written", "count stable verifier")
Exchanged = collections.namedtuple("Exchanged", "client_id sequence flags owner scope")
Session = collections.namedtuple("Session", "id sequence flags fore back")
Sequenced = collections.namedtuple("Sequenced", "session number slot highest target flags")

CONFIRM = 2                     # OPEN4_RESULT_CONFIRM
NO_DELEGATION_TYPES = (0, 3)    # none; none, and why


def _stateid(reader):
    return reader.take(16)


def _change(reader):
    return Change(reader.u32(), reader.u64(), reader.u64())


def _ace(reader):
    return reader.u32(), reader.u32(), reader.u32(), reader.opaque()


def _delegation(reader):
    kind = reader.u32()
    if kind in (1, 2):
        stateid, _ = reader.take(16), reader.u32()
        if kind == 2 and reader.u32() in (1, 2):
            reader.take(8)
        _ace(reader)
        return kind, stateid
    if kind == 3 and reader.u32() in (1, 2):
        reader.u32()
    return kind, None


def _open(reader):
    return Opened(reader.take(16), _change(reader), reader.u32(), read_bitmap(reader),
                  _delegation(reader))


def _denied(reader):
    return Denied(reader.u64(), reader.u64(), reader.u32(), reader.u64(), reader.opaque())


def _listing(reader):
    verifier, entries = reader.take(8), []
    while reader.u32():
        entries.append(Entry(reader.u64(), reader.opaque(), read_fattr(reader)))
    return Listing(verifier, entries, bool(reader.u32()))


def _flavours(reader):
    found = []
    for _ in range(reader.u32()):
        found.append(reader.u32())
        if found[-1] == 6:  # RPCSEC_GSS
            reader.opaque(), reader.u32(), reader.u32()
    return found


def _exchanged(reader):
    client_id, sequence, flags, how = reader.u64(), reader.u32(), reader.u32(), reader.u32()
    if how != 0:
        raise ValueError(f"EXCHANGE_ID answers state protection {how}, which was not asked for")
    minor, major, scope = reader.u64(), reader.opaque(), reader.opaque()
    for _ in range(reader.u32()):
        reader.opaque(), reader.opaque(), reader.take(12)
    return Exchanged(client_id, sequence, flags, (minor, major), scope)


def _channel(reader):
    values = tuple(reader.u32() for _ in range(6))
    for _ in range(reader.u32()):
        reader.u32()
    return values


def _session(reader):
    return Session(reader.take(16), reader.u32(), reader.u32(), _channel(reader), _channel(reader))


def _sequenced(reader):
    return Sequenced(reader.take(16), *(reader.u32() for _ in range(5)))


def _contents(reader):
    """READ_PLUS: (eof, [(offset, bytes of data or the length of a hole)])."""
    eof, found = bool(reader.u32()), []
    for _ in range(reader.u32()):
        hole, offset = reader.u32(), reader.u64()
        found.append((offset, reader.u64() if hole else reader.opaque()))
    return eof, found


def _copied(reader):
    if reader.u32():
        reader.take(16)
    return Written(reader.u64(), reader.u32(), reader.take(8)), reader.u32(), reader.u32()


def _fields(*kinds):
    return lambda reader: tuple(getattr(reader, kind)() for kind in kinds)


def _listed(reader):
    return (reader.u64(), [reader.opaque() for _ in range(reader.u32())], bool(reader.u32()))


_ON_SUCCESS = {
    ops.ACCESS: _fields("u32", "u32"), ops.CLOSE: _stateid, ops.COMMIT: lambda r: r.take(8),
    ops.CREATE: lambda r: (_change(r), read_bitmap(r)), ops.GETATTR: read_fattr,
    ops.GETFH: lambda r: r.opaque(), ops.LINK: _change, ops.LOCK: _stateid, ops.LOCKU: _stateid,
    ops.OPEN: _open, ops.OPEN_CONFIRM: _stateid, ops.OPEN_DOWNGRADE: _stateid,
    ops.READ: lambda r: (bool(r.u32()), r.opaque()), ops.READDIR: _listing,
    ops.READLINK: lambda r: r.opaque(), ops.REMOVE: _change,
    ops.RENAME: lambda r: (_change(r), _change(r)), ops.SECINFO: _flavours,
    ops.SETCLIENTID: lambda r: (r.u64(), r.take(8)),
    ops.WRITE: lambda r: Written(r.u32(), r.u32(), r.take(8)),
    ops.BIND_CONN_TO_SESSION: lambda r: (r.take(16), r.u32(), r.u32()),
    ops.EXCHANGE_ID: _exchanged, ops.CREATE_SESSION: _session,
    ops.DESTROY_SESSION: None, ops.SECINFO_NO_NAME: _flavours, ops.SEQUENCE: _sequenced,
    ops.SET_SSV: lambda r: r.opaque(),
    ops.TEST_STATEID: lambda r: [name_of(r.u32()) for _ in range(r.u32())],
    ops.GET_DIR_DELEGATION: lambda r: r.u32(), ops.COPY: _copied,
    ops.LAYOUTRETURN: lambda r: r.take(16) if r.u32() else None,
    ops.IO_ADVISE: read_bitmap, ops.READ_PLUS: _contents,
    ops.SEEK: lambda r: (bool(r.u32()), r.u64()), ops.GETXATTR: lambda r: r.opaque(),
    ops.SETXATTR: _change, ops.LISTXATTRS: _listed, ops.REMOVEXATTR: _change}

_ON_FAILURE = {
    (ops.LOCK, "DENIED"): _denied, (ops.LOCKT, "DENIED"): _denied,
    (ops.SETCLIENTID, "CLID_INUSE"): lambda r: (r.opaque(), r.opaque()),
    (ops.LAYOUTGET, "LAYOUTTRYLATER"): lambda r: r.u32(),
    (ops.GETDEVICEINFO, "TOOSMALL"): lambda r: r.u32()}


def read_results(reader):
    """The Compound behind the head of a reply. Errors: ValueError, Gone: it is not well formed."""
    status, tag, results = name_of(reader.u32()), reader.opaque(), []
    for _ in range(reader.u32()):
        op, said, value = reader.u32(), name_of(reader.u32()), None
        if op == ops.SETATTR:
            value = read_bitmap(reader)
        elif said == "OK":
            read = _ON_SUCCESS.get(op)
            value = read(reader) if read else None
        elif (op, said) in _ON_FAILURE:
            value = _ON_FAILURE[op, said](reader)
        results.append(Result(op, said, value))
    if reader.at != len(reader.data):
        raise ValueError(f"{len(reader.data) - reader.at} bytes behind the results {results}")
    return Compound(status, tag, results)


class Connection(Rpc):
    """A connection that carries COMPOUNDs."""

    def null(self):
        self.call(PROGRAM, VERSION, _NULL, b"")

    def compound(self, minor, *operations, tag=b"", count=None):
        """Sends and waits. operations: (number, arguments). count: what is said instead of how
        many there are."""
        return read_results(self.answer_to(self.send_compound(minor, *operations, tag=tag,
                                                              count=count)))

    def send_compound(self, minor, *operations, tag=b"", count=None, xid=None):
        body = opaque(tag) + u32(minor, len(operations) if count is None else count)
        body += b"".join(u32(number) + arguments for number, arguments in operations)
        return self.send(PROGRAM, VERSION, _COMPOUND, body, xid)

    def answer_of(self, xid):
        return read_results(self.answer_to(xid))
