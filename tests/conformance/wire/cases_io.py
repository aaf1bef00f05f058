"""READ, WRITE, COMMIT, SETATTR of the size: what is there, and how stable it is."""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import USER
from nfs4_wire import opaque, u32, u64
from registry import Subject, check, equal, require

read = Subject("read", rfc7530="16.23.4", rfc8881="18.22.3")
write = Subject("write", rfc7530="16.36.4", rfc8881="18.32.3")
commit = Subject("commit", rfc7530="16.3.4", rfc8881="18.3.3")
size = Subject("size", rfc7530="16.32.4", rfc8881="18.30.3")

BIG = 1 << 40


def _read(bed, handle, offset, count):
    return bed.expect("OK", ops.putfh(handle), ops.read(ops.ANONYMOUS, offset, count))


for _name, _offset, _count, _wanted in [
        ("all", 0, 100, (True, b"0123456789")), ("to_the_end", 5, 5, (True, b"56789")),
        ("before_the_end", 0, 5, (False, b"01234")), ("at_the_end", 10, 5, (True, b"")),
        ("beyond_the_end", 100, 5, (True, b"")), ("far_beyond", BIG, 5, (True, b""))]:
    read.add(_name, lambda bed, offset=_offset, count=_count, wanted=_wanted: equal(
        _read(bed, bed.file(b"0123456789"), offset, count), wanted, "end and text"))


@read.case()
def nothing(bed):
    equal(_read(bed, bed.file(b"0123456789"), 3, 0)[1], b"", "text")


@read.case()
def nothing_of_an_empty_file(bed):
    equal(_read(bed, bed.file(), 0, 10), (True, b""), "end and text")


@read.case()
def a_hole(bed):
    handle = bed.file()
    bed.put(handle, b"end", 100000)
    equal(_read(bed, handle, 99000, 1003), (True, bytes(1000) + b"end"), "end and text")


@read.case()
def what_setattr_made(bed):
    handle = bed.file(b"text")
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.SIZE: 10}))
    equal(_read(bed, handle, 0, 20), (True, b"text" + bytes(6)), "end and text")


@read.case(rfc7530="5.8.2.20", rfc8881="5.8.2.20")
def as_much_as_maxread(bed):
    most = min(bed.attributes(bed.dir, attr.MAXREAD)[attr.MAXREAD], 1 << 20)
    text = bytes(range(256)) * (most // 256)
    handle = bed.file()
    for at in range(0, len(text), 65536):
        bed.put(handle, text[at:at + 65536], at)
    # A session may carry less.
    found = _read(bed, handle, 0, most - 4096)[1]
    require(found and text.startswith(found), f"{len(found)} bytes, not those that were written")


@read.case()
def by_a_user_who_may_not(bed):
    handle = bed.file(b"text", values={attr.MODE: 0o600})
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle), ops.read(ops.ANONYMOUS))


@read.case()
def offset_at_the_end_of_all(bed):
    answer = bed.client.ask(ops.putfh(bed.file(b"text")), ops.read(ops.ANONYMOUS, (1 << 64) - 1, 1))
    check(answer.status, "OK INVAL", "READ")
    if answer.status == "OK":
        equal(answer.results[1].value, (True, b""), "end and text")


# --- WRITE

@write.case()
def nothing_at_all(bed):
    handle = bed.file(b"text")
    value = bed.expect("OK", ops.putfh(handle), ops.write(ops.ANONYMOUS, b""))
    equal(value.count, 0, "count")
    equal(bed.text(handle), b"text", "what is there")


@write.case()
def in_the_middle(bed):
    handle = bed.file(b"0123456789")
    bed.put(handle, b"ab", 4)
    equal(bed.text(handle), b"0123ab6789", "what is there")


@write.case()
def beyond_the_end(bed):
    handle = bed.file(b"0")
    bed.put(handle, b"1", 5)
    equal(bed.text(handle), b"0\0\0\0\x001", "what is there")


for _name, _asked in (("unstable", ops.UNSTABLE), ("data_sync", ops.DATA_SYNC),
                      ("file_sync", ops.FILE_SYNC)):
    def _stable(bed, asked=_asked):
        value = bed.expect("OK", ops.putfh(bed.file()), ops.write(ops.ANONYMOUS, b"x", 0, asked))
        require(value.stable >= asked, f"committed {value.stable} of {asked} asked for")
        equal(value.count, 1, "count")
    write.add(f"as_stable_as_asked_{_name}", _stable)


@write.case()
def a_stability_that_is_none(bed):
    bed.client.undecodable(ops.putfh(bed.file()), ops.write(ops.ANONYMOUS, b"x", 0, 9),
                           also="INVAL")


@write.case()
def one_verifier_for_all(bed):
    handle = bed.file()
    values = [bed.expect("OK", ops.putfh(handle), ops.write(ops.ANONYMOUS, b"x", at, ops.UNSTABLE))
              for at in range(3)]
    committed = bed.expect("OK", ops.putfh(handle), ops.commit())
    equal({value.verifier for value in values} | {committed}, {committed}, "verifiers")


@write.case()
def beyond_the_largest_file(bed):
    largest = bed.attributes(bed.dir, attr.MAXFILESIZE)[attr.MAXFILESIZE]
    if largest < (1 << 64) - 10:
        bed.expect("FBIG INVAL", ops.putfh(bed.file()), ops.write(ops.ANONYMOUS, b"xxxx", largest))


@write.case()
def across_the_end_of_all(bed):
    bed.expect("FBIG INVAL", ops.putfh(bed.file()), ops.write(ops.ANONYMOUS, b"xx", (1 << 64) - 1))


@write.case()
def by_one_who_may_not(bed):
    handle = bed.file(values={attr.MODE: 0o644})
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle), ops.write(ops.ANONYMOUS, b"x"))


@write.case(rfc7530="6.2.4", rfc8881="6.2.4")
def by_a_user_takes_setuid_away(bed):
    handle = bed.file()
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o6777}))
    user = bed.new_client(uid=USER)
    user.expect("OK", ops.putfh(handle), ops.write(ops.ANONYMOUS, b"x"))
    equal(bed.attributes(handle, attr.MODE)[attr.MODE] & 0o6000, 0, "setuid and setgid")


@write.case()
def it_changes_times(bed):
    handle = bed.file(b"text")
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.TIME_MODIFY_SET: attr.to_client(1000)}))
    bed.put(handle, b"x")
    seconds = bed.attributes(handle, attr.TIME_MODIFY)[attr.TIME_MODIFY][0]
    require(seconds > 1000, f"time_modify is {seconds} after WRITE")


# --- COMMIT

for _name, _offset, _count in [("all", 0, 0), ("a_range", 1, 2), ("beyond_the_end", BIG, 10),
                               ("to_the_end_of_all", (1 << 64) - 1, 0)]:
    commit.add(_name, lambda bed, offset=_offset, count=_count: bed.expect(
        "OK", ops.putfh(bed.file(b"text")), ops.commit(offset, count)))


@commit.case()
def overflow(bed):
    bed.expect("INVAL OK", ops.putfh(bed.file(b"text")), ops.commit((1 << 64) - 1, 10))


@commit.case()
def what_was_unstable_is_there(bed):
    handle = bed.file()
    bed.expect("OK", ops.putfh(handle), ops.write(ops.ANONYMOUS, b"text", 0, ops.UNSTABLE))
    bed.expect("OK", ops.putfh(handle), ops.commit())
    equal(bed.text(handle), b"text", "what is there")


# --- size

@size.case()
def smaller(bed):
    handle = bed.file(b"0123456789")
    equal(bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.SIZE: 4})), {attr.SIZE},
          "attrsset")
    equal(bed.text(handle), b"0123", "what is there")


@size.case()
def smaller_then_larger_is_zeros(bed):
    handle = bed.file(b"0123456789")
    for length in (4, 10):
        bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.SIZE: length}))
    equal(bed.text(handle), b"0123" + bytes(6), "what is there")


@size.case()
def a_tebibyte(bed):
    handle = bed.file(b"text")
    bed.expect("OK FBIG", ops.putfh(handle), ops.setattr_({attr.SIZE: BIG}))


@size.case()
def beyond_the_largest(bed):
    bed.expect("FBIG INVAL", ops.putfh(bed.file()), ops.setattr_({attr.SIZE: (1 << 64) - 1}))


@size.case()
def with_an_open_for_writing(bed):
    opened = bed.open(text=b"0123456789")
    bed.expect("OK", ops.putfh(opened.handle), ops.setattr_({attr.SIZE: 1}, opened.stateid))
    equal(bed.attributes(opened.handle, attr.SIZE), {attr.SIZE: 1}, "size")


@size.case()
def to_what_it_is(bed):
    handle = bed.file(b"text")
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.SIZE: 4}))
    equal(bed.text(handle), b"text", "what is there")


@size.case()
def by_its_owner_without_write_permission(bed):
    user = bed.new_client(uid=USER)
    opened = user.open(bed.dir, "theirs", how=ops.guarded({attr.MODE: 0o444}))
    user.expect("OK", ops.putfh(opened.handle), ops.setattr_({attr.SIZE: 5}, opened.stateid))


@size.case()
def verify_beside_it_guards_it(bed):
    """How clients make SETATTR conditional (RFC 8881 section 18.31.3)."""
    handle = bed.file(b"text")
    change = bed.attributes(handle, attr.CHANGE)
    bed.put(handle, b"x")
    answer = bed.client.ask(ops.putfh(handle), (ops.VERIFY, attr.bitmap([attr.CHANGE]) + opaque(
        u64(change[attr.CHANGE]))), ops.setattr_({attr.SIZE: 0}))
    check(answer.status, "NOT_SAME", "VERIFY")
    equal(bed.attributes(handle, attr.SIZE), {attr.SIZE: 4}, "size")


@size.case(rfc7530="13.1.1.1", rfc8881="15.1.1.1")
def in_four_bytes(bed):
    bed.client.undecodable(ops.putfh(bed.file(b"text")), (
        ops.SETATTR, ops.ANONYMOUS + attr.bitmap([attr.SIZE]) + opaque(u32(1))), also="INVAL")
