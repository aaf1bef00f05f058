"""NFSv4.2: ALLOCATE, DEALLOCATE, SEEK, READ_PLUS.

Each is optional: a server that refuses one (NOTSUPP) has one failed case for it, `offered`,
and the others are skipped.
"""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import USER
from registry import Skipped, Subject, check, equal, require

allocate = Subject("allocate", rfc7862="15.1.3")
deallocate = Subject("deallocate", rfc7862="15.4.3")
seek = Subject("seek", rfc7862="15.11.3")
read_plus = Subject("read_plus", rfc7862="15.10.3")

MIB = 1 << 20
END = (1 << 64) - 1
DATA, HOLE = 0, 1


TRIED = {"allocate": lambda given: ops.allocate(given, 0, 1),
         "deallocate": lambda given: ops.deallocate(given, 0, 1),
         "seek": lambda given: ops.seek(given, 0, DATA), "read_plus": ops.read_plus}


def _try(bed, name):
    """The status of an operation on a file that is open."""
    opened = bed.open("offered", b"x", owner=bed.client.owner("tries"))
    status = bed.client.ask(ops.putfh(opened.handle), TRIED[name](opened.stateid)).status
    bed.client.close(opened)
    bed.expect("OK", ops.putfh(bed.dir), ops.remove("offered"))
    return status


def _needs(bed, *names):
    for name in names:
        if _try(bed, name) == "NOTSUPP":
            raise Skipped(f"{name.upper()} is not offered")


for _subject in (allocate, deallocate, seek, read_plus):
    _subject.add("offered", lambda bed, name=_subject.name: check(
        _try(bed, name), "OK", name.upper()))


def _opened(bed, *names, text=b"text", **how):
    _needs(bed, *names)
    return bed.open(text=text, **how)


def _on(bed, opened, operation, wanted="OK"):
    return bed.expect(wanted, ops.putfh(opened.handle), operation)


def _text(bed, opened, offset=0, count=65536):
    return _on(bed, opened, ops.read(opened.stateid, offset, count))[1]


def _size(bed, opened):
    return bed.attributes(opened.handle, attr.SIZE)[attr.SIZE]


# --- stateids of all four

def _with_a_lock(name, operation):
    def body(bed):
        opened, owner = _opened(bed, name), bed.client.lock_owner()
        bed.client.lock(opened, owner, ops.WRITE_LT, 0, 100)
        _on(bed, opened, operation(owner.stateids[opened]))
        bed.client.unlock(opened, owner, 0, 100)
    return body


for _subject, _operation in [
        (allocate, lambda given: ops.allocate(given, 0, 8)),
        (deallocate, lambda given: ops.deallocate(given, 0, 2)),
        (seek, lambda given: ops.seek(given, 0, DATA)), (read_plus, ops.read_plus)]:
    _subject.add("with_the_stateid_of_a_lock", _with_a_lock(_subject.name, _operation))


@seek.case()
def with_the_anonymous_stateid(bed):
    opened = _opened(bed, "seek", text=b"text")
    equal(_on(bed, opened, ops.seek(ops.ANONYMOUS, 1, DATA))[1], 1, "offset of data")
    equal(_on(bed, opened, ops.seek(ops.ANONYMOUS, 1, HOLE))[1], 4, "offset of the hole")


@allocate.case()
def by_the_anonymous_stateid(bed):
    opened = _opened(bed, "allocate", text=b"text")
    _on(bed, opened, ops.allocate(ops.ANONYMOUS, 0, 100))
    equal(_size(bed, opened), 100, "size")


@deallocate.case()
def with_the_anonymous_one(bed):
    opened = _opened(bed, "deallocate", text=b"text")
    _on(bed, opened, ops.deallocate(ops.ANONYMOUS, 0, 2))
    equal(_text(bed, opened), b"\0\0xt", "what is there")


# --- ALLOCATE

@allocate.case()
def the_size_grows(bed):
    opened = _opened(bed, "allocate")
    _on(bed, opened, ops.allocate(opened.stateid, 0, MIB))
    equal(_size(bed, opened), MIB, "size")
    equal(_text(bed, opened, 0, 8), b"text" + bytes(4), "what is there")
    equal(_text(bed, opened, MIB - 8, 16), bytes(8), "what is at the end")


@allocate.case()
def within_the_file_it_does_not(bed):
    opened = _opened(bed, "allocate")
    _on(bed, opened, ops.allocate(opened.stateid, 0, 2))
    equal(_size(bed, opened), 4, "size")
    equal(_text(bed, opened), b"text", "what is there")


@allocate.case()
def space_is_used(bed):
    opened = _opened(bed, "allocate", text=b"")
    _on(bed, opened, ops.allocate(opened.stateid, 0, MIB))
    used = bed.attributes(opened.handle, attr.SPACE_USED)[attr.SPACE_USED]
    require(used >= MIB, f"space_used is {used} after ALLOCATE of {MIB}")


@allocate.case()
def of_a_hole(bed):
    opened = _opened(bed, "allocate")
    bed.put(opened.handle, b"end", MIB)
    _on(bed, opened, ops.allocate(opened.stateid, 4096, 65536))
    equal(_text(bed, opened, 4096, 65536), bytes(65536), "what is there")
    equal(_size(bed, opened), MIB + 3, "size")


@allocate.case()
def what_is_written_stays(bed):
    opened = _opened(bed, "allocate", text=b"x" * 20000)
    _on(bed, opened, ops.allocate(opened.stateid, 0, 40000))
    equal(_text(bed, opened), b"x" * 20000 + bytes(20000), "what is there")


@allocate.case()
def nothing(bed):
    opened = _opened(bed, "allocate")
    _on(bed, opened, ops.allocate(opened.stateid, 0, 0), "INVAL OK")
    equal(_size(bed, opened), 4, "size")


@allocate.case()
def overflow(bed):
    opened = _opened(bed, "allocate")
    _on(bed, opened, ops.allocate(opened.stateid, END - 1, 100), "INVAL FBIG")
    equal(_size(bed, opened), 4, "size")


@allocate.case()
def more_than_there_is(bed):
    opened = _opened(bed, "allocate")
    _on(bed, opened, ops.allocate(opened.stateid, 0, 1 << 50), "NOSPC FBIG DQUOT")
    equal(_size(bed, opened), 4, "size")
    equal(_text(bed, opened), b"text", "what is there")


@allocate.case()
def change_goes_on(bed):
    opened = _opened(bed, "allocate")
    before = bed.attributes(opened.handle, attr.CHANGE)
    _on(bed, opened, ops.allocate(opened.stateid, 0, MIB))
    require(bed.attributes(opened.handle, attr.CHANGE) != before, "change stayed")


@allocate.case()
def by_a_user_who_may_not(bed):
    _needs(bed, "allocate")
    handle = bed.file(values={attr.MODE: 0o644})
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle),
                                    ops.allocate(ops.ANONYMOUS, 0, 100))


# --- DEALLOCATE

@deallocate.case()
def it_reads_as_zeros(bed):
    opened = _opened(bed, "deallocate", text=b"x" * 30000)
    _on(bed, opened, ops.deallocate(opened.stateid, 10000, 10000))
    equal(_text(bed, opened), b"x" * 10000 + bytes(10000) + b"x" * 10000, "what is there")


@deallocate.case()
def the_size_stays(bed):
    opened = _opened(bed, "deallocate", text=b"x" * 30000)
    _on(bed, opened, ops.deallocate(opened.stateid, 20000, 100000))
    equal((_size(bed, opened), _text(bed, opened)), (30000, b"x" * 20000 + bytes(10000)),
          "size and text")


@deallocate.case()
def all_of_it(bed):
    opened = _opened(bed, "deallocate", text=b"x" * 30000)
    _on(bed, opened, ops.deallocate(opened.stateid, 0, 30000))
    equal((_size(bed, opened), _text(bed, opened)), (30000, bytes(30000)), "size and text")


@deallocate.case()
def space_is_free_again(bed):
    opened = _opened(bed, "deallocate", text=b"x" * 65536)
    for at in range(1, 32):
        bed.put(opened.handle, b"x" * 65536, at * 65536)
    before = bed.attributes(opened.handle, attr.SPACE_USED)[attr.SPACE_USED]
    _on(bed, opened, ops.deallocate(opened.stateid, 0, 2 * MIB))
    after = bed.attributes(opened.handle, attr.SPACE_USED)[attr.SPACE_USED]
    require(after < before, f"space_used went from {before} to {after}")


@deallocate.case()
def beyond_the_end(bed):
    opened = _opened(bed, "deallocate")
    _on(bed, opened, ops.deallocate(opened.stateid, MIB, MIB))
    equal(_size(bed, opened), 4, "size")


@deallocate.case()
def across_the_end_of_all(bed):
    opened = _opened(bed, "deallocate")
    _on(bed, opened, ops.deallocate(opened.stateid, END - 1, 100), "INVAL FBIG")


@deallocate.case()
def written_again(bed):
    opened = _opened(bed, "deallocate", text=b"x" * 10000)
    _on(bed, opened, ops.deallocate(opened.stateid, 0, 10000))
    bed.put(opened.handle, b"y", 5000)
    equal(_text(bed, opened), bytes(5000) + b"y" + bytes(4999), "what is there")


@deallocate.case()
def the_change_goes_on(bed):
    opened = _opened(bed, "deallocate", text=b"x" * 10000)
    before = bed.attributes(opened.handle, attr.CHANGE)
    _on(bed, opened, ops.deallocate(opened.stateid, 0, 5000))
    require(bed.attributes(opened.handle, attr.CHANGE) != before, "change stayed")


# --- SEEK

def _sparse(bed, *names):
    """A file with a hole before and behind data at 1 MiB, of 4 MiB."""
    opened = _opened(bed, *names, text=b"")
    bed.expect("OK", ops.putfh(opened.handle), ops.setattr_({attr.SIZE: 4 * MIB}))
    bed.put(opened.handle, b"x" * 65536, MIB)
    return opened


@seek.case()
def data_from_data(bed):
    opened = _opened(bed, "seek")
    equal(_on(bed, opened, ops.seek(opened.stateid, 1, DATA))[1], 1, "offset")


@seek.case()
def the_hole_at_the_end(bed):
    opened = _opened(bed, "seek")
    equal(_on(bed, opened, ops.seek(opened.stateid, 0, HOLE))[1], 4, "offset")


for _name, _what in (("data", DATA), ("hole", HOLE)):
    for _where, _offset in (("at", 4), ("beyond", 1000)):
        seek.add(f"{_name}_{_where}_the_end", lambda bed, what=_what, offset=_offset: _seek_nxio(
            bed, what, offset))


def _seek_nxio(bed, what, offset):
    opened = _opened(bed, "seek")
    _on(bed, opened, ops.seek(opened.stateid, offset, what), "NXIO")


@seek.case()
def data_behind_a_hole(bed):
    opened = _sparse(bed, "seek")
    _, offset = _on(bed, opened, ops.seek(opened.stateid, 0, DATA))
    require(offset <= MIB, f"data at {offset}, written at {MIB}")
    _, offset = _on(bed, opened, ops.seek(opened.stateid, MIB, DATA))
    equal(offset, MIB, "offset")


@seek.case()
def a_hole_behind_data(bed):
    opened = _sparse(bed, "seek")
    _, offset = _on(bed, opened, ops.seek(opened.stateid, MIB, HOLE))
    require(MIB + 65536 <= offset <= 4 * MIB, f"a hole at {offset}, data up to {MIB + 65536}")


@seek.case()
def no_data_behind(bed):
    opened = _sparse(bed, "seek")
    eof, hole = _on(bed, opened, ops.seek(opened.stateid, MIB, HOLE))
    if hole < 4 * MIB:
        answer = bed.client.ask(ops.putfh(opened.handle), ops.seek(opened.stateid, hole, DATA))
        check(answer.status, "NXIO OK", "SEEK")
        if answer.status == "OK":
            require(answer.results[1].value[0], "no eof, and no data either")


@seek.case()
def what_was_deallocated_is_a_hole(bed):
    opened = _opened(bed, "seek", "deallocate", text=b"x" * 65536)
    for at in range(1, 32):
        bed.put(opened.handle, b"x" * 65536, at * 65536)
    _on(bed, opened, ops.deallocate(opened.stateid, 0, MIB))
    _, offset = _on(bed, opened, ops.seek(opened.stateid, 0, DATA))
    require(offset <= MIB, f"data at {offset}, which is behind {MIB}")
    _, offset = _on(bed, opened, ops.seek(opened.stateid, MIB, HOLE))
    equal(offset, 2 * MIB, "the hole at the end")


@seek.case()
def what_is_neither_data_nor_hole(bed):
    opened = _opened(bed, "seek")
    bed.client.undecodable(ops.putfh(opened.handle), ops.seek(opened.stateid, 0, 7),
                           also="UNION_NOTSUPP INVAL")


# --- READ_PLUS

def _bytes(value, start):
    """What READ_PLUS answers, as the bytes that it stands for."""
    text = b""
    for offset, content in value[1]:
        require(offset == start + len(text), f"contents at {offset}, expected {start + len(text)}")
        text += content if isinstance(content, bytes) else bytes(content)
    return text


@read_plus.case()
def the_text(bed):
    opened = _opened(bed, "read_plus")
    value = _on(bed, opened, ops.read_plus(opened.stateid, 0, 100))
    equal((value[0], _bytes(value, 0)), (True, b"text"), "end and text")


@read_plus.case()
def a_part(bed):
    opened = _opened(bed, "read_plus")
    value = _on(bed, opened, ops.read_plus(opened.stateid, 1, 2))
    equal((value[0], _bytes(value, 1)), (False, b"ex"), "end and text")


@read_plus.case()
def at_the_end(bed):
    opened = _opened(bed, "read_plus")
    value = _on(bed, opened, ops.read_plus(opened.stateid, 4, 100))
    equal((value[0], _bytes(value, 4)), (True, b""), "end and text")


@read_plus.case()
def holes_and_data(bed):
    opened = _sparse(bed, "read_plus")
    at = 0
    while at < 4 * MIB:
        eof, contents = _on(bed, opened, ops.read_plus(opened.stateid, at, 512 << 10))
        require(contents, f"nothing at {at}")
        for offset, content in contents:
            equal(offset, at, "offset")
            length = len(content) if isinstance(content, bytes) else content
            require(length > 0, f"contents of no bytes at {at}")
            data = content if isinstance(content, bytes) else bytes(content)
            wanted = bytes(b"x"[0] if MIB <= one < MIB + 65536 else 0
                           for one in (at, at + length - 1)) if length else b""
            equal(data[:1] + data[-1:], wanted, f"first and last byte of {length} at {at}")
            at += length
        require(eof == (at >= 4 * MIB), f"eof is {eof} at {at}")


@read_plus.case()
def by_a_user_who_may_not_read(bed):
    _needs(bed, "read_plus")
    handle = bed.file(b"text", values={attr.MODE: 0o600})
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle), ops.read_plus(ops.ANONYMOUS))
