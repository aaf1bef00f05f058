"""GETATTR and SETATTR: which attributes there are, what they say, which may be set to what."""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import KINDS, USER
from nfs4_wire import opaque, u32
from registry import Subject, check, equal, require

getattr_ = Subject("getattr", rfc7530="16.7.4", rfc8881="18.7.3")
setattr_ = Subject("setattr", rfc7530="16.32.4", rfc8881="18.30.3")

UNKNOWN = 95  # an attribute that no RFC has
WRITE_ONLY = {"time_access_set": attr.TIME_ACCESS_SET, "time_modify_set": attr.TIME_MODIFY_SET}
READ_ONLY = {
    "supported_attrs": {attr.SUPPORTED: {0}}, "type": {attr.TYPE: ops.REG},
    "fh_expire_type": {attr.FH_EXPIRE_TYPE: 0}, "change": {attr.CHANGE: 1},
    "link_support": {attr.LINK_SUPPORT: True}, "symlink_support": {attr.SYMLINK_SUPPORT: True},
    "named_attr": {attr.NAMED_ATTR: False}, "fsid": {attr.FSID: (1, 2)},
    "unique_handles": {attr.UNIQUE_HANDLES: True}, "lease_time": {attr.LEASE_TIME: 60},
    "filehandle": {attr.FILEHANDLE: b"handle"}, "fileid": {attr.FILEID: 7},
    "numlinks": {attr.NUMLINKS: 3}, "rawdev": {attr.RAWDEV: (1, 2)},
    "space_used": {attr.SPACE_USED: 4096}, "space_avail": {attr.SPACE_AVAIL: 1},
    "time_access": {attr.TIME_ACCESS: (1, 0)}, "time_modify": {attr.TIME_MODIFY: (1, 0)},
    "time_metadata": {attr.TIME_METADATA: (1, 0)}, "time_delta": {attr.TIME_DELTA: (0, 1)},
    "maxname": {attr.MAXNAME: 100}, "maxread": {attr.MAXREAD: 100},
    "mounted_on_fileid": {attr.MOUNTED_ON_FILEID: 3}}
MUST_HAVE = (attr.MODE, attr.OWNER, attr.OWNER_GROUP, attr.NUMLINKS, attr.FILEID, attr.SPACE_USED,
             attr.TIME_ACCESS, attr.TIME_MODIFY, attr.TIME_METADATA, attr.TIME_MODIFY_SET,
             attr.TIME_ACCESS_SET)


# --- GETATTR

@getattr_.case(rfc7530="5.6", rfc8881="5.6")
def the_required_ones(bed):
    found = bed.attributes(bed.file(), *attr.REQUIRED)
    equal(set(attr.REQUIRED) - set(found), set(), "what is missing of the required attributes")


@getattr_.case(rfc7530="5.7", rfc8881="5.7")
def what_a_unix_client_needs_is_supported(bed):
    equal(set(MUST_HAVE) - bed.supported(), set(), "what is missing of the supported attributes")


@getattr_.case(rfc7530="5.8.1.1", rfc8881="5.8.1.1")
def all_that_is_supported_is_there(bed):
    wanted = bed.supported() - set(WRITE_ONLY.values())
    wanted &= attr.DECODED - {attr.MODE_UMASK, 74}
    found = bed.attributes(bed.file(), *wanted)
    equal(wanted - set(found) - {attr.RDATTR_ERROR}, set(), "what is missing")


@getattr_.case()
def none(bed):
    equal(bed.attributes(bed.dir), {}, "GETATTR of nothing")


@getattr_.case()
def what_nobody_knows_is_left_out(bed):
    equal(bed.attributes(bed.dir, attr.TYPE, UNKNOWN), {attr.TYPE: ops.DIR}, "GETATTR")


@getattr_.case()
def what_is_not_supported_is_left_out(bed):
    unsupported = sorted(attr.DECODED - bed.supported() - {attr.RDATTR_ERROR})[:3]
    equal(bed.attributes(bed.dir, attr.TYPE, *unsupported), {attr.TYPE: ops.DIR}, "GETATTR")


@getattr_.case()
def with_a_long_bitmap(bed):
    answer = bed.client.ask(ops.putfh(bed.dir), (ops.GETATTR, u32(8, 2, *[0] * 7)))
    check(answer.status, "OK", "GETATTR with 8 words")
    equal(answer.results[1].value, {attr.TYPE: ops.DIR}, "GETATTR")


for _name, _number in WRITE_ONLY.items():
    getattr_.add(f"of_write_only_{_name}", lambda bed, number=_number: bed.expect(
        "INVAL", ops.putfh(bed.dir), ops.getattr_(number)), rfc7530="5.5", rfc8881="5.5")


def _type(kind):
    def body(bed):
        equal(bed.attributes(bed.make(kind), attr.TYPE), {attr.TYPE: KINDS[kind]}, "type")
    return body


for _kind in KINDS:
    getattr_.add(f"type_of_a_{_kind}", _type(_kind), rfc7530="5.8.1.2", rfc8881="5.8.1.2")


@getattr_.case(rfc7530="5.8.2.30", rfc8881="5.8.2.31")
def rawdev_of_devices(bed):
    equal(bed.attributes(bed.make("block"), attr.RAWDEV), {attr.RAWDEV: (7, 1)}, "rawdev")
    equal(bed.attributes(bed.make("char"), attr.RAWDEV), {attr.RAWDEV: (1, 3)}, "rawdev")


@getattr_.case(rfc7530="5.8.1.5", rfc8881="5.8.1.5")
def size_after_a_write(bed):
    handle = bed.file()
    bed.put(handle, b"12345", 1000)
    equal(bed.attributes(handle, attr.SIZE), {attr.SIZE: 1005}, "size")


def _changes(act):
    def body(bed):
        handle = bed.make("directory") if act in (_make_in, _remove_in) else bed.file(b"text")
        before = bed.attributes(handle, attr.CHANGE)
        act(bed, handle)
        require(bed.attributes(handle, attr.CHANGE) != before,
                f"change stayed {before[attr.CHANGE]}, expected another value")
    return body


def _make_in(bed, handle):
    bed.values(ops.putfh(handle), ops.create(ops.DIR, "d"))


def _remove_in(bed, handle):
    _make_in(bed, handle)
    before = bed.attributes(handle, attr.CHANGE)
    bed.values(ops.putfh(handle), ops.remove("d"))
    require(bed.attributes(handle, attr.CHANGE) != before, "change stayed after REMOVE")


def _write(bed, handle):
    bed.put(handle, b"text")


def _mode(bed, handle):
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o600}))


def _cut(bed, handle):
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.SIZE: 1}))


def _link(bed, handle):
    bed.values(ops.putfh(handle), ops.savefh(), ops.putfh(bed.dir), ops.link("another"))


for _act in (_make_in, _remove_in, _write, _mode, _cut, _link):
    getattr_.add("change_after" + _act.__name__, _changes(_act), rfc7530="5.8.1.4",
                 rfc8881="5.8.1.4")


@getattr_.case(rfc7530="5.8.1.4", rfc8881="5.8.1.4")
def change_stays_when_nothing_happens(bed):
    handle = bed.file(b"text")
    before = bed.attributes(handle, attr.CHANGE)
    bed.expect("OK", ops.putfh(handle), ops.access(0x3F))
    equal(bed.attributes(handle, attr.CHANGE), before, "change")


@getattr_.case(rfc7530="5.8.1.9", rfc8881="5.8.1.9")
def one_fsid_for_a_filesystem(bed):
    equal(bed.attributes(bed.file(), attr.FSID), bed.attributes(bed.dir, attr.FSID), "fsid")


@getattr_.case(rfc7530="5.8.1.10", rfc8881="5.8.1.10")
def unique_handles(bed):
    found = bed.attributes(bed.dir, attr.UNIQUE_HANDLES, attr.FILEHANDLE)
    equal(found[attr.FILEHANDLE], bed.dir, "filehandle")


@getattr_.case(rfc7530="5.8.1.11", rfc8881="5.8.1.11")
def lease_time(bed):
    lease = bed.attributes(bed.dir, attr.LEASE_TIME)[attr.LEASE_TIME]
    require(1 <= lease <= 3600, f"lease_time is {lease} s, expected 1 to 3600")


@getattr_.case(rfc7530="5.8.2.30", rfc8881="5.8.2.23")
def mounted_on_fileid(bed):
    found = bed.attributes(bed.dir, attr.FILEID, attr.MOUNTED_ON_FILEID)
    equal(found[attr.MOUNTED_ON_FILEID], found[attr.FILEID], "mounted_on_fileid")


@getattr_.case(rfc7530="5.8.2.21", rfc8881="5.8.2.21")
def maxread_and_maxwrite(bed):
    found = bed.attributes(bed.dir, attr.MAXREAD, attr.MAXWRITE, attr.MAXFILESIZE)
    for number, least in ((attr.MAXREAD, 4096), (attr.MAXWRITE, 4096), (attr.MAXFILESIZE, 1 << 31)):
        require(found[number] >= least, f"attribute {number} is {found[number]}")


@getattr_.case(rfc7530="5.8.2.35", rfc8881="5.8.2.35")
def space_used_of_what_was_written(bed):
    handle = bed.file(b"x" * 65536)
    used = bed.attributes(handle, attr.SPACE_USED)[attr.SPACE_USED]
    require(65536 <= used <= 64 << 20, f"space_used is {used} of 65536 bytes written")


@getattr_.case(rfc7530="5.8.2.25", rfc8881="5.8.2.25")
def numlinks(bed):
    handle = bed.file()
    equal(bed.attributes(handle, attr.NUMLINKS), {attr.NUMLINKS: 1}, "numlinks")
    _link(bed, handle)
    equal(bed.attributes(handle, attr.NUMLINKS), {attr.NUMLINKS: 2}, "numlinks")


@getattr_.case(rfc7530="5.9", rfc8881="5.9")
def owners_are_as_they_were_set(bed):
    handle = bed.file()
    values = {attr.OWNER: str(USER).encode(), attr.OWNER_GROUP: b"1001"}
    bed.expect("OK", ops.putfh(handle), ops.setattr_(values))
    equal(bed.attributes(handle, *values), values, "owners")


@getattr_.case(rfc8881="5.8.1.14")
def suppattr_exclcreat(bed):
    found = bed.attributes(bed.dir, attr.SUPPATTR_EXCLCREAT)[attr.SUPPATTR_EXCLCREAT]
    equal(found - bed.supported(), set(), "suppattr_exclcreat beyond supported_attrs")
    require(attr.MODE in found, "mode is not in suppattr_exclcreat")


@getattr_.case(rfc7862="12.2.3")
def change_attr_type(bed):
    if attr.CHANGE_ATTR_TYPE in bed.supported():
        kind = bed.attributes(bed.dir, attr.CHANGE_ATTR_TYPE)[attr.CHANGE_ATTR_TYPE]
        require(kind <= 4, f"change_attr_type is {kind}, expected 0 to 4")


# --- SETATTR

@setattr_.case()
def none_is_set(bed):
    equal(bed.expect("OK", ops.putfh(bed.file()), ops.setattr_({})), set(), "attrsset")


@setattr_.case()
def what_was_set_is_said(bed):
    said = bed.expect("OK", ops.putfh(bed.file()), ops.setattr_(
        {attr.MODE: 0o600, attr.TIME_MODIFY_SET: attr.to_client(1000)}))
    equal(said, {attr.MODE, attr.TIME_MODIFY_SET}, "attrsset")


for _name, _value in READ_ONLY.items():
    setattr_.add(f"read_only_{_name}", lambda bed, value=_value: bed.expect(
        "INVAL" if set(value) & set(bed.supported()) else "INVAL ATTRNOTSUPP",
        ops.putfh(bed.file()), ops.setattr_(value)), rfc7530="5.5", rfc8881="5.5")


@setattr_.case()
def what_nobody_knows(bed):
    values = (ops.SETATTR, ops.ANONYMOUS + attr.bitmap([UNKNOWN]) + opaque(u32(1)))
    bed.expect("ATTRNOTSUPP", ops.putfh(bed.file()), values)


@setattr_.case()
def nothing_is_set_beside_what_cannot_be(bed):
    handle = bed.file()
    bed.expect("INVAL ATTRNOTSUPP", ops.putfh(handle), ops.setattr_(
        {attr.MODE: 0o600, attr.NUMLINKS: 3}))
    equal(bed.attributes(handle, attr.MODE), {attr.MODE: 0o666}, "mode")


@setattr_.case(rfc7530="13.1.1.1", rfc8881="15.1.1.1")
def a_value_cut_short(bed):
    values = (ops.SETATTR, ops.ANONYMOUS + attr.bitmap([attr.SIZE]) + opaque(u32(1)))
    bed.client.undecodable(ops.putfh(bed.file()), values, also="INVAL")


@setattr_.case(rfc7530="13.1.1.1", rfc8881="15.1.1.1")
def bytes_behind_the_values(bed):
    values = (ops.SETATTR, ops.ANONYMOUS + attr.bitmap([attr.MODE]) + opaque(u32(0o600, 1, 2)))
    bed.client.undecodable(ops.putfh(bed.file()), values, also="INVAL")


@setattr_.case(rfc7530="6.2.4", rfc8881="6.2.4")
def mode_with_bits_that_are_none(bed):
    bed.expect("INVAL", ops.putfh(bed.file()), ops.setattr_({attr.MODE: 0o10777}))


@setattr_.case(rfc7530="6.2.4", rfc8881="6.2.4")
def each_mode_bit(bed):
    handle = bed.file()
    for bit in range(12):
        bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 1 << bit}))
        equal(bed.attributes(handle, attr.MODE), {attr.MODE: 1 << bit}, "mode")


@setattr_.case(rfc7530="2.2", rfc8881="3.3.1")
def a_time_with_too_many_nanoseconds(bed):
    bed.expect("INVAL", ops.putfh(bed.file()), ops.setattr_(
        {attr.TIME_MODIFY_SET: attr.to_client(1, 1000000000)}))


@setattr_.case(rfc7530="2.2", rfc8881="3.3.1")
def times_of_the_client(bed):
    handle = bed.file()
    bed.expect("OK", ops.putfh(handle), ops.setattr_(
        {attr.TIME_ACCESS_SET: attr.to_client(1000, 1000),
         attr.TIME_MODIFY_SET: attr.to_client(2000, 2000)}))
    found = bed.attributes(handle, attr.TIME_ACCESS, attr.TIME_MODIFY)
    equal((found[attr.TIME_ACCESS][0], found[attr.TIME_MODIFY][0]), (1000, 2000), "times")


@setattr_.case(rfc7530="2.2", rfc8881="3.3.1")
def a_time_before_1970(bed):
    handle = bed.file()
    answer = bed.client.ask(ops.putfh(handle), ops.setattr_(
        {attr.TIME_MODIFY_SET: attr.to_client(-1)}))
    check(answer.status, "OK INVAL", "SETATTR")
    if answer.status == "OK":
        found = bed.attributes(handle, attr.TIME_MODIFY)[attr.TIME_MODIFY]
        equal(found[0], -1, "time_modify")


@setattr_.case(rfc7530="2.2", rfc8881="3.3.1")
def times_of_the_server(bed):
    handle = bed.file()
    bed.expect("OK", ops.putfh(handle), ops.setattr_(
        {attr.TIME_MODIFY_SET: attr.to_client(1000), attr.TIME_ACCESS_SET: attr.SET_BY_SERVER}))
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.TIME_MODIFY_SET: attr.SET_BY_SERVER}))
    seconds = bed.attributes(handle, attr.TIME_MODIFY)[attr.TIME_MODIFY][0]
    require(seconds > 1600000000, f"time_modify is {seconds} s, expected the server's time")


@setattr_.case(rfc7530="5.9", rfc8881="5.9")
def an_owner_that_is_nobody(bed):
    bed.expect("BADOWNER", ops.putfh(bed.file()), ops.setattr_({attr.OWNER: b"no such user@x"}))


@setattr_.case(rfc7530="5.9", rfc8881="5.9")
def an_empty_owner(bed):
    bed.expect("BADOWNER INVAL", ops.putfh(bed.file()), ops.setattr_({attr.OWNER: b""}))


@setattr_.case(rfc7530="5.9", rfc8881="5.9")
def an_owner_of_a_user_who_is_not_its_owner(bed):
    handle = bed.file()
    user = bed.new_client(uid=USER)
    user.expect("PERM", ops.putfh(handle), ops.setattr_({attr.OWNER: str(USER).encode()}))


@setattr_.case()
def mode_by_a_user_who_is_not_its_owner(bed):
    handle = bed.file()
    user = bed.new_client(uid=USER)
    user.expect("PERM ACCESS", ops.putfh(handle), ops.setattr_({attr.MODE: 0o777}))


@setattr_.case()
def size_by_a_user_who_may_not_write(bed):
    handle = bed.file(b"text", values={attr.MODE: 0o644})
    user = bed.new_client(uid=USER)
    user.expect("ACCESS", ops.putfh(handle), ops.setattr_({attr.SIZE: 0}))
