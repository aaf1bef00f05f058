"""LOCK, LOCKT, LOCKU: ranges, kinds, owners, who is told what."""

import nfs4_ops as ops
from registry import Subject, check, equal, require

lock = Subject("lock", rfc7530="16.10.4", rfc8881="18.10.3")
lockt = Subject("lockt", rfc7530="16.11.4", rfc8881="18.11.3")
locku = Subject("locku", rfc7530="16.12.4", rfc8881="18.12.3")

LAST = (1 << 64) - 1
KINDS = {"read": ops.READ_LT, "write": ops.WRITE_LT, "readw": ops.READW_LT, "writew": ops.WRITEW_LT}


def _other(bed, name="locker"):
    """Another client with the file open, and its lock owner."""
    client = bed.new_client()
    return client, client.open(bed.dir, "file"), client.lock_owner(name)


def _beside(held, wanted, answer, same_client):
    def body(bed):
        opened = bed.open(text=b"")
        bed.client.lock(opened, bed.client.lock_owner("one"), KINDS[held], 0, 10)
        if same_client:
            client, owner = bed.client, bed.client.lock_owner("two")
        else:
            client, opened, owner = _other(bed)
        client.lock(opened, owner, KINDS[wanted], 5, 10, wanted=answer)
    return body


for _held in ("read", "write"):
    for _wanted in KINDS:
        _answer = "OK" if _held == "read" and _wanted.startswith("read") else "DENIED"
        for _same in (True, False):
            lock.add(f"{_wanted}_beside_{_held}.another_{'owner' if _same else 'client'}",
                     _beside(_held, _wanted, _answer, _same))

RANGES = [("zero_length", 0, 0, "INVAL"), ("one_byte", 0, 1, "OK"), ("to_the_end", 5, LAST, "OK"),
          ("everything", 0, LAST, "OK"), ("beyond_the_last_byte", LAST, 2, "INVAL"),
          ("overflow", 1 << 63, (1 << 63) + 1, "INVAL"), ("far_away", 1 << 40, 1, "OK"),
          ("at_2_63", 1 << 63, 1, "OK BAD_RANGE"),
          ("across_2_63", (1 << 63) - 1, 2, "OK BAD_RANGE"),
          ("across_2_32", (1 << 32) - 1, 2, "OK BAD_RANGE"),
          ("the_last_byte_to_the_end", LAST, LAST, "OK BAD_RANGE")]

for _name, _start, _length, _wanted in RANGES:
    lock.add(f"range.{_name}", lambda bed, start=_start, length=_length, wanted=_wanted:
             bed.client.lock(bed.open(text=b""), bed.client.lock_owner(), ops.WRITE_LT, start,
                             length, wanted=wanted))
    lockt.add(f"range.{_name}", lambda bed, start=_start, length=_length, wanted=_wanted:
              bed.client.test_lock(bed.file(), ops.WRITE_LT, start, length, wanted))


def _locku_range(start, length, wanted):
    def body(bed):
        opened, owner = bed.open(text=b""), bed.client.lock_owner()
        bed.client.lock(opened, owner, ops.WRITE_LT, 0, LAST)
        bed.client.unlock(opened, owner, start, length, wanted)
    return body


for _name, _start, _length, _wanted in RANGES:
    locku.add(f"range.{_name}", _locku_range(_start, _length, _wanted.replace(
        "BAD_RANGE", "BAD_RANGE LOCK_RANGE")))


@lock.case()
def no_conflict_side_by_side(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner("one"), ops.WRITE_LT, 0, 10)
    bed.client.lock(opened, bed.client.lock_owner("two"), ops.WRITE_LT, 10, 10)


@lock.case()
def denied_says_by_whom(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner("holder"), ops.WRITE_LT, 100, 50)
    client, other, owner = _other(bed)
    denied = client.lock(other, owner, ops.READ_LT, 0, LAST, wanted="DENIED")
    equal((denied.start, denied.length, denied.kind), (100, 50, ops.WRITE_LT), "what is held")
    equal(denied.owner, b"holder", "its owner")
    equal(denied.client_id, bed.client.client_id, "its client")


@lockt.case()
def conflict_says_by_whom(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner("holder"), ops.READ_LT, 100, 50)
    denied = bed.new_client().test_lock(opened.handle, wanted="DENIED")
    equal((denied.start, denied.length, denied.kind, denied.owner),
          (100, 50, ops.READ_LT, b"holder"), "what is held")


@lock.case()
def denied_of_a_lock_to_the_end(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner("holder"), ops.WRITE_LT, 100, LAST)
    denied = bed.new_client().test_lock(opened.handle, wanted="DENIED")
    equal((denied.start, denied.length), (100, LAST), "what is held")


@lock.case()
def again_by_its_owner(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    first = owner.stateids[opened]
    bed.client.lock(opened, owner, ops.WRITE_LT, 5, 10)
    equal(owner.stateids[opened][4:], first[4:], "the stateid of one owner")
    require(owner.stateids[opened][:4] > first[:4], "its seqid did not grow")


@lock.case()
def upgrade(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.READ_LT, 0, 10)
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10, wanted="OK LOCK_NOTSUPP")
    equal(bed.new_client().test_lock(opened.handle, ops.READ_LT, wanted="DENIED").kind,
          ops.WRITE_LT, "what is held")


@lock.case()
def upgrade_beside_a_reader(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.READ_LT, 0, 10)
    client, other, other_owner = _other(bed)
    client.lock(other, other_owner, ops.READ_LT, 0, 10)
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10, wanted="DENIED DEADLOCK")
    # What was refused has changed nothing.
    client.lock(other, client.lock_owner("another"), ops.WRITE_LT, 0, 10, wanted="DENIED")


@lock.case()
def downgrade(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    bed.client.lock(opened, owner, ops.READ_LT, 0, 10)
    other = bed.new_client()
    other.test_lock(opened.handle, ops.READ_LT, wanted="OK")
    other.test_lock(opened.handle, ops.WRITE_LT, wanted="DENIED")


@lock.case()
def one_kind_within_another(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 100)
    bed.client.lock(opened, owner, ops.READ_LT, 40, 20)
    other = bed.new_client()
    other.test_lock(opened.handle, ops.READ_LT, 40, 20, wanted="OK")
    for start in (0, 39, 60, 99):
        other.test_lock(opened.handle, ops.READ_LT, start, 1, wanted="DENIED")


@locku.case()
def splits(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 100)
    bed.client.unlock(opened, owner, 40, 20)
    other = bed.new_client()
    other.test_lock(opened.handle, ops.WRITE_LT, 40, 20, wanted="OK")
    for start in (0, 39, 60, 99):
        other.test_lock(opened.handle, ops.READ_LT, start, 1, wanted="DENIED")
    other.test_lock(opened.handle, ops.READ_LT, 100, LAST, wanted="OK")


@locku.case()
def splits_what_goes_to_the_end(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, LAST)
    bed.client.unlock(opened, owner, 10, 10)
    other = bed.new_client()
    other.test_lock(opened.handle, ops.WRITE_LT, 10, 10, wanted="OK")
    other.test_lock(opened.handle, ops.WRITE_LT, 9, 1, wanted="DENIED")
    other.test_lock(opened.handle, ops.WRITE_LT, 1 << 40, 1, wanted="DENIED")


@locku.case()
def joins(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    for start in (0, 10, 20):
        bed.client.lock(opened, owner, ops.WRITE_LT, start, 10)
    bed.client.unlock(opened, owner, 0, 30)
    bed.new_client().test_lock(opened.handle, wanted="OK")


@locku.case()
def what_is_not_locked(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    bed.client.unlock(opened, owner, 100, 10)
    bed.new_client().test_lock(opened.handle, wanted="DENIED")


@locku.case()
def of_the_other_kind(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    bed.client.unlock(opened, owner, 0, 10, kind=ops.READ_LT)
    bed.new_client().test_lock(opened.handle, wanted="OK")


@locku.case()
def an_old_stateid(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    old = owner.stateids[opened]
    bed.client.lock(opened, owner, ops.WRITE_LT, 20, 10)
    bed.expect("OLD_STATEID", ops.putfh(opened.handle),
               ops.locku(ops.WRITE_LT, 0, 10, old, owner.seqid))


@lock.case()
def by_an_old_stateid(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    old = owner.stateids[opened]
    bed.client.lock(opened, owner, ops.WRITE_LT, 20, 10)
    bed.expect("OLD_STATEID", ops.putfh(opened.handle),
               ops.lock(ops.WRITE_LT, 40, 10, ops.old_locker(old, owner.seqid)))


@lock.case()
def one_client_string_of_owner_in_two_clients(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner("same"))
    client, other, owner = _other(bed, "same")
    client.lock(other, owner, wanted="DENIED")


@lock.case()
def a_kind_that_is_none(bed):
    opened = bed.open(text=b"")
    locker = ops.new_locker(opened.owner.seqid, opened.stateid, 0, bed.client.client_id, "l")
    bed.client.undecodable(ops.putfh(opened.handle), ops.lock(9, 0, 1, locker), also="INVAL")


@lock.case(rfc7530="9.6.2", rfc8881="8.4.2.1")
def reclaim_without_a_grace_period(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner(), ops.WRITE_LT, 0, 10, reclaim=True,
                    wanted="NO_GRACE RECLAIM_BAD")


@lock.case(rfc8881="18.10.3")
def the_client_id_in_it_does_not_matter(bed):
    opened = bed.open(text=b"")
    locker = ops.new_locker(0, opened.stateid, 0, 0x1234, "l")
    bed.expect("OK", ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 0, 1, locker))


@lock.case(rfc8881="18.10.3")
def seqids_in_it_do_not_matter(bed):
    opened = bed.open(text=b"")
    locker = ops.new_locker(77, opened.stateid, 88, bed.client.client_id, "l")
    held = bed.expect("OK", ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 0, 1, locker))
    bed.expect("OK", ops.putfh(opened.handle), ops.locku(ops.WRITE_LT, 0, 1, held, 99))


@lock.case(rfc8881="18.10.3")
def open_to_lock_owner_again(bed):
    opened = bed.open(text=b"")
    locker = ops.new_locker(0, opened.stateid, 0, bed.client.client_id, "l")
    first = bed.expect("OK", ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 0, 1, locker))
    second = bed.expect("OK", ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 5, 1, locker))
    equal(second[4:], first[4:], "the stateid of one owner")


@lock.case()
def it_ends_with_the_open(bed):
    opened = bed.open(text=b"")
    owner = bed.client.lock_owner()
    bed.client.lock(opened, owner)
    bed.client.unlock(opened, owner)
    bed.client.close(opened)
    bed.expect("BAD_STATEID OLD_STATEID EXPIRED" if not bed.minor else "BAD_STATEID",
               ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 0, 1, ops.old_locker(
                   owner.stateids[opened], owner.seqid)))


@lock.case()
def by_two_opens_of_one_client(bed):
    opened = bed.open(text=b"")
    again = bed.client.open(bed.dir, "file", bed.client.owner("another"))
    owner = bed.client.lock_owner("one")
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    bed.client.lock(again, bed.client.lock_owner("two"), ops.WRITE_LT, 0, 10, wanted="DENIED")


@lockt.case()
def own_locks_are_none(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner("me"))
    bed.client.test_lock(opened.handle, owner="me", wanted="OK")
    bed.client.test_lock(opened.handle, owner="another", wanted="DENIED")


@lockt.case()
def of_nothing(bed):
    bed.client.test_lock(bed.file(), wanted="OK")


@lockt.case(rfc7530="16.11.4")
def by_a_client_that_is_none(bed):
    bed.expect("STALE_CLIENTID", ops.putfh(bed.file()),
               ops.lockt(ops.WRITE_LT, 0, 1, 0x123456789ABCDEF, "l"))


@lockt.case()
def of_a_kind_that_is_none(bed):
    bed.client.undecodable(ops.putfh(bed.file()), ops.lockt(0, 0, 1, bed.client.client_id, "l"),
                           also="INVAL")


# --- RELEASE_LOCKOWNER, which later versions do not have

release = Subject("release_lockowner", rfc7530="16.37.4")


@release.case()
def that_holds_a_lock(bed):
    bed.client.lock(bed.open(text=b""), bed.client.lock_owner("l"))
    bed.expect("LOCKS_HELD", ops.release_lockowner(bed.client.client_id, b"l"))


@release.case()
def that_holds_none_any_more(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner("l")
    bed.client.lock(opened, owner)
    bed.client.unlock(opened, owner)
    bed.expect("OK", ops.release_lockowner(bed.client.client_id, b"l"))
    answer = bed.client.ask(ops.putfh(opened.handle), ops.lock(
        ops.WRITE_LT, 0, 1, ops.old_locker(owner.stateids[opened], owner.seqid)))
    check(answer.status, "BAD_STATEID EXPIRED OLD_STATEID STALE_STATEID", "LOCK")


@release.case()
def that_is_none(bed):
    bed.expect("OK", ops.release_lockowner(bed.client.client_id, b"nobody"))


@release.case()
def of_a_client_that_is_none(bed):
    bed.expect("STALE_CLIENTID", ops.release_lockowner(0x123456789ABCDEF, b"l"))


@release.case(rfc8881="17")
def is_nothing_of_v41(bed):
    bed.expect("NOTSUPP", ops.release_lockowner(bed.client.client_id, b"l"))
