"""Attributes of NFSv4 as bytes (RFC 7530 section 5, 8881 5, 7862 12, 8276 8.2): fattr4 both ways.

An attribute is its number; its value is what _TYPES says: int, bool, bytes, tuples of ints, a list
of Ace. Bits of an attribute's number are those of bitmap4.
"""

import collections
import struct

from nfs4_wire import XdrReader, opaque, u32, u64

(SUPPORTED, TYPE, FH_EXPIRE_TYPE, CHANGE, SIZE, LINK_SUPPORT, SYMLINK_SUPPORT, NAMED_ATTR, FSID,
 UNIQUE_HANDLES, LEASE_TIME, RDATTR_ERROR, ACL, ACLSUPPORT, ARCHIVE, CANSETTIME, CASE_INSENSITIVE,
 CASE_PRESERVING, CHOWN_RESTRICTED, FILEHANDLE, FILEID) = range(21)
(MAXFILESIZE, MAXLINK, MAXNAME, MAXREAD, MAXWRITE, MIMETYPE, MODE, NO_TRUNC, NUMLINKS, OWNER,
 OWNER_GROUP) = range(27, 38)
RAWDEV, SPACE_AVAIL, SPACE_FREE, SPACE_TOTAL, SPACE_USED = range(41, 46)
(TIME_ACCESS, TIME_ACCESS_SET, TIME_BACKUP, TIME_CREATE, TIME_DELTA, TIME_METADATA, TIME_MODIFY,
 TIME_MODIFY_SET, MOUNTED_ON_FILEID) = range(47, 56)
DACL, SACL = 58, 59
SUPPATTR_EXCLCREAT = 75
CLONE_BLKSIZE, SPACE_FREED, CHANGE_ATTR_TYPE = 77, 78, 79
MODE_UMASK, XATTR_SUPPORT = 81, 82

# RFC 7530 section 5.6: what every server supports.
REQUIRED = (SUPPORTED, TYPE, FH_EXPIRE_TYPE, CHANGE, SIZE, LINK_SUPPORT, SYMLINK_SUPPORT,
            NAMED_ATTR, FSID, UNIQUE_HANDLES, LEASE_TIME, RDATTR_ERROR, FILEHANDLE)

SET_BY_SERVER = u32(0)  # settime4

Ace = collections.namedtuple("Ace", "kind flags mask who")


def to_client(seconds, nanoseconds=0):
    """A settime4 of this time."""
    return u32(1) + struct.pack(">qI", seconds, nanoseconds)


def bitmap(numbers):
    """A bitmap4 with these bits, as short as it can be."""
    words = [0] * (max(numbers) // 32 + 1 if numbers else 0)
    for number in numbers:
        words[number // 32] |= 1 << number % 32
    return u32(len(words), *words)


def read_bitmap(reader):
    """The set of numbers in a bitmap4."""
    found = set()
    for word in range(reader.u32()):
        bits = reader.u32()
        found |= {32 * word + bit for bit in range(32) if bits >> bit & 1}
    return found


def _read_aces(reader):
    return [Ace(reader.u32(), reader.u32(), reader.u32(), reader.opaque())
            for _ in range(reader.u32())]


def aces(entries):
    """An nfsace4<> of Ace."""
    return u32(len(entries)) + b"".join(
        u32(ace.kind, ace.flags, ace.mask) + opaque(ace.who) for ace in entries)


def _time(reader):
    return struct.unpack(">qI", reader.take(12))


def _pair64(reader):
    return reader.u64(), reader.u64()


def _pair32(reader):
    return reader.u32(), reader.u32()


def _boolean(reader):
    return bool(reader.u32())


def _numbers(reader):
    return [reader.u32() for _ in range(reader.u32())]


def _acl41(reader):
    return reader.u32(), _read_aces(reader)


def _types():
    types = {SUPPORTED: read_bitmap, FSID: _pair64, ACL: _read_aces, RAWDEV: _pair32,
             DACL: _acl41, SACL: _acl41, SUPPATTR_EXCLCREAT: read_bitmap, 56: _time, 57: _time,
             60: _pair64, 62: _numbers, 64: _numbers, 74: _pair32, MODE_UMASK: _pair32}
    for number in (LINK_SUPPORT, SYMLINK_SUPPORT, NAMED_ATTR, UNIQUE_HANDLES, ARCHIVE, CANSETTIME,
                   CASE_INSENSITIVE, CASE_PRESERVING, CHOWN_RESTRICTED, 25, 26, NO_TRUNC, 46,
                   XATTR_SUPPORT):
        types[number] = _boolean
    for number in (TYPE, FH_EXPIRE_TYPE, LEASE_TIME, RDATTR_ERROR, ACLSUPPORT, MAXLINK, MAXNAME,
                   MODE, NUMLINKS, 65, 66, 76, CLONE_BLKSIZE, CHANGE_ATTR_TYPE):
        types[number] = XdrReader.u32
    for number in (CHANGE, SIZE, FILEID, 21, 22, 23, MAXFILESIZE, MAXREAD, MAXWRITE, 38, 39, 40,
                   SPACE_AVAIL, SPACE_FREE, SPACE_TOTAL, SPACE_USED, MOUNTED_ON_FILEID, 73,
                   SPACE_FREED):
        types[number] = XdrReader.u64
    for number in (FILEHANDLE, MIMETYPE, OWNER, OWNER_GROUP):
        types[number] = XdrReader.opaque
    for number in (TIME_ACCESS, TIME_BACKUP, TIME_CREATE, TIME_DELTA, TIME_METADATA, TIME_MODIFY):
        types[number] = _time
    return types


_TYPES = _types()
DECODED = frozenset(_TYPES)

_NARROW = (TYPE, MODE, ACLSUPPORT, MAXLINK, MAXNAME, NUMLINKS, LEASE_TIME, RDATTR_ERROR,
           FH_EXPIRE_TYPE)


def _encoded(number, value):
    if isinstance(value, (bytes, str)):
        ready = number in (TIME_ACCESS_SET, TIME_MODIFY_SET)
        return value if ready else opaque(value)
    if number == ACL:
        return aces(value)
    if number in (DACL, SACL):
        return u32(value[0]) + aces(value[1])
    if number in (SUPPORTED, SUPPATTR_EXCLCREAT):
        return bitmap(value)
    if number in (TIME_ACCESS, TIME_BACKUP, TIME_CREATE, TIME_DELTA, TIME_METADATA, TIME_MODIFY):
        return struct.pack(">qI", *value)
    if isinstance(value, tuple):
        return (u64 if number in (FSID, 60) else u32)(*value)
    return u32(value) if number in _NARROW or isinstance(value, bool) else u64(value)


def fattr(values=None):
    """A fattr4 of {number: value}. A value of TIME_ACCESS_SET and TIME_MODIFY_SET is a settime4."""
    values = values or {}
    return bitmap(values) + opaque(b"".join(_encoded(number, values[number])
                                            for number in sorted(values)))


def read_fattr(reader):
    """{number: value} of a fattr4; what is in no table ends it, with its number and None."""
    present = sorted(read_bitmap(reader))
    inside = XdrReader(reader.opaque())
    found = {}
    for number in present:
        if number not in _TYPES:
            found[number] = None
            return found
        found[number] = _TYPES[number](inside)
    if inside.at != len(inside.data):
        raise ValueError(f"{len(inside.data) - inside.at} bytes behind the attributes {present}")
    return found
