"""NFSv3: attributes, data, listings, what a filesystem says of itself."""

import nfs3_calls as v3
from bed3 import DEVICES, KINDS, USER
from registry import Subject, check, equal, require

getattr_ = Subject("getattr", rfc1813="3.3.1")
setattr_ = Subject("setattr", rfc1813="3.3.2")
access = Subject("access", rfc1813="3.3.4")
read = Subject("read", rfc1813="3.3.6")
write = Subject("write", rfc1813="3.3.7")
readdir = Subject("readdir", rfc1813="3.3.16")
readdirplus = Subject("readdirplus", rfc1813="3.3.17")
fsstat = Subject("fsstat", rfc1813="3.3.18")
fsinfo = Subject("fsinfo", rfc1813="3.3.19")
pathconf = Subject("pathconf", rfc1813="3.3.20")
commit = Subject("commit", rfc1813="3.3.21")

NOT_FILES = ("directory", "symlink", *DEVICES)


# --- GETATTR, SETATTR

for _kind in KINDS:
    getattr_.add(f"type_of_a_{_kind}", lambda bed, kind=_kind: equal(
        bed.attributes(bed.make(kind)).kind, KINDS[kind], "type"))


@getattr_.case()
def nlink_and_size(bed):
    found = bed.attributes(bed.file(b"12345"))
    equal((found.nlink, found.size), (1, 5), "nlink and size")
    require(found.used > 0, "used is 0 of a file with data")


@setattr_.case()
def mode_and_owners(bed):
    made = bed.file()
    bed.ok(bed.nfs.setattr(made, mode=0o4751, uid=5, gid=6), "SETATTR")
    bed.ok(bed.nfs.setattr(made, mode=0o4751), "SETATTR")
    found = bed.attributes(made)
    equal((found.mode, found.uid, found.gid), (0o4751, 5, 6), "mode and owners")


@setattr_.case()
def times_of_the_client(bed):
    made = bed.file()
    bed.ok(bed.nfs.setattr(made, atime=(1000, 5000), mtime=(2000, 6000)), "SETATTR")
    found = bed.attributes(made)
    equal((found.atime[0], found.mtime[0]), (1000, 2000), "atime and mtime")


@setattr_.case()
def times_of_the_server(bed):
    made = bed.file()
    bed.ok(bed.nfs.setattr(made, mtime=(1000, 0)), "SETATTR")
    bed.ok(bed.nfs.setattr(made, mtime=v3.SERVER_TIME), "SETATTR")
    require(bed.attributes(made).mtime[0] > 1600000000, "mtime is not the server's")


@setattr_.case()
def a_time_with_too_many_nanoseconds(bed):
    check(bed.nfs.setattr(bed.file(), mtime=(1, 1000000000)).status, "INVAL", "SETATTR")


@setattr_.case()
def size(bed):
    made = bed.file(b"0123456789")
    bed.ok(bed.nfs.setattr(made, size=4), "SETATTR")
    bed.ok(bed.nfs.setattr(made, size=6), "SETATTR")
    equal(bed.text(made), b"0123\0\0", "what is there")


for _kind in NOT_FILES:
    setattr_.add(f"size_of_a_{_kind}", lambda bed, kind=_kind: check(
        bed.nfs.setattr(bed.make(kind), size=0).status, "INVAL ISDIR", "SETATTR"))


@setattr_.case()
def guard_that_holds(bed):
    made = bed.file(b"text")
    ctime = bed.attributes(made).ctime
    bed.ok(bed.nfs.setattr(made, guard=ctime, size=0), "SETATTR")
    equal(bed.attributes(made).size, 0, "size")


@setattr_.case()
def guard_that_does_not_hold(bed):
    made = bed.file(b"text")
    check(bed.nfs.setattr(made, guard=(1, 1), size=0).status, "NOT_SYNC", "SETATTR")
    equal(bed.attributes(made).size, 4, "size")


@setattr_.case(rfc1813="2.6")
def wcc(bed):
    made = bed.file(b"text")
    before = bed.attributes(made)
    said = bed.ok(bed.nfs.setattr(made, size=2), "SETATTR").wcc[0]
    if said.before:
        equal(said.before, v3.Before(4, before.mtime, before.ctime), "before")
    equal(said.after, bed.attributes(made), "afterwards")


@setattr_.case()
def by_one_who_is_not_its_owner(bed):
    user = bed.connect(USER)
    made = bed.file()
    check(user.setattr(made, mode=0o777).status, "PERM ACCESS", "SETATTR")
    check(user.setattr(made, uid=USER).status, "PERM ACCESS", "SETATTR")


# --- ACCESS

READ, LOOKUP, MODIFY, EXTEND, DELETE, EXECUTE = 1, 2, 4, 8, 16, 32


def _granted(kind, mode, wanted):
    def body(bed):
        answer = bed.connect(USER).access(bed.make(kind, mode=mode), 0x3F)
        check(answer.status, "OK", "ACCESS")
        equal(answer.value & ~DELETE, wanted, "ACCESS")
    return body


for _mode, _wanted in [(0o000, 0), (0o004, READ), (0o002, MODIFY | EXTEND), (0o001, EXECUTE),
                       (0o007, READ | MODIFY | EXTEND | EXECUTE), (0o770, 0)]:
    access.add(f"of_others_to_a_file_{_mode:03o}", _granted("file", _mode, _wanted))
for _mode, _wanted in [(0o000, 0), (0o004, READ), (0o001, LOOKUP),
                       (0o007, READ | LOOKUP | MODIFY | EXTEND)]:
    access.add(f"of_others_to_a_directory_{_mode:03o}", _granted("directory", _mode, _wanted))
access.add("of_a_group_by_its_other_groups", lambda bed: (
    bed.nfs.setattr(_of_group(bed), mode=0o040), equal(
        bed.connect(USER, (777,)).access(bed.nfs.lookup(bed.dir, "file").value, READ).value, READ,
        "ACCESS")))


def _of_group(bed):
    made = bed.file()
    bed.ok(bed.nfs.setattr(made, gid=777), "SETATTR")
    return made


@access.case()
def only_what_is_asked(bed):
    equal(bed.ok(bed.nfs.access(bed.dir, READ), "ACCESS").value & ~READ, 0, "what was not asked")


# --- READ, WRITE, COMMIT

for _name, _offset, _count, _wanted in [
        ("all", 0, 100, (10, True, b"0123456789")), ("a_part", 2, 3, (3, False, b"234")),
        ("at_the_end", 10, 5, (0, True, b"")), ("beyond_the_end", 1000, 5, (0, True, b""))]:
    read.add(_name, lambda bed, offset=_offset, count=_count, wanted=_wanted: equal(
        bed.ok(bed.nfs.read(bed.file(b"0123456789"), offset, count), "READ").value, wanted,
        "count, end and text"))

for _kind in NOT_FILES:
    _wanted = "ISDIR INVAL" if _kind == "directory" else "INVAL"
    read.add(f"of_a_{_kind}", lambda bed, kind=_kind, wanted=_wanted: check(
        bed.nfs.read(bed.make(kind), 0, 10).status, wanted, "READ"))
    write.add(f"to_a_{_kind}", lambda bed, kind=_kind, wanted=_wanted: check(
        bed.nfs.write(bed.make(kind), b"x").status, wanted, "WRITE"))
    commit.add(f"of_a_{_kind}", lambda bed, kind=_kind, wanted=_wanted: check(
        bed.nfs.commit(bed.make(kind)).status, wanted, "COMMIT"))


@read.case()
def by_one_who_may_not(bed):
    check(bed.connect(USER).read(bed.file(b"text", mode=0o600), 0, 10).status, "ACCESS", "READ")


@read.case()
def what_one_may_only_run(bed):
    check(bed.connect(USER).read(bed.file(b"text", mode=0o711), 0, 10).status, "OK ACCESS", "READ")


@write.case()
def by_another_user(bed):
    check(bed.connect(USER).write(bed.file(mode=0o644), b"x").status, "ACCESS", "WRITE")


@write.case()
def by_its_owner_whatever_the_mode_is(bed):
    """RFC 1813 section 4.4: an open file stays writable for who made it."""
    user = bed.connect(USER)
    made = bed.ok(user.create(bed.dir, "file", mode=0o400), "CREATE").value
    check(user.write(made, b"x").status, "OK", "WRITE")


for _name, _asked in (("unstable", v3.UNSTABLE), ("data_sync", v3.DATA_SYNC),
                      ("file_sync", v3.FILE_SYNC)):
    def _stable(bed, asked=_asked):
        count, committed, _ = bed.ok(bed.nfs.write(bed.file(), b"text", 0, asked), "WRITE").value
        equal(count, 4, "count")
        require(committed >= asked, f"committed {committed} of {asked} asked for")
    write.add(f"as_stable_as_asked_{_name}", _stable)


@write.case()
def a_count_that_is_not_the_datas(bed):
    made = bed.file()
    answer = bed.nfs.write(made, b"text", count=2)
    check(answer.status, "OK INVAL", "WRITE")
    if answer.status == "OK":
        equal(bed.attributes(made).size, answer.value[0], "size")


@write.case()
def nothing(bed):
    made = bed.file(b"text")
    equal(bed.ok(bed.nfs.write(made, b""), "WRITE").value[0], 0, "count")
    equal(bed.text(made), b"text", "what is there")


@write.case()
def beyond_all(bed):
    check(bed.nfs.write(bed.file(), b"xx", (1 << 64) - 1).status, "FBIG INVAL", "WRITE")


@write.case(rfc1813="2.6")
def wcc_of_a_write(bed):
    made = bed.file(b"text")
    before = bed.attributes(made)
    said = bed.ok(bed.nfs.write(made, b"more", 4), "WRITE").wcc[0]
    if said.before:
        equal(said.before, v3.Before(4, before.mtime, before.ctime), "before")
    if said.after:
        equal(said.after.size, 8, "the size afterwards")


@commit.case()
def one_verifier(bed):
    made = bed.file()
    first = bed.ok(bed.nfs.write(made, b"text", 0, v3.UNSTABLE), "WRITE").value[2]
    equal(bed.ok(bed.nfs.commit(made), "COMMIT").value, first, "the verifier")


@commit.case()
def of_a_range_beyond_the_end(bed):
    bed.ok(bed.nfs.commit(bed.file(b"text"), 1 << 40, 100), "COMMIT")


# --- READDIR, READDIRPLUS

def _fill(bed, count=100):
    wanted = set()
    for number in range(count):
        name = f"{number:03d}" + "x" * (number % 40)
        bed.ok(bed.nfs.mknod(bed.dir, name, v3.FIFO), "MKNOD")
        wanted.add(name.encode())
    return wanted


def _pages(bed, page):
    """All entries. page(cookie, verifier): an Answer."""
    cookie, verifier, found, count = 0, bytes(8), [], 0
    while True:
        listing = bed.ok(page(cookie, verifier), "READDIR").value
        found += listing.entries
        count += 1
        if listing.eof:
            return found, count
        require(listing.entries, "a page with no entries and no end")
        cookie, verifier = listing.entries[-1].cookie, listing.verifier


def _names(entries):
    return sorted(entry.name for entry in entries if entry.name not in (b".", b".."))


def _plain(bed, count=1024):
    return lambda cookie, verifier: bed.nfs.readdir(bed.dir, cookie, verifier, count)


def _plus(bed, dircount=512, maxcount=2048):
    return lambda cookie, verifier: bed.nfs.readdirplus(bed.dir, cookie, verifier, dircount,
                                                        maxcount)


for _subject, _page in ((readdir, _plain), (readdirplus, _plus)):
    @_subject.case()
    def each_once(bed, page=_page):
        wanted = _fill(bed)
        found, count = _pages(bed, page(bed))
        require(count > 2, f"{count} pages")
        equal(_names(found), sorted(wanted), "the names")
        equal(len({entry.cookie for entry in found}), len(found), "different cookies")

    @_subject.case()
    def of_nothing(bed, page=_page):
        found, _ = _pages(bed, page(bed))
        equal(_names(found), [], "the names")

    @_subject.case()
    def from_any_cookie_on(bed, page=_page):
        _fill(bed, 20)
        found, _ = _pages(bed, page(bed, 8192))
        verifier = bed.ok(page(bed, 8192)(0, bytes(8)), "READDIR").value.verifier
        for at in range(0, len(found), 3):
            rest = bed.ok(page(bed, 8192)(found[at].cookie, verifier), "READDIR").value.entries
            equal([entry.name for entry in rest][:3],
                  [entry.name for entry in found[at + 1:at + 4]], f"names behind number {at}")

    @_subject.case()
    def a_verifier_that_is_wrong(bed, page=_page):
        _fill(bed, 5)
        cookie = bed.ok(page(bed)(0, bytes(8)), "READDIR").value.entries[2].cookie
        check(page(bed)(cookie, b"wrong!!!").status, "BAD_COOKIE OK", "READDIR")

    @_subject.case()
    def dot_and_dotdot(bed, page=_page):
        found = {entry.name: entry.fileid for entry in _pages(bed, page(bed))[0]}
        if b"." in found:
            equal(found[b"."], bed.attributes(bed.dir).fileid, "the fileid of .")


for _kind in ("file", "symlink", "fifo"):
    readdir.add(f"of_a_{_kind}", lambda bed, kind=_kind: check(
        bed.nfs.readdir(bed.make(kind)).status, "NOTDIR", "READDIR"))
    readdirplus.add(f"of_a_{_kind}", lambda bed, kind=_kind: check(
        bed.nfs.readdirplus(bed.make(kind)).status, "NOTDIR NOTSUPP", "READDIRPLUS"))


@readdir.case()
def count_too_small(bed):
    bed.make("directory", "n" * 100)
    check(bed.nfs.readdir(bed.dir, count=16).status, "TOOSMALL", "READDIR")


@readdirplus.case()
def maxcount_too_small(bed):
    bed.make("directory", "n" * 100)
    check(bed.nfs.readdirplus(bed.dir, 0, bytes(8), 512, 32).status, "TOOSMALL", "READDIRPLUS")


@readdir.case()
def fileids(bed):
    handles = {kind.encode(): bed.make(kind) for kind in KINDS}
    for entry in bed.nfs.readdir(bed.dir).value.entries:
        if entry.name in handles:
            equal(entry.fileid, bed.attributes(handles[entry.name]).fileid,
                  f"the fileid of {entry.name.decode()}")


@readdirplus.case()
def attributes_and_handles(bed):
    handles = {kind.encode(): bed.make(kind) for kind in KINDS}
    seen = 0
    for entry in bed.nfs.readdirplus(bed.dir).value.entries:
        if entry.name in handles and entry.handle is not None and entry.attributes is not None:
            equal(entry.handle, handles[entry.name], f"the handle of {entry.name.decode()}")
            equal(entry.attributes, bed.attributes(entry.handle),
                  f"attributes of {entry.name.decode()}")
            seen += 1
    require(seen, "no entry with a handle and attributes")


@readdir.case()
def by_one_who_may_not_read(bed):
    made = bed.make("directory", mode=0o711)
    check(bed.connect(USER).readdir(made).status, "ACCESS", "READDIR")


# --- what a filesystem says of itself

@fsstat.case()
def it_adds_up(bed):
    stat = bed.ok(bed.nfs.fsstat(bed.dir), "FSSTAT").value
    require(stat.abytes <= stat.fbytes <= stat.tbytes, f"bytes: {stat}")
    require(stat.afiles <= stat.ffiles <= stat.tfiles, f"files: {stat}")
    require(stat.tbytes > 0 and stat.tfiles > 0, f"nothing: {stat}")


@fsinfo.case()
def sizes(bed):
    info = bed.ok(bed.nfs.fsinfo(bed.dir), "FSINFO").value
    require(0 < info.rtpref <= info.rtmax, f"rtpref {info.rtpref}, rtmax {info.rtmax}")
    require(0 < info.wtpref <= info.wtmax, f"wtpref {info.wtpref}, wtmax {info.wtmax}")
    require(info.dtpref > 0 and info.maxfilesize > 1 << 31, f"{info}")
    require(info.rtmax >= 8192 and info.wtmax >= 8192, f"less than 8 KiB: {info}")


@fsinfo.case()
def properties_are_true(bed):
    info = bed.ok(bed.nfs.fsinfo(bed.dir), "FSINFO").value
    made = bed.file()
    equal(bool(info.properties & 1), bed.nfs.link(made, bed.dir, "again").status == "OK",
          "FSF3_LINK")
    equal(bool(info.properties & 2), bed.nfs.symlink(bed.dir, "link", "x").status == "OK",
          "FSF3_SYMLINK")
    equal(bool(info.properties & 16), bed.nfs.setattr(made, mtime=(1000, 0)).status == "OK",
          "FSF3_CANSETTIME")


@fsinfo.case(rfc1813="3.3.6")
def as_much_as_rtmax(bed):
    most = bed.ok(bed.nfs.fsinfo(bed.dir), "FSINFO").value
    size = min(most.rtmax, most.wtmax, 1 << 20)
    made = bed.file()
    equal(bed.ok(bed.nfs.write(made, b"x" * size), "WRITE").value[0], size, "WRITE of wtmax")
    equal(len(bed.ok(bed.nfs.read(made, 0, size), "READ").value[2]), size, "READ of rtmax")


@fsinfo.case()
def maxfilesize_is_true(bed):
    largest = bed.ok(bed.nfs.fsinfo(bed.dir), "FSINFO").value.maxfilesize
    if largest < (1 << 64) - 10:
        check(bed.nfs.write(bed.file(), b"xxxx", largest).status, "FBIG INVAL", "WRITE")


@pathconf.case()
def name_max_and_no_trunc(bed):
    conf = bed.ok(bed.nfs.pathconf(bed.dir), "PATHCONF").value
    bed.ok(bed.nfs.mkdir(bed.dir, "n" * conf.name_max, mode=0o755), "MKDIR")
    check(bed.nfs.mkdir(bed.dir, "n" * (conf.name_max + 1), mode=0o755).status,
          "NAMETOOLONG" if conf.no_trunc else "NAMETOOLONG EXIST OK", "MKDIR")


@pathconf.case()
def case(bed):
    conf = bed.ok(bed.nfs.pathconf(bed.dir), "PATHCONF").value
    bed.make("directory", "Name")
    equal(bed.nfs.lookup(bed.dir, "nAME").status == "OK", bool(conf.case_insensitive),
          "case_insensitive")
    equal(bed.names() == [b"Name"], bool(conf.case_preserving), "case_preserving")


@pathconf.case()
def chown_restricted(bed):
    conf = bed.ok(bed.nfs.pathconf(bed.dir), "PATHCONF").value
    user = bed.connect(USER)
    made = bed.ok(user.create(bed.dir, "file", mode=0o600), "CREATE").value
    if conf.chown_restricted:
        check(user.setattr(made, uid=USER + 1).status, "PERM ACCESS", "SETATTR")
