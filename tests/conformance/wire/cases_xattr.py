"""Extended attributes: GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR (RFC 8276)."""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import USER
from registry import Skipped, Subject, check, equal, require

get = Subject("getxattr", rfc8276="8.4.1")
put = Subject("setxattr", rfc8276="8.4.2")
names = Subject("listxattrs", rfc8276="8.4.3")
remove = Subject("removexattr", rfc8276="8.4.4")
access = Subject("xattr", rfc8276="8.5")

XAREAD, XAWRITE, XALIST = 64, 128, 256
KINDS = ("file", "directory")


@access.case(rfc8276="8.2.1")
def offered(bed):
    equal(bed.attributes(bed.dir, attr.XATTR_SUPPORT), {attr.XATTR_SUPPORT: True}, "xattr_support")


def _file(bed, kind="file"):
    handle = bed.make(kind)
    if bed.client.ask(ops.putfh(handle), ops.listxattrs()).status == "NOTSUPP":
        raise Skipped("extended attributes are not offered")
    return handle


def _set(bed, handle, name, value, option=ops.EITHER, wanted="OK"):
    return bed.expect(wanted, ops.putfh(handle), ops.setxattr(name, value, option))


def _get(bed, handle, name, wanted="OK"):
    return bed.expect(wanted, ops.putfh(handle), ops.getxattr(name))


def _list(bed, handle, maxcount=4096):
    """All names, page by page."""
    cookie, found, pages = 0, [], 0
    while True:
        cookie, some, eof = bed.expect("OK", ops.putfh(handle), ops.listxattrs(cookie, maxcount))
        found += some
        pages += 1
        if eof:
            return found, pages
        require(some, "a page with no names and no end")


for _kind in KINDS:
    def _kept(bed, kind=_kind):
        handle = _file(bed, kind)
        _set(bed, handle, "name", b"value")
        equal(_get(bed, handle, "name"), b"value", "the value")
    put.add(f"on_a_{_kind}", _kept)

for _called, _value in [("empty", b""), ("with_nul", b"a\0b"), ("binary", bytes(range(256))),
                        ("of_4_kib", b"v" * 4096), ("of_64_kib", b"v" * 65536)]:
    def _value_kept(bed, value=_value):
        handle = _file(bed)
        _set(bed, handle, "name", value)
        equal(_get(bed, handle, "name"), value, "the value")
    put.add(f"a_value_{_called}", _value_kept)


@put.case()
def a_value_too_big(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"v" * (65536 + 1), wanted="XATTR2BIG NOSPC")
    equal(_list(bed, handle)[0], [], "names")


@put.case()
def a_longer_value_instead(bed):
    handle = _file(bed)
    for value in (b"short", b"much longer than before", b"s"):
        _set(bed, handle, "name", value)
        equal(_get(bed, handle, "name"), value, "the value")
    equal(_list(bed, handle)[0], [b"name"], "names")


@put.case()
def create_what_is_there(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"one", ops.CREATE_ONLY)
    _set(bed, handle, "name", b"two", ops.CREATE_ONLY, wanted="EXIST")
    equal(_get(bed, handle, "name"), b"one", "the value")


@put.case()
def replace_what_is_not_there(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"one", ops.REPLACE_ONLY, wanted="NOXATTR")
    equal(_list(bed, handle)[0], [], "names")


@put.case()
def replace_what_is_there(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"one")
    _set(bed, handle, "name", b"two", ops.REPLACE_ONLY)
    equal(_get(bed, handle, "name"), b"two", "the value")


@put.case()
def an_option_that_is_none(bed):
    bed.client.undecodable(ops.putfh(_file(bed)), ops.setxattr("name", b"v", 9), also="INVAL")


@put.case()
def change_info(bed):
    handle = _file(bed)
    before = bed.attributes(handle, attr.CHANGE)[attr.CHANGE]
    change = _set(bed, handle, "name", b"value")
    after = bed.attributes(handle, attr.CHANGE)[attr.CHANGE]
    require(after != before, "change stayed")
    equal(change.after, after, "the change afterwards")
    if change.atomic:
        equal(change.before, before, "the change before")


@put.case()
def times(bed):
    handle = _file(bed)
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.TIME_MODIFY_SET: attr.to_client(1000)}))
    before = bed.attributes(handle, attr.TIME_MODIFY, attr.TIME_METADATA)
    _set(bed, handle, "name", b"value")
    after = bed.attributes(handle, attr.TIME_MODIFY, attr.TIME_METADATA)
    equal(after[attr.TIME_MODIFY], before[attr.TIME_MODIFY], "time_modify")
    require(after[attr.TIME_METADATA] >= before[attr.TIME_METADATA], "time_metadata went back")


for _called, _name, _wanted in [("empty", b"", "INVAL BADNAME"),
                                ("too_long", b"n" * 256, "NAMETOOLONG XATTR2BIG"),
                                ("with_nul", b"a\0b", "INVAL BADCHAR BADNAME")]:
    put.add(f"name_{_called}", lambda bed, name=_name, wanted=_wanted: _set(
        bed, _file(bed), name, b"v", wanted=wanted))
    get.add(f"name_{_called}", lambda bed, name=_name, wanted=_wanted: _get(
        bed, _file(bed), name, wanted=wanted + " NOXATTR"))

for _called, _name in [("utf8", "grün".encode()), ("longest", b"n" * 250), ("dots", b"a.b.c"),
                       ("blank", b"a b"), ("slash", b"a/b"), ("user", b"user.name")]:
    def _named(bed, name=_name):
        handle = _file(bed)
        _set(bed, handle, name, b"value")
        equal(_get(bed, handle, name), b"value", "the value")
        equal(_list(bed, handle)[0], [name], "names")
        bed.expect("OK", ops.putfh(handle), ops.removexattr(name))
        equal(_list(bed, handle)[0], [], "names")
    put.add(f"a_name_{_called}", _named)


@get.case()
def what_is_not_there(bed):
    _get(bed, _file(bed), "nothing", wanted="NOXATTR")


@get.case()
def what_another_file_has(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"value")
    _get(bed, bed.file(name="another"), "name", wanted="NOXATTR")


@get.case()
def by_another_link(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"value")
    bed.values(ops.putfh(handle), ops.savefh(), ops.putfh(bed.dir), ops.link("again"))
    found = bed.values(ops.putfh(bed.dir), ops.lookup("again"), ops.getxattr("name"))[2]
    equal(found, b"value", "the value")


@get.case()
def after_a_rename(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"value")
    bed.values(ops.putfh(bed.dir), ops.savefh(), ops.rename("file", "new"))
    equal(_get(bed, handle, "name"), b"value", "the value")


# --- LISTXATTRS

@names.case()
def of_nothing(bed):
    equal(_list(bed, _file(bed)), ([], 1), "names and pages")


def _many(bed, count=60):
    handle = _file(bed)
    wanted = {f"name {number:02d} {'x' * number}".encode() for number in range(count)}
    for name in wanted:
        _set(bed, handle, name, b"v")
    return handle, wanted


@names.case()
def each_once(bed):
    handle, wanted = _many(bed)
    found, _ = _list(bed, handle)
    equal(sorted(found), sorted(wanted), "names")


@names.case()
def page_by_page(bed):
    handle, wanted = _many(bed)
    found, pages = _list(bed, handle, 256)
    require(pages > 2, f"{pages} pages of 256 bytes")
    equal(sorted(found), sorted(wanted), "names")


@names.case()
def maxcount_is_kept(bed):
    handle, _ = _many(bed)
    for maxcount in (200, 500, 1500):
        _, some, _ = bed.expect("OK", ops.putfh(handle), ops.listxattrs(0, maxcount))
        size = 8 + 4 + sum(4 + (len(name) + 3) // 4 * 4 for name in some) + 4
        require(size <= maxcount, f"{size} bytes for maxcount {maxcount}")


for _count in (0, 4, 15):
    names.add(f"maxcount_{_count}_is_too_small", lambda bed, count=_count: (
        _too_small(bed, _file(bed), count)))


def _too_small(bed, handle, count):
    _set(bed, handle, "a name that has some length", b"v")
    bed.expect("TOOSMALL", ops.putfh(handle), ops.listxattrs(0, count))


@names.case()
def a_cookie_that_is_none(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"v")
    answer = bed.client.ask(ops.putfh(handle), ops.listxattrs(123456789, 4096))
    check(answer.status, "BAD_COOKIE OK", "LISTXATTRS")


@names.case()
def system_ones_are_not_shown(bed):
    found = _list(bed, _file(bed))[0]
    equal([name for name in found if name.startswith((b"system.", b"security.", b"trusted."))], [],
          "names that are not the user's")


# --- REMOVEXATTR

@remove.case()
def what_is_there(bed):
    handle = _file(bed)
    _set(bed, handle, "one", b"1")
    _set(bed, handle, "two", b"2")
    before = bed.attributes(handle, attr.CHANGE)[attr.CHANGE]
    change = bed.expect("OK", ops.putfh(handle), ops.removexattr("one"))
    require(change.after != before, "change stayed")
    _get(bed, handle, "one", wanted="NOXATTR")
    equal(_list(bed, handle)[0], [b"two"], "names")


@remove.case()
def what_is_gone(bed):
    handle = _file(bed)
    bed.expect("NOXATTR", ops.putfh(handle), ops.removexattr("nothing"))


@remove.case()
def then_create(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"one")
    bed.expect("OK", ops.putfh(handle), ops.removexattr("name"))
    _set(bed, handle, "name", b"two", ops.CREATE_ONLY)
    equal(_get(bed, handle, "name"), b"two", "the value")


# --- who may

@access.case()
def by_a_user_who_may_only_read(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"value")
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o644}))
    user = bed.new_client(uid=USER)
    equal(user.expect("OK", ops.putfh(handle), ops.getxattr("name")), b"value", "the value")
    user.expect("ACCESS PERM", ops.putfh(handle), ops.setxattr("name", b"new"))
    user.expect("ACCESS PERM", ops.putfh(handle), ops.removexattr("name"))


@access.case()
def by_a_user_who_may_not_read(bed):
    handle = _file(bed)
    _set(bed, handle, "name", b"value")
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o600}))
    bed.new_client(uid=USER).expect("ACCESS PERM", ops.putfh(handle), ops.getxattr("name"))


@access.case()
def access_bits(bed):
    handle = _file(bed)
    bits = XAREAD | XAWRITE | XALIST
    supported, granted = bed.expect("OK", ops.putfh(handle), ops.access(bits))
    equal((supported, granted), (bits, bits), "ACCESS: supported and granted")
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o644}))
    _, granted = bed.new_client(uid=USER).expect("OK", ops.putfh(handle), ops.access(bits))
    equal(granted & XAWRITE, 0, "XAWRITE of one who may not write")
    equal(granted & XAREAD, XAREAD, "XAREAD of one who may read")
