"""NFSv4.0: sequence numbers of owners, OPEN_CONFIRM, SETCLIENTID and its confirmation, RENEW."""

import os

import nfs4_ops as ops
from nfs4_results import CONFIRM
from registry import Skipped, Subject, check, equal, require

seqid = Subject("seqid", rfc7530="9.1.7")
confirm = Subject("open_confirm", rfc7530="16.18.5")
client = Subject("setclientid", rfc7530="16.33.5")
renew = Subject("renew", rfc7530="16.28.4")


def _open(bed, owner, **how):
    return [ops.putfh(bed.dir), bed.client.open_operation(owner, ops.claim_null("file"), **how),
            ops.getfh()]


def _same(first, second, what):
    equal([result[:2] for result in second.results], [result[:2] for result in first.results], what)
    equal(second.results[-1].value, first.results[-1].value, what)


@seqid.case(rfc7530="9.1.9")
def open_again_is_a_replay(bed):
    bed.file()
    owner = bed.client.owner()
    operations = _open(bed, owner)
    first = bed.client.ask(*operations)
    check(first.status, "OK", "OPEN")
    second = bed.client.ask(*operations)
    check(second.status, "OK", "the same OPEN")
    equal(second.results[1].value.stateid, first.results[1].value.stateid, "its stateid")


@seqid.case(rfc7530="9.1.9")
def guarded_open_again_is_a_replay(bed):
    operations = _open(bed, bed.client.owner(), how=ops.guarded())
    check(bed.client.ask(*operations).status, "OK", "OPEN")
    check(bed.client.ask(*operations).status, "OK", "the same OPEN")


@seqid.case(rfc7530="9.1.9")
def refused_open_again_is_a_replay(bed):
    bed.file(name="another")
    owner = bed.client.open(bed.dir, "another").owner
    operations = _open(bed, owner)
    check(bed.client.ask(*operations).status, "NOENT", "OPEN")
    bed.make("fifo", "file")
    check(bed.client.ask(*operations).status, "NOENT", "the same OPEN")


def _next(wanted, by):
    def body(bed):
        bed.file()
        opened = bed.client.open(bed.dir, "file")
        opened.owner.seqid = opened.owner.seqid + by
        bed.expect(wanted, *_open(bed, opened.owner)[:2])
    return body


seqid.add("open_two_too_many", _next("BAD_SEQID", 1))
seqid.add("open_far_too_many", _next("BAD_SEQID", 1000))
seqid.add("open_of_the_past", _next("BAD_SEQID", -2))
seqid.add("open_with_0", _next("BAD_SEQID", -3))


@seqid.case()
def close_again_is_a_replay(bed):
    opened = bed.open(text=b"")
    operations = [ops.putfh(opened.handle), ops.close(opened.stateid, opened.owner.seqid)]
    check(bed.client.ask(*operations).status, "OK", "CLOSE")
    check(bed.client.ask(*operations).status, "OK", "the same CLOSE")


@seqid.case()
def close_with_a_wrong_one(bed):
    opened = bed.open(text=b"")
    bed.client.close(opened, "BAD_SEQID", seqid=opened.owner.seqid + 1)


@seqid.case()
def downgrade_again_is_a_replay(bed):
    opened = bed.open(text=b"", access=ops.READING)
    opened = bed.client.open(bed.dir, "file", opened.owner, access=ops.BOTH)
    operations = [ops.putfh(opened.handle),
                  ops.open_downgrade(opened.stateid, ops.READING, 0, opened.owner.seqid)]
    first = bed.client.ask(*operations)
    check(first.status, "OK", "OPEN_DOWNGRADE")
    _same(first, bed.client.ask(*operations), "the same OPEN_DOWNGRADE")


@seqid.case()
def downgrade_with_a_wrong_one(bed):
    opened = bed.open(text=b"", access=ops.READING)
    opened = bed.client.open(bed.dir, "file", opened.owner, access=ops.BOTH)
    opened.owner.seqid = opened.owner.seqid + 3
    bed.client.downgrade(opened, ops.READING, wanted="BAD_SEQID")


def _first_lock(bed, opened, lock_seqid=0):
    locker = ops.new_locker(opened.owner.seqid, opened.stateid, lock_seqid, bed.client.client_id,
                            "locker")
    return [ops.putfh(opened.handle), ops.lock(ops.WRITE_LT, 0, 10, locker)]


@seqid.case()
def first_lock_again_is_a_replay(bed):
    operations = _first_lock(bed, bed.open(text=b""))
    first = bed.client.ask(*operations)
    check(first.status, "OK", "LOCK")
    _same(first, bed.client.ask(*operations), "the same LOCK")


@seqid.case()
def first_lock_with_a_wrong_one_of_the_open(bed):
    opened = bed.open(text=b"")
    opened.owner.seqid = opened.owner.seqid + 1
    bed.expect("BAD_SEQID", *_first_lock(bed, opened))


def _locked(bed):
    opened, owner = bed.open(text=b""), bed.client.lock_owner()
    bed.client.lock(opened, owner, ops.WRITE_LT, 0, 10)
    return opened, owner, owner.stateids[opened]


@seqid.case()
def lock_again_is_a_replay(bed):
    opened, owner, held = _locked(bed)
    operations = [ops.putfh(opened.handle),
                  ops.lock(ops.WRITE_LT, 20, 10, ops.old_locker(held, owner.seqid))]
    first = bed.client.ask(*operations)
    check(first.status, "OK", "LOCK")
    _same(first, bed.client.ask(*operations), "the same LOCK")


@seqid.case()
def denied_lock_again_is_a_replay(bed):
    opened, owner, held = _locked(bed)
    other = bed.new_client()
    theirs, their_owner = other.open(bed.dir, "file"), other.lock_owner()
    other.lock(theirs, their_owner, ops.WRITE_LT, 20, 10)
    operations = [ops.putfh(opened.handle),
                  ops.lock(ops.WRITE_LT, 20, 10, ops.old_locker(held, owner.seqid))]
    check(bed.client.ask(*operations).status, "DENIED", "LOCK")
    other.unlock(theirs, their_owner, 20, 10)
    check(bed.client.ask(*operations).status, "DENIED", "the same LOCK")


@seqid.case()
def lock_with_a_wrong_one(bed):
    opened, owner, held = _locked(bed)
    bed.expect("BAD_SEQID", ops.putfh(opened.handle),
               ops.lock(ops.WRITE_LT, 20, 10, ops.old_locker(held, owner.seqid + 1)))


@seqid.case()
def unlock_again_is_a_replay(bed):
    opened, owner, held = _locked(bed)
    operations = [ops.putfh(opened.handle), ops.locku(ops.WRITE_LT, 0, 10, held, owner.seqid)]
    first = bed.client.ask(*operations)
    check(first.status, "OK", "LOCKU")
    _same(first, bed.client.ask(*operations), "the same LOCKU")


@seqid.case()
def unlock_with_a_wrong_one(bed):
    opened, owner, held = _locked(bed)
    bed.expect("BAD_SEQID", ops.putfh(opened.handle),
               ops.locku(ops.WRITE_LT, 0, 10, held, owner.seqid + 5))


@seqid.case()
def it_goes_round(bed):
    bed.file()
    owner = bed.client.owner()
    owner.seqid = 0xFFFFFFFF
    opened = bed.client.open(bed.dir, "file", owner)
    for _ in range(3):
        again = bed.client.open(bed.dir, "file", owner)
    equal(again.stateid[4:], opened.stateid[4:], "the stateid")


# --- OPEN_CONFIRM

def _unconfirmed(bed):
    owner = bed.client.owner()
    answer = bed.client.ask(*_open(bed, owner, how=ops.unchecked()))
    check(answer.status, "OK", "OPEN")
    opened = answer.results[1].value
    if not opened.flags & CONFIRM:
        raise Skipped("the server wants no OPEN_CONFIRM")
    owner.answered("OK")
    return owner, opened.stateid, answer.results[2].value


@confirm.case()
def makes_an_open_usable(bed):
    owner, given, handle = _unconfirmed(bed)
    confirmed = bed.expect("OK", ops.putfh(handle), ops.open_confirm(given, owner.seqid))
    bed.expect("OK", ops.putfh(handle), ops.write(confirmed, b"x"))


@confirm.case()
def before_it_the_stateid_is_none(bed):
    _, given, handle = _unconfirmed(bed)
    bed.expect("BAD_STATEID", ops.putfh(handle), ops.write(given, b"x"))


@confirm.case()
def again_is_a_replay(bed):
    owner, given, handle = _unconfirmed(bed)
    operations = [ops.putfh(handle), ops.open_confirm(given, owner.seqid)]
    first = bed.expect("OK", *operations)
    equal(bed.expect("OK", *operations), first, "the same OPEN_CONFIRM")


@confirm.case()
def with_a_wrong_seqid(bed):
    owner, given, handle = _unconfirmed(bed)
    bed.expect("BAD_SEQID", ops.putfh(handle), ops.open_confirm(given, owner.seqid + 1))


@confirm.case()
def with_another_stateid(bed):
    owner, given, handle = _unconfirmed(bed)
    bed.expect("BAD_STATEID STALE_STATEID EXPIRED", ops.putfh(handle), ops.open_confirm(
        given[:4] + os.urandom(12), owner.seqid))


@confirm.case()
def of_what_is_confirmed(bed):
    opened = bed.open(text=b"")
    bed.expect("BAD_STATEID", ops.putfh(opened.handle),
               ops.open_confirm(opened.stateid, opened.owner.seqid))


@confirm.case(rfc7530="16.18.5")
def another_open_instead_cancels_it(bed):
    owner, _, handle = _unconfirmed(bed)
    again = bed.client.open(bed.dir, "file", owner)
    bed.expect("OK", ops.putfh(handle), ops.write(again.stateid, b"x"))


# --- SETCLIENTID

def _set(bed, **how):
    """A client that has sent SETCLIENTID, and has not confirmed it."""
    made = bed.new_client(introduced=False, **how)
    made.set_client_id()
    return made


@client.case(rfc7530="16.34.5")
def a_confirmation_that_is_wrong(bed):
    made = _set(bed)
    check(made.raw(ops.setclientid_confirm(made.client_id, os.urandom(8))).status,
          "STALE_CLIENTID CLID_INUSE", "SETCLIENTID_CONFIRM")


@client.case(rfc7530="16.34.5")
def a_client_id_that_is_none(bed):
    check(bed.client.raw(ops.setclientid_confirm(0x123456789ABCDEF, os.urandom(8))).status,
          "STALE_CLIENTID", "SETCLIENTID_CONFIRM")


@client.case(rfc7530="16.34.5")
def confirmed_twice(bed):
    made = _set(bed)
    for _ in range(2):
        check(made.raw(ops.setclientid_confirm(made.client_id, made.confirm)).status, "OK",
              "SETCLIENTID_CONFIRM")


@client.case(rfc7530="9.1.1")
def unconfirmed_it_opens_nothing(bed):
    bed.file()
    made = _set(bed)
    check(made.try_open(bed.dir, "file")[0], "STALE_CLIENTID EXPIRED", "OPEN")


@client.case()
def the_same_again_keeps_what_is_open(bed):
    opened = bed.open(text=b"")
    first = bed.client.client_id
    again = bed.new_client(name=bed.client.name, verifier=bed.client.verifier)
    equal(again.client_id, first, "the client id after an update of the callback")
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))


@client.case()
def a_new_verifier_ends_what_was_open(bed):
    opened = bed.open(text=b"", deny=ops.BOTH)
    again = bed.new_client(name=bed.client.name)
    require(again.client_id != bed.client.client_id, "one client id for two lives")
    answer = again.ask(ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))
    check(answer.status, "BAD_STATEID EXPIRED STALE_STATEID", "WRITE")
    check(bed.new_client().try_open(bed.dir, "file")[0], "OK", "OPEN")


@client.case()
def a_new_verifier_unconfirmed_ends_nothing(bed):
    opened = bed.open(text=b"")
    _set(bed, name=bed.client.name)
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))


@client.case()
def another_principal_while_it_is_in_use(bed):
    bed.open(text=b"")
    other = bed.new_client(introduced=False, name=bed.client.name, uid=1000)
    answer = other.raw(ops.setclientid(other.verifier, other.name))
    check(answer.status, "CLID_INUSE", "SETCLIENTID")


@client.case()
def two_have_two_ids(bed):
    require(bed.client.client_id != bed.new_client().client_id, "one client id for two clients")


@client.case(rfc7530="13.1.1.1")
def an_owner_that_is_too_long(bed):
    bed.client.undecodable(ops.setclientid(os.urandom(8), b"o" * 1025), also="INVAL")


@client.case()
def an_owner_as_long_as_may_be(bed):
    made = _set(bed, name=os.urandom(8).hex() + "o" * 1008)
    check(made.raw(ops.setclientid_confirm(made.client_id, made.confirm)).status, "OK",
          "SETCLIENTID_CONFIRM")


@renew.case()
def a_confirmed_one(bed):
    bed.expect("OK", ops.renew(bed.client.client_id))


@renew.case()
def one_that_is_none(bed):
    bed.expect("STALE_CLIENTID", ops.renew(0x123456789ABCDEF))


@renew.case()
def one_of_a_former_life(bed):
    former = bed.client.client_id
    bed.new_client(name=bed.client.name)
    bed.expect("STALE_CLIENTID EXPIRED", ops.renew(former))
