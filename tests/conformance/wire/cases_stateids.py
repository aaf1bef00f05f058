"""Stateids: special, bad, old, of the future, of another file or client, of what was closed."""

import struct

import nfs4_ops as ops
from nfs4_attributes import SIZE
from nfs4_wire import u32, u64
from registry import Subject, check, equal, require

stateid = Subject("stateid", rfc7530="9.1.4", rfc8881="8.2.4")
special = Subject("stateid.special", rfc7530="9.1.4.3", rfc8881="8.2.3")
current = Subject("stateid.current", rfc8881="16.2.3.1.2")

ONES = b"\xff" * 12


def numbered(given, by):
    """The stateid with another seqid."""
    return struct.pack(">I", (struct.unpack(">I", given[:4])[0] + by) & 0xFFFFFFFF) + given[4:]


def using(bed, opened, given):
    """{name: operation} of all that take the stateid of an open file."""
    seqid = opened.owner.seqid
    found = {
        "read": ops.read(given), "write": ops.write(given, b"x"),
        "setattr": ops.setattr_({SIZE: 1}, given), "close": ops.close(given, seqid),
        "downgrade": ops.open_downgrade(given, ops.READING, 0, seqid),
        "lock": ops.lock(ops.READ_LT, 0, 1, ops.new_locker(
            seqid, given, 0, bed.client.client_id, "locker"))}
    if bed.minor == 2:
        found.update({
            "allocate": ops.allocate(given, 0, 1), "deallocate": ops.deallocate(given, 0, 1),
            "seek": ops.seek(given, 0, 0), "read_plus": ops.read_plus(given),
            "io_advise": ops.io_advise(given)})
    return found


EVERYWHERE = ("read", "write", "setattr", "close", "downgrade", "lock")
IN_V42 = ("allocate", "deallocate", "seek", "read_plus", "io_advise")


def _random(bed, opened):
    return opened.stateid[:4] + bytes(byte ^ 0x5A for byte in opened.stateid[4:])


def _future(bed, opened):
    return numbered(opened.stateid, 5)


def _old(bed, opened):
    old = opened.stateid
    again = bed.client.open(bed.dir, "file", opened.owner, access=ops.READING)
    equal(again.stateid[4:], opened.stateid[4:], "the stateid of a second OPEN of one owner")
    equal(again.stateid[:4], numbered(opened.stateid, 1)[:4] if bed.minor else again.stateid[:4],
          "its seqid")
    return old


def _other_file(bed, opened):
    bed.file(b"other", "other")
    return bed.client.open(bed.dir, "other", bed.client.owner("other")).stateid


def _closed(bed, opened):
    given = opened.stateid
    bed.client.close(opened)
    return given


def _of_zeros(bed, opened):
    return struct.pack(">I", 7) + bytes(12)


def _of_ones(bed, opened):
    return struct.pack(">I", 7) + ONES


def _other_client(bed, opened):
    other = bed.new_client()
    return other.open(bed.dir, "file").stateid


# What it is, how it comes about, what v4.0 and what later versions answer.
WRONG = [
    ("random", _random, "BAD_STATEID STALE_STATEID EXPIRED", "BAD_STATEID"),
    ("future", _future, "BAD_STATEID", "BAD_STATEID"),
    ("old", _old, "OLD_STATEID", "OLD_STATEID"),
    ("of_another_file", _other_file, "BAD_STATEID", "BAD_STATEID"),
    ("closed", _closed, "BAD_STATEID OLD_STATEID EXPIRED", "BAD_STATEID"),
    ("zeros_with_a_seqid", _of_zeros, "BAD_STATEID STALE_STATEID", "BAD_STATEID"),
    ("ones_with_a_seqid", _of_ones, "BAD_STATEID STALE_STATEID", "BAD_STATEID")]


def _answers(use, make, v40, later):
    def body(bed):
        opened = bed.open(text=b"text")
        given = make(bed, opened)
        wanted = later if bed.minor else v40
        answer = bed.client.ask(ops.putfh(opened.handle), using(bed, opened, given)[use])
        check(answer.status, wanted, ops.NAMES[answer.results[-1].op])
    return body


for _name, _make, _v40, _later in WRONG:
    for _use in EVERYWHERE:
        stateid.add(f"{_name}.{_use}", _answers(_use, _make, _v40, _later))
    for _use in IN_V42:
        stateid.add(f"{_name}.{_use}", _answers(_use, _make, _v40, _later), rfc7862="11.2")
for _use in EVERYWHERE:
    stateid.add(f"of_another_client.{_use}", _answers(_use, _other_client, "", "BAD_STATEID"),
                rfc8881="8.2.4")


def _seqid_0(use):
    def body(bed):
        opened = bed.open(text=b"text")
        bed.client.open(bed.dir, "file", opened.owner, access=ops.READING)
        given = bytes(4) + opened.stateid[4:]
        bed.expect("OK", ops.putfh(opened.handle), using(bed, opened, given)[use])
    return body


for _use in EVERYWHERE:
    stateid.add(f"seqid_0_is_the_latest.{_use}", _seqid_0(_use), rfc8881="8.2.2")


# --- special ones

for _use in ("read", "write", "setattr"):
    special.add(f"anonymous.{_use}", lambda bed, use=_use: bed.expect(
        "OK", ops.putfh(bed.file(b"text")),
        using(bed, _NoOpen, ops.ANONYMOUS)[use]))
for _use in ("close", "downgrade", "lock"):
    special.add(f"anonymous.{_use}", lambda bed, use=_use: bed.expect(
        "BAD_STATEID", ops.putfh(bed.file(b"text")), using(bed, _NoOpen, ops.ANONYMOUS)[use]))


class _NoOwner:
    seqid = 1


class _NoOpen:
    owner = _NoOwner


@special.case()
def bypass_reads(bed):
    bed.expect("OK", ops.putfh(bed.file(b"text")), ops.read(ops.BYPASS))


@special.case()
def bypass_writes_as_anonymous(bed):
    bed.expect("OK", ops.putfh(bed.file(b"text")), ops.write(ops.BYPASS, b"x"))


def _denied(operation, deny):
    def body(bed):
        bed.file(b"text")
        opened = bed.client.open(bed.dir, "file", access=ops.BOTH, deny=deny)
        other = bed.new_client()
        other.expect("LOCKED", ops.putfh(opened.handle), operation)
    return body


for _name, _operation, _deny in [
        ("read", ops.read(ops.ANONYMOUS), ops.READING),
        ("write", ops.write(ops.ANONYMOUS, b"x"), ops.WRITING),
        ("setattr", ops.setattr_({SIZE: 0}), ops.WRITING)]:
    special.add(f"anonymous_meets_a_deny.{_name}", _denied(_operation, _deny))


# --- what an open is for

modes = Subject("openmode", rfc7530="13.1.8.6", rfc8881="15.1.8.6")


def _with(access, use, wanted):
    def body(bed):
        opened = bed.open(text=b"text", access=access)
        operation = ops.lock(ops.WRITE_LT, 0, 1, ops.new_locker(
            opened.owner.seqid, opened.stateid, 0, bed.client.client_id, "locker")) \
            if use == "write_lock" else using(bed, opened, opened.stateid)[use]
        bed.expect(wanted, ops.putfh(opened.handle), operation)
    return body


for _use in ("write", "setattr", "write_lock"):
    modes.add(f"reading.{_use}", _with(ops.READING, _use, "OPENMODE"))
for _use in ("allocate", "deallocate"):
    modes.add(f"reading.{_use}", _with(ops.READING, _use, "OPENMODE"), rfc7862="11.2")
modes.add("writing.lock", _with(ops.WRITING, "lock", "OPENMODE"))
modes.add("writing.read", _with(ops.WRITING, "read", "OK OPENMODE"), rfc7530="16.23.4",
          rfc8881="18.22.3")
modes.add("reading.read", _with(ops.READING, "read", "OK"))
modes.add("writing.write", _with(ops.WRITING, "write", "OK"))
modes.add("writing.setattr", _with(ops.WRITING, "setattr", "OK"))
modes.add("reading.lock", _with(ops.READING, "lock", "OK"))


# --- the current one

def _opening(bed):
    return bed.client.open_operation(bed.client.owner(), ops.claim_null("file"))


@current.case()
def of_open_for_read_and_close(bed):
    bed.file(b"text")
    values = bed.values(ops.putfh(bed.dir), _opening(bed), ops.read(ops.CURRENT),
                        ops.close(ops.CURRENT))
    equal(values[2][1], b"text", "READ's text")


@current.case()
def of_lock_for_locku(bed):
    opened = bed.open(text=b"text")
    bed.expect("OK", ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 0, 9, ops.new_locker(
        0, opened.stateid, 0, bed.client.client_id, "l")),
        ops.locku(ops.WRITE_LT, 0, 9, ops.CURRENT))


@current.case()
def of_nothing_for_close(bed):
    opened = bed.open(text=b"text")
    bed.expect("BAD_STATEID", ops.putfh(opened.handle), ops.close(ops.CURRENT))


@current.case()
def putfh_forgets_it(bed):
    handle = bed.file(b"text")
    bed.expect("BAD_STATEID", ops.putfh(bed.dir), _opening(bed), ops.putfh(handle),
               ops.close(ops.CURRENT))


@current.case()
def lookup_forgets_it(bed):
    bed.file(b"text")
    bed.expect("BAD_STATEID", ops.putfh(bed.dir), ops.savefh(), _opening(bed), ops.putfh(bed.dir),
               ops.lookup("file"), ops.close(ops.CURRENT))


@current.case()
def savefh_and_restorefh_keep_it(bed):
    bed.file(b"text")
    bed.expect("OK", ops.putfh(bed.dir), _opening(bed), ops.savefh(), ops.putfh(bed.dir),
               ops.restorefh(), ops.close(ops.CURRENT))


@current.case()
def close_leaves_none(bed):
    bed.file(b"text")
    bed.expect("BAD_STATEID", ops.putfh(bed.dir), _opening(bed), ops.close(ops.CURRENT),
               ops.close(ops.CURRENT))


@current.case()
def of_another_compound(bed):
    bed.file(b"text")
    handle = bed.values(ops.putfh(bed.dir), _opening(bed), ops.getfh())[2]
    bed.expect("BAD_STATEID", ops.putfh(handle), ops.close(ops.CURRENT))


@current.case(rfc8881="8.2.3")
def the_invalid_one(bed):
    opened = bed.open(text=b"text")
    bed.expect("BAD_STATEID", ops.putfh(opened.handle), ops.read(b"\xff" * 4 + bytes(12)))


# --- TEST_STATEID, FREE_STATEID

testing = Subject("test_stateid", rfc8881="18.48.3")
freeing = Subject("free_stateid", rfc8881="18.38.3")


@testing.case()
def each_of_several(bed):
    opened = bed.open(text=b"text")
    old = _old(bed, opened)
    found = bed.expect("OK", ops.test_stateid(
        numbered(old, 1), old, numbered(old, 9), _random(bed, opened)))
    equal(found, ["OK", "OLD_STATEID", "BAD_STATEID", "BAD_STATEID"], "TEST_STATEID")


@testing.case()
def none(bed):
    equal(bed.expect("OK", ops.test_stateid()), [], "TEST_STATEID")


@testing.case()
def special_ones(bed):
    found = bed.expect("OK", ops.test_stateid(ops.ANONYMOUS, ops.BYPASS, ops.CURRENT))
    equal(found, ["BAD_STATEID"] * 3, "TEST_STATEID")


@testing.case()
def of_another_client(bed):
    opened = bed.open(text=b"text")
    found = bed.new_client().expect("OK", ops.test_stateid(opened.stateid))
    equal(found, ["BAD_STATEID"], "TEST_STATEID")


@testing.case()
def a_lock_and_its_end(bed):
    opened = bed.open(text=b"text")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner)
    given = owner.stateids[opened]
    equal(bed.expect("OK", ops.test_stateid(given)), ["OK"], "TEST_STATEID")
    bed.client.unlock(opened, owner)
    bed.expect("OK", ops.free_stateid(owner.stateids[opened]))
    equal(bed.expect("OK", ops.test_stateid(given)), ["BAD_STATEID"], "TEST_STATEID")


@freeing.case()
def of_an_open(bed):
    bed.expect("LOCKS_HELD", ops.free_stateid(bed.open(text=b"").stateid))


@freeing.case()
def of_a_held_lock(bed):
    opened = bed.open(text=b"text")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner)
    bed.expect("LOCKS_HELD", ops.free_stateid(owner.stateids[opened]))


@freeing.case()
def twice(bed):
    opened = bed.open(text=b"text")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner)
    bed.client.unlock(opened, owner)
    bed.expect("OK", ops.free_stateid(owner.stateids[opened]))
    bed.expect("BAD_STATEID", ops.free_stateid(owner.stateids[opened]))


@freeing.case()
def an_old_one(bed):
    opened = bed.open(text=b"text")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner)
    old = owner.stateids[opened]
    bed.client.unlock(opened, owner)
    bed.expect("OLD_STATEID", ops.free_stateid(old))


for _name, _given in (("anonymous", ops.ANONYMOUS), ("bypass", ops.BYPASS)):
    freeing.add(f"of_{_name}", lambda bed, given=_given: bed.expect(
        "BAD_STATEID", ops.free_stateid(given)))


@freeing.case()
def of_what_nobody_knows(bed):
    bed.expect("BAD_STATEID", ops.free_stateid(_random(bed, bed.open(text=b""))))


@stateid.case(rfc8881="8.2.2")
def a_lock_has_its_own(bed):
    opened = bed.open(text=b"text")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner)
    require(owner.stateids[opened][4:] != opened.stateid[4:], "LOCK answers the open's stateid")
    bed.expect("OK", ops.putfh(opened.handle), ops.write(owner.stateids[opened], b"x"))
    bed.client.unlock(opened, owner)


def _of_a_lock(bed):
    """An open file, the stateid of its lock, and the next seqid of the lock's owner (v4.0)."""
    opened, owner = bed.open(text=b"text"), bed.client.lock_owner()
    bed.client.lock(opened, owner)
    return opened, owner.stateids[opened], owner.seqid


@stateid.case()
def of_a_lock_for_close(bed):
    opened, held, seqid = _of_a_lock(bed)
    bed.expect("BAD_STATEID", ops.putfh(opened.handle), ops.close(held, seqid))


@stateid.case()
def of_a_lock_for_downgrade(bed):
    opened, held, seqid = _of_a_lock(bed)
    bed.expect("BAD_STATEID", ops.putfh(opened.handle),
               ops.open_downgrade(held, ops.READING, 0, seqid))


@stateid.case()
def of_a_lock_for_delegreturn(bed):
    opened, held, _ = _of_a_lock(bed)
    bed.expect("BAD_STATEID NOTSUPP", ops.putfh(opened.handle), (ops.DELEGRETURN, held))


@stateid.case()
def of_an_open_for_delegreturn(bed):
    opened = bed.open(text=b"text")
    bed.expect("BAD_STATEID NOTSUPP", ops.putfh(opened.handle), (ops.DELEGRETURN, opened.stateid))


@stateid.case(rfc7530="9.1.4")
def of_a_lock_for_open_confirm(bed):
    opened, held, seqid = _of_a_lock(bed)
    bed.expect("BAD_STATEID", ops.putfh(opened.handle),
               ops.open_confirm(held, seqid))


@stateid.case(rfc8881="18.44.3")
def of_an_open_for_layoutreturn(bed):
    opened = bed.open(text=b"text")
    arguments = u32(0, 1, 1, 1) + u64(0, (1 << 64) - 1) + opened.stateid + u32(0)
    bed.expect("BAD_STATEID NOTSUPP INVAL UNKNOWN_LAYOUTTYPE", ops.putfh(opened.handle),
               (ops.LAYOUTRETURN, arguments))


@stateid.case()
def of_an_open_for_locku(bed):
    opened = bed.open(text=b"text")
    bed.expect("BAD_STATEID", ops.putfh(opened.handle),
               ops.locku(ops.WRITE_LT, 0, 1, opened.stateid, opened.owner.seqid))


@stateid.case(rfc7530="9.1.4", rfc8881="8.2.4")
def of_an_open_for_lock(bed):
    opened = bed.open(text=b"text")
    bed.expect("BAD_STATEID", ops.putfh(opened.handle),
               ops.lock(ops.WRITE_LT, 0, 1, ops.old_locker(opened.stateid, opened.owner.seqid)))


@stateid.case(rfc7530="9.1.4")
def of_an_open_for_lock_with_the_last_seqid(bed):
    opened = bed.open(text=b"text")
    locker = ops.old_locker(opened.stateid, opened.owner.seqid - 1)
    bed.expect("BAD_STATEID BAD_SEQID", ops.putfh(opened.handle),
               ops.lock(ops.WRITE_LT, 0, 1, locker))


@stateid.case()
def of_a_lock_in_open_to_lock(bed):
    opened = bed.open(text=b"text")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    locker = ops.new_locker(opened.owner.seqid, owner.stateids[opened], 0, bed.client.client_id,
                            "another")
    bed.expect("BAD_STATEID", ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 50, 1, locker))
