"""READDIR: cookies, verifiers, counts, what entries say."""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import KINDS
from registry import Subject, check, equal, require

readdir = Subject("readdir", rfc7530="16.24.4", rfc8881="18.23.3")

MANY = 120


def _list(bed, cookie=0, verifier=bytes(8), wanted="OK", **how):
    return bed.expect(wanted, ops.putfh(bed.dir), ops.readdir(cookie, verifier, **how))


def _fill(bed, count=MANY):
    """Makes names of different lengths; returns them."""
    names = [f"{number:03d}" + "x" * (number % 50) for number in range(count)]
    for at in range(0, count, 10):
        bed.values(ops.putfh(bed.dir), *(operation for name in names[at:at + 10] for operation in (
            ops.create(ops.FIFO, name), ops.putfh(bed.dir))))
    return {name.encode() for name in names}


def _pages(bed, **how):
    """All entries, page by page."""
    cookie, verifier, found, pages = 0, bytes(8), [], 0
    while True:
        page = _list(bed, cookie, verifier, **how)
        pages += 1
        found += page.entries
        if page.eof:
            return found, pages
        require(page.entries, "a page with no entries and no end")
        cookie, verifier = page.entries[-1].cookie, page.verifier


@readdir.case()
def of_nothing(bed):
    page = _list(bed)
    equal((page.entries, page.eof), ([], True), "entries and the end")


@readdir.case()
def each_once(bed):
    names = _fill(bed)
    found, pages = _pages(bed, maxcount=1024)
    require(pages > 3, f"{pages} pages of 1024 bytes")
    equal(sorted(entry.name for entry in found), sorted(names), "the names")


@readdir.case()
def no_dot_and_no_dotdot(bed):
    bed.make("directory")
    equal(bed.names(), [b"directory"], "the names")


@readdir.case()
def cookies_are_different_and_not_reserved(bed):
    _fill(bed, 40)
    cookies = [entry.cookie for entry in _pages(bed)[0]]
    equal(len(set(cookies)), 40, "the number of different cookies")
    equal([cookie for cookie in cookies if cookie in (0, 1, 2)], [], "reserved cookies")


@readdir.case()
def from_any_cookie_on(bed):
    _fill(bed, 30)
    page = _list(bed)
    names = [entry.name for entry in page.entries]
    for at, entry in enumerate(page.entries):
        rest = _list(bed, entry.cookie, page.verifier)
        equal([one.name for one in rest.entries], names[at + 1:], f"names behind number {at}")


@readdir.case()
def a_cookie_whose_entry_is_gone(bed):
    _fill(bed, 20)
    page = _list(bed)
    bed.expect("OK", ops.putfh(bed.dir), ops.remove(page.entries[9].name))
    answer = bed.client.ask(ops.putfh(bed.dir), ops.readdir(page.entries[9].cookie, page.verifier))
    check(answer.status, "OK NOT_SAME BAD_COOKIE", "READDIR")
    if answer.status == "OK":
        equal([entry.name for entry in answer.results[1].value.entries],
              [entry.name for entry in page.entries[10:]], "the names behind it")


@readdir.case()
def what_was_removed_meanwhile_is_not_there(bed):
    names = _fill(bed, 60)
    first = _list(bed, maxcount=1024)
    shown = {entry.name for entry in first.entries}
    gone = sorted(names - shown)[:10]
    for name in gone:
        bed.expect("OK", ops.putfh(bed.dir), ops.remove(name))
    cookie, verifier, later = first.entries[-1].cookie, first.verifier, set()
    while True:
        page = _list(bed, cookie, verifier)
        later |= {entry.name for entry in page.entries}
        if page.eof:
            break
        cookie, verifier = page.entries[-1].cookie, page.verifier
    equal(later & set(gone), set(), "removed names that are shown")
    equal(later | shown, names - set(gone), "all names")


for _cookie in (1, 2):
    readdir.add(f"cookie_{_cookie}_is_reserved", lambda bed, cookie=_cookie: (
        bed.make("directory"), _list(bed, cookie, wanted="BAD_COOKIE INVAL OK")))


@readdir.case()
def a_cookie_that_is_none(bed):
    _fill(bed, 5)
    page = _list(bed)
    answer = bed.client.ask(ops.putfh(bed.dir), ops.readdir((1 << 64) - 1, page.verifier))
    check(answer.status, "BAD_COOKIE NOT_SAME OK", "READDIR")
    if answer.status == "OK":
        equal(answer.results[1].value.entries, [], "entries behind the last")


@readdir.case()
def a_verifier_that_is_wrong(bed):
    _fill(bed, 5)
    page = _list(bed)
    answer = bed.client.ask(ops.putfh(bed.dir), ops.readdir(page.entries[1].cookie, b"wrong!!!"))
    check(answer.status, "NOT_SAME OK", "READDIR")


@readdir.case()
def a_verifier_with_cookie_0(bed):
    _fill(bed, 5)
    answer = bed.client.ask(ops.putfh(bed.dir), ops.readdir(0, b"wrong!!!"))
    check(answer.status, "OK NOT_SAME BAD_COOKIE", "READDIR")


for _maxcount in (0, 1, 15):
    readdir.add(f"maxcount_{_maxcount}", lambda bed, maxcount=_maxcount: (
        bed.make("directory"), _list(bed, maxcount=maxcount, wanted="TOOSMALL")))


@readdir.case()
def maxcount_too_small_for_an_entry(bed):
    bed.make("directory", "n" * 200)
    _list(bed, maxcount=40, numbers=(attr.TYPE, attr.OWNER), wanted="TOOSMALL")


@readdir.case()
def maxcount_is_kept(bed):
    _fill(bed)
    for maxcount in (512, 2048, 8192):
        page = _list(bed, maxcount=maxcount, numbers=(attr.FILEID,))
        size = 8 + 4 + 4 + sum(4 + 8 + 4 + (len(entry.name) + 3) // 4 * 4 + 8 + 4 + 8
                               for entry in page.entries)
        require(size <= maxcount, f"{size} bytes of entries for maxcount {maxcount}")


for _dircount in (0, 1, 1 << 31):
    def _with_dircount(bed, dircount=_dircount):
        names = _fill(bed, 20)
        equal({entry.name for entry in _pages(bed, dircount=dircount)[0]}, names, "the names")
    readdir.add(f"dircount_{_dircount}", _with_dircount)


@readdir.case()
def maxcount_of_4_gib(bed):
    names = _fill(bed, 20)
    equal({entry.name for entry in _list(bed, maxcount=0xFFFFFFFF).entries}, names, "the names")


@readdir.case()
def attributes_of_each_kind(bed):
    handles = {kind.encode(): bed.make(kind) for kind in KINDS}
    numbers = (attr.TYPE, attr.FILEID, attr.SIZE, attr.MODE, attr.FILEHANDLE,
               attr.MOUNTED_ON_FILEID)
    for entry in _list(bed, numbers=numbers).entries:
        equal(entry.attributes, bed.attributes(handles[entry.name], *numbers),
              f"attributes of {entry.name.decode()}")


@readdir.case()
def without_attributes(bed):
    bed.make("directory")
    equal(_list(bed).entries[0].attributes, {}, "attributes")


@readdir.case()
def of_what_nobody_knows(bed):
    bed.make("directory")
    page = _list(bed, numbers=(attr.TYPE, 95))
    equal(page.entries[0].attributes, {attr.TYPE: ops.DIR}, "attributes")


@readdir.case()
def of_what_is_not_supported(bed):
    bed.make("directory")
    unsupported = sorted(attr.DECODED - bed.supported() - {attr.RDATTR_ERROR})[:3]
    page = _list(bed, numbers=(attr.TYPE, *unsupported))
    equal(page.entries[0].attributes, {attr.TYPE: ops.DIR}, "attributes")


@readdir.case()
def of_what_is_only_set(bed):
    bed.make("directory")
    _list(bed, numbers=(attr.TIME_MODIFY_SET,), wanted="INVAL")


@readdir.case(rfc7530="5.8.1.12", rfc8881="5.8.1.12")
def rdattr_error_is_ok(bed):
    bed.make("directory")
    found = _list(bed, numbers=(attr.RDATTR_ERROR, attr.TYPE)).entries[0].attributes
    equal(found.get(attr.RDATTR_ERROR, 0), 0, "rdattr_error")


@readdir.case()
def by_a_user_who_may_not_read(bed):
    handle = bed.make("directory", values={attr.MODE: 0o711})
    bed.new_client(uid=1000).expect("ACCESS", ops.putfh(handle), ops.readdir())


@readdir.case()
def of_a_removed_directory(bed):
    handle = bed.make("directory")
    bed.expect("OK", ops.putfh(bed.dir), ops.remove("directory"))
    check(bed.client.ask(ops.putfh(handle), ops.readdir()).status, "STALE NOENT", "READDIR")


@readdir.case()
def of_the_pseudo_root(bed):
    listing = bed.expect("OK", ops.putrootfh(), ops.readdir(numbers=(attr.TYPE,)))
    first = bed.options.export.strip("/").split("/")[0].encode()
    require(first in [entry.name for entry in listing.entries] or not first,
            f"{first!r} is not among {[entry.name for entry in listing.entries]}")
