"""NFSv3: procedures on names and on types."""

import os

import nfs3_calls as v3
from bed3 import DEVICES, KINDS, USER
from nfs4_wire import u32
from registry import Subject, check, equal, require
from rpc_wire import Rejected

lookup = Subject("lookup", rfc1813="3.3.3")
create = Subject("create", rfc1813="3.3.8")
mkdir = Subject("mkdir", rfc1813="3.3.9")
symlink = Subject("symlink", rfc1813="3.3.10")
mknod = Subject("mknod", rfc1813="3.3.11")
remove = Subject("remove", rfc1813="3.3.12")
rmdir = Subject("rmdir", rfc1813="3.3.13")
rename = Subject("rename", rfc1813="3.3.14")
link = Subject("link", rfc1813="3.3.15")
handle = Subject("handle", rfc1813="2.6")
names = Subject("name", rfc1813="3.2")

NOT_DIRECTORIES = ("file", "symlink", *DEVICES)
VERIFIER = b"verifier"


def _calls(bed, where, name):
    """Every procedure that takes a directory and a name."""
    nfs = bed.nfs
    yield "lookup", lambda: nfs.lookup(where, name)
    yield "create", lambda: nfs.create(where, name)
    yield "mkdir", lambda: nfs.mkdir(where, name)
    yield "symlink", lambda: nfs.symlink(where, name, "text")
    yield "mknod", lambda: nfs.mknod(where, name, v3.FIFO)
    yield "remove", lambda: nfs.remove(where, name)
    yield "rmdir", lambda: nfs.rmdir(where, name)
    yield "rename_from", lambda: nfs.rename(where, name, bed.dir, "new")
    yield "rename_to", lambda: (bed.file(name="source"),
                                nfs.rename(bed.dir, "source", where, name))[1]
    yield "link", lambda: nfs.link(bed.file(name="source"), where, name)


NAMES = [name for name, _ in _calls(type("NoBed", (), {"nfs": None, "dir": None}), None, None)]
MAKING = ("create", "mkdir", "symlink", "mknod", "rename_to", "link")
SUBJECTS = {"lookup": lookup, "create": create, "mkdir": mkdir, "symlink": symlink, "mknod": mknod,
            "remove": remove, "rmdir": rmdir, "rename_from": rename, "rename_to": rename,
            "link": link}


def _answers(call, where, name, wanted):
    def body(bed):
        at = bed.dir if where is None else where(bed)
        check(dict(_calls(bed, at, name))[call]().status, wanted, call.upper())
    return body


for _call in NAMES:
    for _kind in ("file", "symlink", "fifo"):
        SUBJECTS[_call].add(f"{_call}_in_a_{_kind}", _answers(
            _call, lambda bed, kind=_kind: bed.make(kind), "name", "NOTDIR"))
    for _called, _name, _wanted in [
            ("of_256_bytes", b"n" * 256, "NAMETOOLONG"), ("empty", b"", "INVAL ACCESS NOENT"),
            ("slash", b"a/b", "INVAL ACCESS NOENT")]:
        names.add(f"{_call}_{_called}", _answers(_call, None, _name, _wanted))
    if _call != "lookup":
        for _called, _name in (("dot", b"."), ("dotdot", b"..")):
            names.add(f"{_call}_{_called}", _answers(
                _call, None, _name, "INVAL EXIST ACCESS ISDIR NOTEMPTY NOENT"))
    if _call in MAKING and _call != "rename_to":
        for _kind in ("file", "directory", "symlink", "fifo"):
            if (_call, _kind) != ("create", "file"):
                SUBJECTS[_call].add(f"{_call}_where_a_{_kind}_is", _answers(
                    _call, lambda bed, kind=_kind: (bed.make(kind, "name"), bed.dir)[1], "name",
                    "EXIST" if _call != "create" else "EXIST ISDIR INVAL"))


for _called, _name in [("nul", b"a\0b"), ("newline", b"a\nb"), ("not_utf8", b"\xff\xfe"),
                       ("longest", b"n" * 255), ("blank", b" ")]:
    def _kept(bed, name=_name, called=_called):
        answer = bed.nfs.mkdir(bed.dir, name, mode=0o755)
        check(answer.status, "OK" if called != "nul" else "INVAL ACCESS OK", "MKDIR")
        equal(bed.names(), [name] if answer.status == "OK" else [], "READDIR's names")
    names.add(f"{_called}_as_it_is", _kept)


# --- LOOKUP

@lookup.case()
def what_is_not_there(bed):
    answer = bed.nfs.lookup(bed.dir, "nothing")
    check(answer.status, "NOENT", "LOOKUP")


for _kind in KINDS:
    def _found(bed, kind=_kind):
        made = bed.make(kind)
        answer = bed.ok(bed.nfs.lookup(bed.dir, kind), "LOOKUP")
        equal((answer.value, answer.attributes.kind), (made, KINDS[kind]), "handle and type")
    lookup.add(f"of_a_{_kind}", _found)


@lookup.case()
def dot_and_dotdot(bed):
    below = bed.make("directory")
    equal(bed.ok(bed.nfs.lookup(below, "."), "LOOKUP").attributes.fileid,
          bed.attributes(below).fileid, "the fileid of .")
    equal(bed.ok(bed.nfs.lookup(below, ".."), "LOOKUP").attributes.fileid,
          bed.attributes(bed.dir).fileid, "the fileid of ..")


@lookup.case()
def where_one_may_not(bed):
    below = bed.make("directory", mode=0o600)
    check(bed.connect(USER).lookup(below, "name").status, "ACCESS", "LOOKUP")


# --- CREATE

@create.case()
def unchecked_makes(bed):
    answer = bed.ok(bed.nfs.create(bed.dir, "file", mode=0o640), "CREATE")
    made = answer.value or bed.nfs.lookup(bed.dir, "file").value
    found = bed.attributes(made)
    equal((found.kind, found.mode, found.size), (v3.REG, 0o640, 0), "the new file")


@create.case()
def unchecked_on_what_is_there(bed):
    made = bed.file(b"text")
    bed.ok(bed.nfs.create(bed.dir, "file"), "CREATE")
    equal(bed.text(made), b"text", "what is there")


@create.case()
def unchecked_with_size_0_empties(bed):
    made = bed.file(b"text")
    bed.ok(bed.nfs.create(bed.dir, "file", size=0), "CREATE")
    equal(bed.attributes(made).size, 0, "size")


@create.case()
def guarded_on_what_is_there(bed):
    made = bed.file(b"text")
    check(bed.nfs.create(bed.dir, "file", v3.GUARDED, size=0).status, "EXIST", "CREATE")
    equal(bed.text(made), b"text", "what is there")


@create.case()
def exclusive_twice(bed):
    first = bed.ok(bed.nfs.create(bed.dir, "file", v3.EXCLUSIVE, VERIFIER), "CREATE")
    second = bed.ok(bed.nfs.create(bed.dir, "file", v3.EXCLUSIVE, VERIFIER), "CREATE again")
    equal(second.value, first.value, "the handle")


@create.case()
def exclusive_with_another_verifier(bed):
    bed.ok(bed.nfs.create(bed.dir, "file", v3.EXCLUSIVE, VERIFIER), "CREATE")
    check(bed.nfs.create(bed.dir, "file", v3.EXCLUSIVE, b"anothers").status, "EXIST", "CREATE")


@create.case()
def exclusive_on_what_is_there(bed):
    bed.file()
    check(bed.nfs.create(bed.dir, "file", v3.EXCLUSIVE, VERIFIER).status, "EXIST", "CREATE")


@create.case()
def exclusive_then_setattr(bed):
    made = bed.ok(bed.nfs.create(bed.dir, "file", v3.EXCLUSIVE, VERIFIER), "CREATE").value
    bed.ok(bed.nfs.setattr(made, mode=0o600, atime=v3.SERVER_TIME, mtime=v3.SERVER_TIME),
           "SETATTR")
    found = bed.attributes(made)
    equal(found.mode, 0o600, "mode")
    require(found.mtime[0] > 1600000000, f"mtime is {found.mtime} after SETATTR")


@create.case()
def a_mode_that_is_none(bed):
    try:
        said = bed.nfs.create(bed.dir, "file", 7).status
    except Rejected as rejected:
        said = str(rejected)
    check(said, "GARBAGE_ARGS INVAL NOTSUPP", "CREATE")


@create.case()
def where_one_may_not_write(bed):
    bed.ok(bed.nfs.setattr(bed.dir, mode=0o755), "SETATTR")
    check(bed.connect(USER).create(bed.dir, "file").status, "ACCESS", "CREATE")


@create.case()
def owner_is_who_made_it(bed):
    bed.ok(bed.connect(USER).create(bed.dir, "file", mode=0o600), "CREATE")
    found = bed.nfs.lookup(bed.dir, "file").attributes
    equal((found.uid, found.gid), (USER, USER), "owner and group")


@create.case(rfc1813="2.6")
def wcc(bed):
    before = bed.attributes(bed.dir)
    answer = bed.ok(bed.nfs.create(bed.dir, "file"), "CREATE")
    _wcc(bed, answer.wcc[0], before, bed.dir)


def _wcc(bed, said, before, of):
    """Weak cache consistency data: what it says is true."""
    after = bed.attributes(of)
    if said.before:
        equal((said.before.mtime, said.before.ctime), (before.mtime, before.ctime),
              "the times before")
    require(said.after, "no attributes afterwards")
    equal((said.after.mtime, said.after.ctime), (after.mtime, after.ctime), "the times afterwards")
    require(after.mtime != before.mtime, "mtime stayed")


# --- the other makers

@mkdir.case()
def attributes(bed):
    answer = bed.ok(bed.nfs.mkdir(bed.dir, "new", mode=0o750), "MKDIR")
    found = bed.attributes(answer.value)
    equal((found.kind, found.mode), (v3.DIR, 0o750), "type and mode")


@symlink.case(rfc1813="3.3.5")
def text(bed):
    made = bed.ok(bed.nfs.symlink(bed.dir, "new", b"a/../b\xff"), "SYMLINK").value
    equal(bed.ok(bed.nfs.readlink(made), "READLINK").value, b"a/../b\xff", "the text")


for _kind in ("file", "directory", "fifo"):
    symlink.add(f"readlink_of_a_{_kind}", lambda bed, kind=_kind: check(
        bed.nfs.readlink(bed.make(kind)).status, "INVAL NOTSUPP", "READLINK"), rfc1813="3.3.5")


for _kind in DEVICES:
    def _node(bed, kind=_kind):
        found = bed.attributes(bed.make(kind))
        equal(found.kind, KINDS[kind], "type")
        if kind in ("block", "char"):
            equal(found.rdev, (7, 1), "rdev")
    mknod.add(f"a_{_kind}", _node)

for _kind, _number in [("file", v3.REG), ("directory", v3.DIR), ("symlink", v3.LNK), ("none", 0),
                       ("9", 9)]:
    def _badtype(bed, number=_number):
        try:
            said = bed.nfs.mknod(bed.dir, "new", number).status
        except Rejected as rejected:
            said = str(rejected)
        check(said, "BADTYPE GARBAGE_ARGS", "MKNOD")
    mknod.add(f"no_type_{_kind}", _badtype)


@mknod.case()
def a_device_by_a_user(bed):
    check(bed.connect(USER).mknod(bed.dir, "new", v3.CHR, (1, 3)).status, "PERM ACCESS", "MKNOD")


# --- REMOVE, RMDIR

for _kind in KINDS:
    def _removed(bed, kind=_kind):
        bed.make(kind)
        before = bed.attributes(bed.dir)
        call = bed.nfs.rmdir if kind == "directory" else bed.nfs.remove
        _wcc(bed, bed.ok(call(bed.dir, kind), "REMOVE").wcc[0], before, bed.dir)
        check(bed.nfs.lookup(bed.dir, kind).status, "NOENT", "LOOKUP")
    (rmdir if _kind == "directory" else remove).add(f"a_{_kind}", _removed)


@remove.case()
def a_directory_by_remove(bed):
    bed.make("directory")
    check(bed.nfs.remove(bed.dir, "directory").status, "ISDIR INVAL PERM", "REMOVE")


for _kind in ("file", "symlink", "fifo"):
    rmdir.add(f"of_a_{_kind}", lambda bed, kind=_kind: (bed.make(kind), check(
        bed.nfs.rmdir(bed.dir, kind).status, "NOTDIR", "RMDIR")))


@rmdir.case()
def with_something_in_it(bed):
    bed.make("fifo", where=bed.make("directory"))
    check(bed.nfs.rmdir(bed.dir, "directory").status, "NOTEMPTY", "RMDIR")


for _subject, _call in ((remove, "remove"), (rmdir, "rmdir")):
    _subject.add("what_is_not_there", lambda bed, call=_call: check(
        getattr(bed.nfs, call)(bed.dir, "nothing").status, "NOENT", call.upper()))


# --- RENAME

OVER = [("file", "file", "OK"), ("file", "symlink", "OK"), ("file", "directory", "EXIST ISDIR"),
        ("directory", "file", "EXIST NOTDIR"), ("directory", "directory", "OK"),
        ("symlink", "file", "OK"), ("fifo", "directory", "EXIST ISDIR")]
for _old, _new, _wanted in OVER:
    def _over(bed, old=_old, new=_new, wanted=_wanted):
        made = bed.make(old, "old")
        bed.make(new, "new")
        check(bed.nfs.rename(bed.dir, "old", bed.dir, "new").status, wanted, "RENAME")
        if wanted == "OK":
            equal(bed.nfs.lookup(bed.dir, "new").value, made, "the handle of the new name")
    rename.add(f"a_{_old}_over_a_{_new}", _over)


@rename.case()
def a_directory_below_itself(bed):
    below = bed.make("directory")
    check(bed.nfs.rename(bed.dir, "directory", below, "new").status, "INVAL", "RENAME")


@rename.case()
def onto_itself(bed):
    made = bed.file(b"text")
    bed.ok(bed.nfs.rename(bed.dir, "file", bed.dir, "file"), "RENAME")
    equal(bed.text(made), b"text", "what is there")


@rename.case(rfc1813="2.6")
def wcc_of_both_directories(bed):
    other = bed.make("directory")
    bed.file()
    before = bed.attributes(bed.dir), bed.attributes(other)
    said = bed.ok(bed.nfs.rename(bed.dir, "file", other, "new"), "RENAME").wcc
    _wcc(bed, said[0], before[0], bed.dir)
    _wcc(bed, said[1], before[1], other)


# --- LINK

@link.case()
def of_a_file(bed):
    made = bed.file(b"text")
    answer = bed.ok(bed.nfs.link(made, bed.dir, "again"), "LINK")
    equal(answer.attributes.nlink, 2, "nlink")
    equal(bed.nfs.lookup(bed.dir, "again").value, made, "the handle of the link")


@link.case()
def of_a_directory(bed):
    check(bed.nfs.link(bed.make("directory"), bed.dir, "again").status, "ISDIR INVAL PERM", "LINK")


# --- handles

for _name, _given in [("random", os.urandom(32)), ("empty", b""), ("of_64_bytes", bytes(64))]:
    handle.add(f"{_name}_bytes", lambda bed, given=_given: check(
        bed.nfs.getattr(given).status, "BADHANDLE STALE", "GETATTR"))


@handle.case()
def of_65_bytes(bed):
    try:
        said = bed.nfs.getattr(bytes(65)).status
    except Rejected as rejected:
        said = str(rejected)
    check(said, "GARBAGE_ARGS BADHANDLE", "GETATTR")


for _kind in ("file", "directory", "symlink"):
    def _removed_one(bed, kind=_kind):
        made = bed.make(kind)
        (bed.nfs.rmdir if kind == "directory" else bed.nfs.remove)(bed.dir, kind)
        check(bed.nfs.getattr(made).status, "STALE", "GETATTR")
    handle.add(f"of_a_removed_{_kind}", _removed_one)


@handle.case(rfc1813="3.3.0")
def null(bed):
    bed.nfs.null()


@handle.case(rfc1813="3.3")
def a_procedure_that_is_none(bed):
    try:
        bed.nfs.call(v3.NFS, 3, 22, u32(0))
        said = "OK"
    except Rejected as rejected:
        said = str(rejected)
    check(said, "PROC_UNAVAIL", "procedure 22")
