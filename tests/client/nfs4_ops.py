"""The operations of NFSv4.0, v4.1, v4.2 and of extended attributes as bytes: arguments.

A function makes (number, arguments). What the results are is in nfs4_results.py. RFC 7530 and 7531,
8881 and 5662, 7862 and 7863, 8276. A stateid is its 16 bytes.
"""

from nfs4_attributes import bitmap, fattr
from nfs4_wire import opaque, u32, u64

(ACCESS, CLOSE, COMMIT, CREATE, DELEGPURGE, DELEGRETURN, GETATTR, GETFH, LINK, LOCK, LOCKT, LOCKU,
 LOOKUP, LOOKUPP, NVERIFY, OPEN, OPENATTR, OPEN_CONFIRM, OPEN_DOWNGRADE, PUTFH, PUTPUBFH, PUTROOTFH,
 READ, READDIR, READLINK, REMOVE, RENAME, RENEW, RESTOREFH, SAVEFH, SECINFO, SETATTR, SETCLIENTID,
 SETCLIENTID_CONFIRM, VERIFY, WRITE, RELEASE_LOCKOWNER, BACKCHANNEL_CTL, BIND_CONN_TO_SESSION,
 EXCHANGE_ID, CREATE_SESSION, DESTROY_SESSION, FREE_STATEID, GET_DIR_DELEGATION, GETDEVICEINFO,
 GETDEVICELIST, LAYOUTCOMMIT, LAYOUTGET, LAYOUTRETURN, SECINFO_NO_NAME, SEQUENCE, SET_SSV,
 TEST_STATEID, WANT_DELEGATION, DESTROY_CLIENTID, RECLAIM_COMPLETE, ALLOCATE, COPY, COPY_NOTIFY,
 DEALLOCATE, IO_ADVISE, LAYOUTERROR, LAYOUTSTATS, OFFLOAD_CANCEL, OFFLOAD_STATUS, READ_PLUS, SEEK,
 WRITE_SAME, CLONE, GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR) = range(3, 76)
ILLEGAL = 10044

NAMES = {number: name for name, number in list(globals().items())
         if name.isupper() and not name.startswith("_")}

REG, DIR, BLK, CHR, LNK, SOCK, FIFO = range(1, 8)
READING, WRITING, BOTH = 1, 2, 3
NO_DELEGATION = 0x400
ANONYMOUS, BYPASS, CURRENT = b"\0" * 16, b"\xff" * 16, b"\0\0\0\1" + b"\0" * 12
READ_LT, WRITE_LT, READW_LT, WRITEW_LT = 1, 2, 3, 4
UNSTABLE, DATA_SYNC, FILE_SYNC = 0, 1, 2
TO_END = (1 << 64) - 1


def _plain(number):
    return lambda: (number, b"")


getfh, lookupp, putpubfh, putrootfh, readlink, restorefh, savefh = map(
    _plain, (GETFH, LOOKUPP, PUTPUBFH, PUTROOTFH, READLINK, RESTOREFH, SAVEFH))


def access(bits):
    return ACCESS, u32(bits)


def close(stateid, seqid=0):
    return CLOSE, u32(seqid) + stateid


def commit(offset=0, count=0):
    return COMMIT, u64(offset) + u32(count)


def create(kind, name, values=None, data=b""):
    """data: what createtype4 has beside the type: of LNK opaque(text), of BLK and CHR u32(a, b)."""
    return CREATE, u32(kind) + data + opaque(name) + fattr(values)


def getattr_(*numbers):
    return GETATTR, bitmap(numbers)


def link(name):
    return LINK, opaque(name)


def new_locker(open_seqid, open_stateid, lock_seqid, client_id, owner):
    return u32(1, open_seqid) + open_stateid + u32(lock_seqid) + u64(client_id) + opaque(owner)


def old_locker(lock_stateid, lock_seqid=0):
    return u32(0) + lock_stateid + u32(lock_seqid)


def lock(kind, start, length, locker, reclaim=False):
    return LOCK, u32(kind, reclaim) + u64(start, length) + locker


def lockt(kind, start, length, client_id, owner):
    return LOCKT, u32(kind) + u64(start, length, client_id) + opaque(owner)


def locku(kind, start, length, stateid, seqid=0):
    return LOCKU, u32(kind, seqid) + stateid + u64(start, length)


def lookup(name):
    return LOOKUP, opaque(name)


def verify(values):
    return VERIFY, fattr(values)


def nverify(values):
    return NVERIFY, fattr(values)


# openflag4, and claims

NO_CREATE = u32(0)


def unchecked(values=None):
    return u32(1, 0) + fattr(values)


def guarded(values=None):
    return u32(1, 1) + fattr(values)


def exclusive(verifier):
    return u32(1, 2) + verifier


def exclusive_41(verifier, values=None):
    return u32(1, 3) + verifier + fattr(values)


def claim_null(name):
    return u32(0) + opaque(name)


def claim_previous(delegation=0):
    return u32(1, delegation)


CLAIM_FH = u32(4)


def open_(claim, client_id, owner, access_=BOTH, deny=0, how=NO_CREATE, seqid=0):
    return OPEN, u32(seqid, access_, deny) + u64(client_id) + opaque(owner) + how + claim


def openattr(create_directory=False):
    return OPENATTR, u32(create_directory)


def open_confirm(stateid, seqid):
    return OPEN_CONFIRM, stateid + u32(seqid)


def open_downgrade(stateid, access_, deny=0, seqid=0):
    return OPEN_DOWNGRADE, stateid + u32(seqid, access_, deny)


def putfh(handle):
    return PUTFH, opaque(handle)


def read(stateid, offset=0, count=4096):
    return READ, stateid + u64(offset) + u32(count)


def readdir(cookie=0, verifier=b"\0" * 8, dircount=4096, maxcount=8192, numbers=()):
    return READDIR, u64(cookie) + verifier + u32(dircount, maxcount) + bitmap(numbers)


def remove(name):
    return REMOVE, opaque(name)


def rename(old, new):
    return RENAME, opaque(old) + opaque(new)


def renew(client_id):
    return RENEW, u64(client_id)


def secinfo(name):
    return SECINFO, opaque(name)


def setattr_(values, stateid=ANONYMOUS):
    return SETATTR, stateid + fattr(values)


def setclientid(verifier, owner, program=0x40000000, netid="tcp", address="0.0.0.0.0.0", ident=0):
    return SETCLIENTID, verifier + opaque(owner) + u32(program) + opaque(netid) \
        + opaque(address) + u32(ident)


def setclientid_confirm(client_id, confirm):
    return SETCLIENTID_CONFIRM, u64(client_id) + confirm


def write(stateid, data, offset=0, stable=FILE_SYNC):
    return WRITE, stateid + u64(offset) + u32(stable) + opaque(data)


def release_lockowner(client_id, owner):
    return RELEASE_LOCKOWNER, u64(client_id) + opaque(owner)


# NFSv4.1

CHANNEL = (0, 1 << 20, 1 << 20, 16384, 50, 8)
UPD_CONFIRMED_REC_A, CONFIRMED_R = 0x40000000, 0x80000000


def exchange_id(owner, verifier, flags=0, protect=None):
    return EXCHANGE_ID, verifier + opaque(owner) + u32(flags) + (protect or u32(0)) + u32(0)


def channel(header_pad, request, response, cached, operations, requests):
    return u32(header_pad, request, response, cached, operations, requests, 0)


def create_session(client_id, sequence, flags=0, fore=CHANNEL, back=CHANNEL, security=None):
    return CREATE_SESSION, u64(client_id) + u32(sequence, flags) + channel(*fore) \
        + channel(*back) + u32(0x40000000) + (security or u32(1, 0))


def destroy_session(session):
    return DESTROY_SESSION, session


def destroy_clientid(client_id):
    return DESTROY_CLIENTID, u64(client_id)


def bind_conn_to_session(session, direction=1):
    return BIND_CONN_TO_SESSION, session + u32(direction, 0)


def backchannel_ctl(program=0x40000001, security=None):
    return BACKCHANNEL_CTL, u32(program) + (security or u32(1, 0))


def sequence(session, number, slot=0, highest=0, cached=False):
    return SEQUENCE, session + u32(number, slot, highest, cached)


def reclaim_complete(one_filesystem=False):
    return RECLAIM_COMPLETE, u32(one_filesystem)


def free_stateid(stateid):
    return FREE_STATEID, stateid


def test_stateid(*stateids):
    return TEST_STATEID, u32(len(stateids)) + b"".join(stateids)


def secinfo_no_name(style=0):
    return SECINFO_NO_NAME, u32(style)


# NFSv4.2

def allocate(stateid, offset, length):
    return ALLOCATE, stateid + u64(offset, length)


def deallocate(stateid, offset, length):
    return DEALLOCATE, stateid + u64(offset, length)


def seek(stateid, offset, what):
    """what: 0 data, 1 a hole."""
    return SEEK, stateid + u64(offset) + u32(what)


def read_plus(stateid, offset=0, count=4096):
    return READ_PLUS, stateid + u64(offset) + u32(count)


def io_advise(stateid, hints=(), offset=0, count=0):
    return IO_ADVISE, stateid + u64(offset, count) + bitmap(hints)


def copy(source, target, source_offset=0, offset=0, count=0):
    """Within a server, one after the other."""
    return COPY, source + target + u64(source_offset, offset, count) + u32(1, 1, 0)


def clone(source, target, source_offset=0, offset=0, count=0):
    return CLONE, source + target + u64(source_offset, offset, count)


# Extended attributes

EITHER, CREATE_ONLY, REPLACE_ONLY = 0, 1, 2


def getxattr(name):
    return GETXATTR, opaque(name)


def setxattr(name, value, option=EITHER):
    return SETXATTR, u32(option) + opaque(name) + opaque(value)


def listxattrs(cookie=0, maxcount=4096):
    return LISTXATTRS, u64(cookie) + u32(maxcount)


def removexattr(name):
    return REMOVEXATTR, opaque(name)
