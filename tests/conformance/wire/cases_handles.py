"""File handles: none, bad ones, those of removed objects; PUTFH, PUTPUBFH, SAVEFH, RESTOREFH."""

import os

import nfs4_attributes as attr
import nfs4_ops as ops
from registry import Subject, check, equal

none = Subject("no_handle", rfc7530="13.1.2.5", rfc8881="15.1.2.5")
handle = Subject("handle", rfc7530="16.20.5", rfc8881="18.19.3")


def _stateless(bed):
    client = bed.client.client_id
    yield "access", ops.access(1)
    yield "commit", ops.commit()
    yield "create", ops.create(ops.DIR, "name")
    yield "getattr", ops.getattr_(attr.TYPE)
    yield "getfh", ops.getfh()
    yield "link", ops.link("name")
    yield "lookup", ops.lookup("name")
    yield "lookupp", ops.lookupp()
    yield "lockt", ops.lockt(ops.READ_LT, 0, 1, client, "owner")
    yield "nverify", ops.nverify({attr.TYPE: ops.DIR})
    yield "verify", ops.verify({attr.TYPE: ops.DIR})
    yield "openattr", ops.openattr()
    yield "read", ops.read(ops.ANONYMOUS)
    yield "readdir", ops.readdir()
    yield "readlink", ops.readlink()
    yield "remove", ops.remove("name")
    yield "rename", ops.rename("name", "new")
    yield "savefh", ops.savefh()
    yield "secinfo", ops.secinfo("name")
    yield "setattr", ops.setattr_({attr.MODE: 0o644})
    yield "write", ops.write(ops.ANONYMOUS, b"x")
    yield "open", ops.open_(ops.claim_null("name"), client, "owner", ops.READING, seqid=1)
    yield "close", ops.close(ops.ANONYMOUS)
    yield "lock", ops.lock(ops.READ_LT, 0, 1, ops.new_locker(1, ops.ANONYMOUS, 0, client, "l"))
    yield "locku", ops.locku(ops.READ_LT, 0, 1, ops.ANONYMOUS)
    yield "open_downgrade", ops.open_downgrade(ops.ANONYMOUS, ops.READING)
    yield "delegreturn", (ops.DELEGRETURN, ops.ANONYMOUS)


def _later(bed):
    yield "secinfo_no_name", ops.secinfo_no_name()
    yield "allocate", ops.allocate(ops.ANONYMOUS, 0, 1)
    yield "deallocate", ops.deallocate(ops.ANONYMOUS, 0, 1)
    yield "seek", ops.seek(ops.ANONYMOUS, 0, 0)
    yield "read_plus", ops.read_plus(ops.ANONYMOUS)
    yield "io_advise", ops.io_advise(ops.ANONYMOUS)
    yield "getxattr", ops.getxattr("name")
    yield "setxattr", ops.setxattr("name", b"x")
    yield "listxattrs", ops.listxattrs()
    yield "removexattr", ops.removexattr("name")


class _NoClient:
    client_id = 0


class _NoBed:
    client = _NoClient


def _without(name, of):
    def body(bed):
        operation = dict(of(bed))[name]
        optional = of is _later and name != "secinfo_no_name"
        bed.expect("NOFILEHANDLE NOTSUPP" if optional else "NOFILEHANDLE", operation)
    return body


for _name, _ in _stateless(_NoBed):
    none.add(_name, _without(_name, _stateless))
for _name, _ in _later(_NoBed):
    none.add(_name, _without(_name, _later), **(
        {"rfc8881": "15.1.2.5"} if _name == "secinfo_no_name" else
        {"rfc8276": "8.4"} if _name.endswith(("xattr", "xattrs")) else {"rfc7862": "11.2"}))


@none.case(rfc7530="16.29.4", rfc8881="18.27.3")
def restorefh_without_a_saved_one(bed):
    bed.expect("NOFILEHANDLE" if bed.minor else "RESTOREFH", ops.putfh(bed.dir), ops.restorefh())


@none.case()
def link_without_a_saved_one(bed):
    bed.expect("NOFILEHANDLE", ops.putfh(bed.dir), ops.link("name"))


@none.case()
def rename_without_a_saved_one(bed):
    bed.expect("NOFILEHANDLE", ops.putfh(bed.dir), ops.rename("name", "new"))


@none.case()
def it_does_not_outlive_its_compound(bed):
    bed.values(ops.putfh(bed.dir), ops.savefh())
    bed.expect("NOFILEHANDLE", ops.getfh())


# --- bad ones

@handle.case()
def of_random_bytes(bed):
    bed.expect("BADHANDLE", ops.putfh(os.urandom(40)))


@handle.case()
def of_no_bytes(bed):
    bed.expect("BADHANDLE", ops.putfh(b""))


@handle.case()
def of_one_byte(bed):
    bed.expect("BADHANDLE", ops.putfh(b"\1"))


@handle.case()
def of_128_bytes(bed):
    bed.expect("BADHANDLE", ops.putfh(bytes(128)))


@handle.case(rfc7530="13.1.1.1", rfc8881="15.1.1.1")
def of_129_bytes(bed):
    bed.client.undecodable(ops.putfh(bytes(129)), also="BADHANDLE")


def _refused(bed, given):
    answer = bed.client.ask(ops.putfh(given), ops.getattr_(attr.FILEID))
    check(answer.status, "BADHANDLE STALE", "PUTFH and GETATTR")


@handle.case()
def cut_short(bed):
    _refused(bed, bed.dir[:-1])


@handle.case()
def with_bytes_behind_it(bed):
    _refused(bed, bed.dir + bytes(4))


@handle.case()
def with_its_last_bits_flipped(bed):
    made = bed.make("fifo")
    _refused(bed, made[:-4] + bytes(byte ^ 0xFF for byte in made[-4:]))


def _of_a_removed(kind):
    def body(bed):
        made = bed.make(kind)
        bed.expect("OK", ops.putfh(bed.dir), ops.remove(kind))
        answer = bed.client.ask(ops.putfh(made), ops.getattr_(attr.TYPE))
        check(answer.status, "STALE", "PUTFH and GETATTR")
    return body


for _kind in ("file", "directory", "symlink", "fifo"):
    handle.add(f"of_a_removed_{_kind}", _of_a_removed(_kind), rfc7530="13.1.2.7",
               rfc8881="15.1.2.7")


@handle.case(rfc7530="13.1.2.7", rfc8881="15.1.2.7")
def of_what_was_renamed_over(bed):
    old = bed.file(b"old", "old")
    bed.file(b"new", "new")
    bed.values(ops.putfh(bed.dir), ops.savefh(), ops.rename("new", "old"))
    answer = bed.client.ask(ops.putfh(old), ops.getattr_(attr.TYPE))
    check(answer.status, "STALE", "PUTFH and GETATTR")


@handle.case(rfc7530="4.2.1", rfc8881="4.2.1")
def one_for_all_names(bed):
    made = bed.file()
    bed.values(ops.putfh(made), ops.savefh(), ops.putfh(bed.dir), ops.link("again"))
    equal(bed.values(ops.putfh(bed.dir), ops.lookup("again"), ops.getfh())[2], made,
          "the handle of a link")


@handle.case(rfc7530="4.2.2", rfc8881="4.2.2")
def it_stays_after_a_rename(bed):
    made = bed.file(b"text")
    other = bed.make("directory")
    bed.values(ops.putfh(bed.dir), ops.savefh(), ops.putfh(other), ops.rename("file", "new"))
    equal(bed.text(made), b"text", "what is read by the old handle")


@handle.case(rfc7530="4.1.1", rfc8881="4.1.1")
def the_root(bed):
    kind = bed.expect("OK", ops.putrootfh(), ops.getattr_(attr.TYPE))
    equal(kind, {attr.TYPE: ops.DIR}, "the root's type")


@handle.case(rfc7530="16.21.4", rfc8881="18.20.3")
def the_public_one(bed):
    kind = bed.expect("OK", ops.putpubfh(), ops.getattr_(attr.TYPE))
    equal(kind, {attr.TYPE: ops.DIR}, "the public handle's type")


@handle.case(rfc7530="16.30.4", rfc8881="18.28.3")
def saved_and_restored(bed):
    made = bed.make("fifo")
    found = bed.values(ops.putfh(made), ops.savefh(), ops.putfh(bed.dir), ops.restorefh(),
                       ops.getfh())
    equal(found[-1], made, "the restored handle")


@handle.case(rfc7530="16.29.4", rfc8881="18.27.3")
def restored_twice(bed):
    made = bed.make("fifo")
    found = bed.values(ops.putfh(made), ops.savefh(), ops.putfh(bed.dir), ops.restorefh(),
                       ops.putrootfh(), ops.restorefh(), ops.getfh())
    equal(found[-1], made, "the restored handle")


@handle.case(rfc7530="16.13.4", rfc8881="18.13.3")
def it_stays_when_lookup_fails(bed):
    bed.expect("NOENT", ops.putfh(bed.dir), ops.lookup("nothing"))
    equal(bed.values(ops.putfh(bed.dir), ops.getfh())[1], bed.dir, "GETFH's")
