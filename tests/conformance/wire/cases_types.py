"""Operations on objects of a type that they are not for."""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import SPECIAL
from registry import Subject, check, equal

DEVICES = ("fifo", "char")
NOT_DIRECTORIES = ("file", "symlink", *DEVICES)
NOT_FILES = ("directory", "symlink", *DEVICES)

lookup = Subject("lookup", rfc7530="16.13.4", rfc8881="18.13.3")


@lookup.case()
def what_is_not_there(bed):
    bed.expect("NOENT", ops.putfh(bed.dir), ops.lookup("nothing"))


@lookup.case()
def what_is_there(bed):
    made = bed.make("fifo")
    found = bed.values(ops.putfh(bed.dir), ops.lookup("fifo"), ops.getfh())[2]
    bed.expect("SAME" if found == made else "NOT_SAME", ops.putfh(found), ops.nverify(
        bed.attributes(made, attr.FILEID)))


def _below(operation, of_symlink="SYMLINK NOTDIR"):
    """Cases of an operation whose current file handle must be a directory."""
    def of(kind):
        def body(bed):
            bed.expect(of_symlink if kind == "symlink" else "NOTDIR", ops.putfh(bed.make(kind)),
                       operation(bed))
        return body
    return of


def _open(bed):
    return bed.client.open_operation(bed.client.owner(), ops.claim_null("name"))


def _create_open(bed):
    return bed.client.open_operation(bed.client.owner(), ops.claim_null("name"),
                                     how=ops.unchecked())


IN_DIRECTORIES = [
    ("lookup", lambda bed: ops.lookup("name"), "16.13.4", "18.13.3"),
    ("lookupp", lambda bed: ops.lookupp(), "16.14.4", "18.14.3"),
    ("create", lambda bed: ops.create(ops.DIR, "name"), "16.4.4", "18.4.3"),
    ("remove", lambda bed: ops.remove("name"), "16.26.4", "18.25.3"),
    ("readdir", lambda bed: ops.readdir(), "16.24.4", "18.23.3"),
    ("secinfo", lambda bed: ops.secinfo("name"), "16.31.4", "18.29.3"),
    ("open", _open, "16.16.5", "18.16.3"),
    ("open_create", _create_open, "16.16.5", "18.16.3")]

for _name, _operation, _v40, _v41 in IN_DIRECTORIES:
    _subject = Subject(_name, rfc7530=_v40, rfc8881=_v41)
    for _kind in NOT_DIRECTORIES:
        _subject.add(f"in_a_{_kind}", _below(
            _operation, "SYMLINK" if _name == "lookup" else "SYMLINK NOTDIR")(_kind))


def _link_into(kind):
    def body(bed):
        file = bed.file(name="source")
        bed.expect("NOTDIR" if kind != "symlink" else "NOTDIR SYMLINK", ops.putfh(file),
                   ops.savefh(), ops.putfh(bed.make(kind)), ops.link("name"))
    return body


def _rename_from(kind):
    def body(bed):
        bed.expect("NOTDIR" if kind != "symlink" else "NOTDIR SYMLINK", ops.putfh(bed.make(kind)),
                   ops.savefh(), ops.putfh(bed.dir), ops.rename("name", "new"))
    return body


def _rename_into(kind):
    def body(bed):
        bed.file(name="source")
        bed.expect("NOTDIR" if kind != "symlink" else "NOTDIR SYMLINK", ops.putfh(bed.dir),
                   ops.savefh(), ops.putfh(bed.make(kind)), ops.rename("source", "new"))
    return body


_link = Subject("link", rfc7530="16.9.4", rfc8881="18.9.3")
_rename = Subject("rename", rfc7530="16.27.4", rfc8881="18.26.3")
for _kind in NOT_DIRECTORIES:
    _link.add(f"into_a_{_kind}", _link_into(_kind))
    _rename.add(f"out_of_a_{_kind}", _rename_from(_kind))
    _rename.add(f"into_a_{_kind}", _rename_into(_kind))


@_link.case()
def of_a_directory(bed):
    bed.expect("ISDIR", ops.putfh(bed.make("directory")), ops.savefh(), ops.putfh(bed.dir),
               ops.link("name"))


for _kind in SPECIAL:
    def _link_of(bed, kind=_kind):
        made = bed.make(kind)
        bed.expect("OK", ops.putfh(made), ops.savefh(), ops.putfh(bed.dir), ops.link("again"))
        links = bed.attributes(made, attr.NUMLINKS)
        bed.expect("SAME", ops.putfh(bed.dir), ops.lookup("again"), ops.nverify(links))
    _link.add(f"of_a_{_kind}", _link_of)


# --- what only regular files have

def _wanted(kind, minor, v40=None):
    """RFC 8881 18.22.3: ISDIR, SYMLINK, WRONG_TYPE; RFC 7530 16.23.4: ISDIR, otherwise INVAL."""
    if kind == "directory":
        return "ISDIR"
    if kind == "symlink":
        return "SYMLINK" if minor else "INVAL SYMLINK"
    return "WRONG_TYPE" if minor else v40 or "INVAL"


def _on_file(operation):
    def of(kind):
        def body(bed):
            bed.expect(_wanted(kind, bed.minor), ops.putfh(bed.make(kind)), operation(bed))
        return body
    return of


ON_FILES = [
    ("read", lambda bed: ops.read(ops.ANONYMOUS), "16.23.4", "18.22.3"),
    ("write", lambda bed: ops.write(ops.ANONYMOUS, b"x"), "16.36.4", "18.32.3"),
    ("commit", lambda bed: ops.commit(), "16.3.5", "18.3.4"),
    ("lockt", lambda bed: ops.lockt(ops.READ_LT, 0, 1, bed.client.client_id, "l"), "16.11.4",
     "18.11.3")]

for _name, _operation, _v40, _v41 in ON_FILES:
    _subject = Subject(_name, rfc7530=_v40, rfc8881=_v41)
    for _kind in NOT_FILES:
        _subject.add(f"of_a_{_kind}", _on_file(_operation)(_kind))


def _open_of(kind):
    def body(bed):
        bed.make(kind)
        status, _, _ = bed.client.try_open(bed.dir, kind)
        wanted = _wanted(kind, bed.minor, "INVAL SYMLINK")
        check(status, "SYMLINK" if kind == "symlink" else wanted, "OPEN")
    return body


_opening = Subject("open", rfc7530="16.16.5", rfc8881="18.16.3")
for _kind in NOT_FILES:
    _opening.add(f"of_a_{_kind}", _open_of(_kind))


def _size_of(kind):
    def body(bed):
        bed.expect("ISDIR INVAL" if not bed.minor else "ISDIR INVAL WRONG_TYPE SYMLINK",
                   ops.putfh(bed.make(kind)), ops.setattr_({attr.SIZE: 0}))
    return body


_setattr = Subject("setattr", rfc7530="16.32.4", rfc8881="18.30.3")
for _kind in NOT_FILES:
    _setattr.add(f"size_of_a_{_kind}", _size_of(_kind))

_readlink = Subject("readlink", rfc7530="16.25.4", rfc8881="18.24.3")
for _kind in ("file", "directory", *DEVICES):
    _readlink.add(f"of_a_{_kind}", lambda bed, kind=_kind: bed.expect(
        "WRONG_TYPE" if bed.minor else "INVAL", ops.putfh(bed.make(kind)), ops.readlink()))


@_readlink.case()
def of_a_symlink(bed):
    target = bed.expect("OK", ops.putfh(bed.make("symlink")), ops.readlink())
    equal(target, b"target", "READLINK's text")


_v42 = [
    ("allocate", lambda: ops.allocate(ops.ANONYMOUS, 0, 1), "15.1.3"),
    ("deallocate", lambda: ops.deallocate(ops.ANONYMOUS, 0, 1), "15.4.3"),
    ("seek", lambda: ops.seek(ops.ANONYMOUS, 0, 0), "15.11.3"),
    ("read_plus", lambda: ops.read_plus(ops.ANONYMOUS), "15.10.3")]
for _name, _make, _where in _v42:
    _subject = Subject(_name, rfc7862=_where)
    for _kind in NOT_FILES:
        _answer = {"directory": "ISDIR WRONG_TYPE", "symlink": "SYMLINK WRONG_TYPE"}.get(
            _kind, "WRONG_TYPE")
        _subject.add(f"of_a_{_kind}", lambda bed, make=_make, kind=_kind, answer=_answer:
                     bed.expect(answer, ops.putfh(bed.make(kind)), make()))


@lookup.case(rfc7530="16.14.4", rfc8881="18.14.3")
def above_the_root(bed):
    bed.expect("NOENT", ops.putrootfh(), ops.lookupp())


@lookup.case(rfc7530="16.14.4", rfc8881="18.14.3")
def the_parent(bed):
    below = bed.make("directory")
    here = bed.attributes(bed.dir, attr.FILEID)
    bed.expect("SAME", ops.putfh(below), ops.lookupp(), ops.nverify(here))


@lookup.case(rfc7530="16.14.4", rfc8881="18.14.3")
def the_parent_after_a_rename(bed):
    below, other = bed.make("directory"), bed.make("directory", "other")
    bed.values(ops.putfh(bed.dir), ops.savefh(), ops.putfh(other), ops.rename("directory", "new"))
    there = bed.attributes(other, attr.FILEID)
    bed.expect("SAME", ops.putfh(below), ops.lookupp(), ops.nverify(there))
