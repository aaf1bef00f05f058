"""OPEN: how files are made, what is answered, claims; CLOSE and OPEN_DOWNGRADE."""

import os

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import USER
from nfs4_results import NO_DELEGATION_TYPES
from nfs4_wire import u32
from registry import Subject, check, equal, require

open_ = Subject("open", rfc7530="16.16.5", rfc8881="18.16.3")
create = Subject("open.create", rfc7530="16.16.5", rfc8881="18.16.3")
claim = Subject("open.claim", rfc7530="16.16.5", rfc8881="18.16.3")

VERIFIER = b"verifier"


def _status(bed, wanted, name="file", client=None, **how):
    status, opened, value = (client or bed.client).try_open(bed.dir, name, **how)
    check(status, wanted, "OPEN")
    return opened, value


# --- plain

@open_.case()
def what_is_not_there(bed):
    _status(bed, "NOENT")


for _name, _access, _deny in [("access_0", 0, 0), ("access_4", 4, 0), ("deny_4", 1, 4)]:
    open_.add(f"with_{_name}", lambda bed, access=_access, deny=_deny: (
        bed.file(), _status(bed, "INVAL", access=access, deny=deny)))


@open_.case()
def it_is_the_current_handle(bed):
    made = bed.file()
    equal(_status(bed, "OK")[0].handle, made, "the handle after OPEN")


@open_.case()
def twice_by_one_owner(bed):
    first = bed.open(text=b"", access=ops.READING)
    second = bed.client.open(bed.dir, "file", first.owner, access=ops.WRITING)
    equal(second.stateid[4:], first.stateid[4:], "the stateid")
    require(second.stateid[:4] > first.stateid[:4], "its seqid did not grow")
    bed.expect("OK", ops.putfh(second.handle), ops.write(second.stateid, b"x"))
    bed.expect("OK", ops.putfh(second.handle), ops.read(second.stateid))


@open_.case()
def by_two_owners(bed):
    first = bed.open(text=b"")
    second = bed.client.open(bed.dir, "file", bed.client.owner("another"))
    require(second.stateid[4:] != first.stateid[4:], "one stateid for two owners")
    bed.client.close(first)
    bed.expect("OK", ops.putfh(second.handle), ops.write(second.stateid, b"x"))


@open_.case()
def one_owner_on_two_files(bed):
    first = bed.open(text=b"")
    bed.file(name="other")
    second = bed.client.open(bed.dir, "other", first.owner)
    require(second.stateid[4:] != first.stateid[4:], "one stateid for two files")


@open_.case()
def change_info(bed):
    before = bed.attributes(bed.dir, attr.CHANGE)[attr.CHANGE]
    _, value = _status(bed, "OK", how=ops.unchecked())
    after = bed.attributes(bed.dir, attr.CHANGE)[attr.CHANGE]
    equal(value.change.after, after, "the change after OPEN")
    if value.change.atomic:
        equal(value.change.before, before, "the change before OPEN")
    _, value = _status(bed, "OK", owner=bed.client.owner("another"))
    equal((value.change.before, value.change.after), (after, after), "of an OPEN of what is there")


@open_.case(rfc7530="16.16.5", rfc8881="18.16.3")
def by_a_user_who_may_not(bed):
    bed.file(values={attr.MODE: 0o600})
    _status(bed, "ACCESS", client=bed.new_client(uid=USER), access=ops.READING)


@open_.case()
def for_writing_by_a_user_who_may_read(bed):
    bed.file(values={attr.MODE: 0o644})
    user = bed.new_client(uid=USER)
    _status(bed, "OK", client=user, access=ops.READING)
    _status(bed, "ACCESS", client=user, access=ops.BOTH, owner=user.owner("another"))


@open_.case()
def making_where_one_may_not_write(bed):
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o755}))
    _status(bed, "ACCESS", client=bed.new_client(uid=USER), how=ops.unchecked())


@open_.case()
def delegation_is_none_without_a_back_channel(bed):
    bed.file()
    _, value = _status(bed, "OK", access=ops.READING)
    require(value.delegation[0] in NO_DELEGATION_TYPES, f"a delegation {value.delegation[0]}")


@open_.case(rfc8881="10.4")
def delegation_that_is_wanted_may_be_refused(bed):
    bed.file()
    wanted = 0x100 | ops.READING  # OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    answer = bed.client.ask(ops.putfh(bed.dir), ops.open_(
        ops.claim_null("file"), bed.client.client_id, "owner", wanted))
    check(answer.status, "OK", "OPEN")
    require(answer.results[1].value.delegation[0] in NO_DELEGATION_TYPES,
            "a delegation without a back channel")


# --- making

@create.case()
def unchecked_makes(bed):
    opened, value = _status(bed, "OK", how=ops.unchecked({attr.MODE: 0o640}))
    equal(bed.attributes(opened.handle, attr.MODE, attr.SIZE), {attr.MODE: 0o640, attr.SIZE: 0},
          "the new file")
    equal(value.attributes, {attr.MODE}, "attrset")


@create.case()
def unchecked_opens_what_is_there(bed):
    handle = bed.file(b"text")
    opened, _ = _status(bed, "OK", how=ops.unchecked({attr.MODE: 0o600}))
    equal(opened.handle, handle, "the handle")
    equal(bed.attributes(handle, attr.MODE, attr.SIZE), {attr.MODE: 0o666, attr.SIZE: 4},
          "what was there")


@create.case()
def unchecked_with_size_0_empties(bed):
    handle = bed.file(b"text")
    _, value = _status(bed, "OK", how=ops.unchecked({attr.SIZE: 0}))
    equal(bed.attributes(handle, attr.SIZE), {attr.SIZE: 0}, "size")
    equal(value.attributes, {attr.SIZE}, "attrset")


@create.case()
def unchecked_with_size_0_needs_writing(bed):
    bed.file(b"text", values={attr.MODE: 0o644})
    _status(bed, "ACCESS", client=bed.new_client(uid=USER), access=ops.READING,
            how=ops.unchecked({attr.SIZE: 0}))


@create.case()
def unchecked_on_a_directory(bed):
    bed.make("directory", "file")
    _status(bed, "ISDIR EXIST", how=ops.unchecked())


@create.case()
def guarded_makes(bed):
    opened, value = _status(bed, "OK", how=ops.guarded({attr.MODE: 0o600}))
    equal(bed.attributes(opened.handle, attr.MODE), {attr.MODE: 0o600}, "mode")
    equal(value.attributes, {attr.MODE}, "attrset")


for _kind in ("file", "directory", "symlink", "fifo"):
    create.add(f"guarded_on_a_{_kind}", lambda bed, kind=_kind: (
        bed.make(kind), _status(bed, "EXIST", kind, how=ops.guarded())))


@create.case()
def mode_0_and_written_nevertheless(bed):
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o777}))
    user = bed.new_client(uid=USER)
    opened, _ = _status(bed, "OK", client=user, how=ops.guarded({attr.MODE: 0}))
    user.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"text"))


@create.case()
def owner_is_who_made_it(bed):
    opened, _ = _status(bed, "OK", client=bed.new_client(uid=USER), how=ops.guarded())
    equal(bed.attributes(opened.handle, attr.OWNER), {attr.OWNER: str(USER).encode()}, "owner")


@create.case(rfc7530="5.5", rfc8881="5.5")
def with_a_read_only_attribute(bed):
    _status(bed, "INVAL", how=ops.guarded({attr.NUMLINKS: 2}))
    equal(bed.names(), [], "what is there")


@create.case(rfc7530="16.16.5", rfc8881="18.16.3")
def with_an_attribute_nobody_knows(bed):
    how = u32(1, 1) + attr.bitmap([95]) + ops.opaque(u32(1))
    _status(bed, "ATTRNOTSUPP", how=how)
    equal(bed.names(), [], "what is there")


@create.case(rfc7530="13.1.1.1", rfc8881="15.1.1.1")
def with_a_mode_that_is_none(bed):
    bed.client.undecodable(ops.putfh(bed.dir), bed.client.open_operation(
        bed.client.owner(), ops.claim_null("file"), how=u32(1, 7) + attr.fattr()), also="INVAL")


# --- exclusively

def _exclusives(bed):
    return [ops.exclusive(VERIFIER)] + ([ops.exclusive_41(VERIFIER)] if bed.minor else [])


@create.case()
def exclusive_makes(bed):
    for number, how in enumerate(_exclusives(bed)):
        opened, _ = _status(bed, "OK", f"file{number}", how=how)
        bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"text"))


@create.case()
def exclusive_again(bed):
    for number, how in enumerate(_exclusives(bed)):
        first, _ = _status(bed, "OK", f"file{number}", how=how)
        second, _ = _status(bed, "OK", f"file{number}", how=how, owner=first.owner)
        equal(second.handle, first.handle, "the handle")


@create.case()
def exclusive_again_by_another_client(bed):
    for number, how in enumerate(_exclusives(bed)):
        first, _ = _status(bed, "OK", f"file{number}", how=how)
        second, _ = _status(bed, "OK", f"file{number}", how=how, client=bed.new_client())
        equal(second.handle, first.handle, "the handle")


@create.case()
def exclusive_with_another_verifier(bed):
    for number, how in enumerate(_exclusives(bed)):
        _status(bed, "OK", f"file{number}", how=how)
        other = how.replace(VERIFIER, b"anothers")
        _status(bed, "EXIST", f"file{number}", how=other, owner=bed.client.owner("another"))


for _kind, _wanted in [("file", "EXIST"), ("directory", "EXIST ISDIR"),
                       ("symlink", "EXIST SYMLINK")]:
    create.add(f"exclusive_on_a_{_kind}", lambda bed, kind=_kind, wanted=_wanted: (
        bed.make(kind), [_status(bed, wanted, kind, how=how) for how in _exclusives(bed)]))


@create.case(rfc8881="18.16.3")
def exclusive_41_sets_attributes(bed):
    opened, value = _status(bed, "OK", how=ops.exclusive_41(VERIFIER, {attr.MODE: 0o640}))
    equal(bed.attributes(opened.handle, attr.MODE), {attr.MODE: 0o640}, "mode")
    require(attr.MODE in value.attributes, f"attrset is {value.attributes}, without the mode")


@create.case(rfc8881="18.16.3")
def exclusive_41_again_with_attributes(bed):
    how = ops.exclusive_41(VERIFIER, {attr.MODE: 0o640})
    first, _ = _status(bed, "OK", how=how)
    second, _ = _status(bed, "OK", how=how, owner=first.owner)
    equal(second.handle, first.handle, "the handle")


@create.case(rfc8881="18.16.3")
def exclusive_41_with_what_cannot_be_set(bed):
    can = bed.attributes(bed.dir, attr.SUPPATTR_EXCLCREAT)[attr.SUPPATTR_EXCLCREAT]
    if attr.TIME_MODIFY_SET not in can:
        _status(bed, "INVAL", how=ops.exclusive_41(
            VERIFIER, {attr.TIME_MODIFY_SET: attr.to_client(1000)}))
        equal(bed.names(), [], "what is there")


@create.case(rfc7530="16.16.5")
def exclusive_41_is_nothing_of_v40(bed):
    bed.client.undecodable(ops.putfh(bed.dir), bed.client.open_operation(
        bed.client.owner(), ops.claim_null("file"), how=ops.exclusive_41(VERIFIER)),
        also="INVAL NOTSUPP")


@create.case()
def exclusive_after_a_setattr(bed):
    """A client sets what it wants when it has made the file; the verifier may be lost then."""
    how = ops.exclusive(VERIFIER)
    opened, _ = _status(bed, "OK", how=how)
    bed.expect("OK", ops.putfh(opened.handle), ops.setattr_(
        {attr.MODE: 0o600, attr.TIME_MODIFY_SET: attr.SET_BY_SERVER}, opened.stateid))
    equal(bed.attributes(opened.handle, attr.MODE), {attr.MODE: 0o600}, "mode")


# --- claims

@claim.case()
def previous_without_a_grace_period(bed):
    handle = bed.file()
    operation = bed.client.open_operation(bed.client.owner(), ops.claim_previous())
    bed.expect("NO_GRACE RECLAIM_BAD", ops.putfh(handle), operation)


@claim.case()
def previous_of_what_is_open(bed):
    opened = bed.open(text=b"")
    bed.expect("NO_GRACE RECLAIM_BAD", ops.putfh(opened.handle), bed.client.open_operation(
        opened.owner, ops.claim_previous(), deny=ops.WRITING))


@claim.case()
def previous_with_a_delegation(bed):
    handle = bed.file()
    bed.expect("NO_GRACE RECLAIM_BAD", ops.putfh(handle), bed.client.open_operation(
        bed.client.owner(), ops.claim_previous(1)))


@claim.case(rfc8881="18.16.3")
def by_handle(bed):
    handle = bed.file(b"text")
    opened = bed.values(ops.putfh(handle), bed.client.open_operation(
        bed.client.owner(), ops.CLAIM_FH))[1]
    bed.expect("OK", ops.putfh(handle), ops.write(opened.stateid, b"x"))


@claim.case(rfc8881="18.16.3")
def by_handle_of_a_directory(bed):
    bed.expect("ISDIR WRONG_TYPE", ops.putfh(bed.dir), bed.client.open_operation(
        bed.client.owner(), ops.CLAIM_FH))


@claim.case(rfc8881="18.16.3")
def by_handle_by_a_user_who_may_not(bed):
    handle = bed.file(values={attr.MODE: 0o600})
    user = bed.new_client(uid=USER)
    user.expect("ACCESS", ops.putfh(handle), user.open_operation(user.owner(), ops.CLAIM_FH))


@claim.case(rfc7530="16.16.5")
def by_handle_is_nothing_of_v40(bed):
    bed.client.undecodable(ops.putfh(bed.file()), bed.client.open_operation(
        bed.client.owner(), ops.CLAIM_FH), also="INVAL NOTSUPP")


@claim.case()
def of_a_delegation_that_is_none(bed):
    bed.file()
    given = u32(2) + b"\0\0\0\1" + os.urandom(12) + ops.opaque("file")
    bed.expect("BAD_STATEID STALE_STATEID NOTSUPP RECLAIM_BAD", ops.putfh(bed.dir),
               bed.client.open_operation(bed.client.owner(), given))


@claim.case()
def of_a_delegation_before_a_restart(bed):
    bed.file()
    bed.expect("NOTSUPP RECLAIM_BAD NO_GRACE", ops.putfh(bed.dir), bed.client.open_operation(
        bed.client.owner(), u32(3) + ops.opaque("file")))


@claim.case(rfc7530="13.1.1.1", rfc8881="15.1.1.1")
def that_is_none(bed):
    bed.client.undecodable(ops.putfh(bed.dir), bed.client.open_operation(
        bed.client.owner(), u32(9)), also="INVAL NOTSUPP")


@claim.case(rfc8881="18.51.3")
def before_reclaim_complete(bed):
    bed.file()
    client = bed.new_client(introduced=False)
    client.exchange()
    client.create_session()
    answer = client.ask(ops.putfh(bed.dir), client.open_operation(
        client.owner(), ops.claim_null("file")), later=True)
    check(answer.status, "GRACE", "OPEN")


@claim.case(rfc7530="9.1.1", rfc8881="18.16.3")
def a_client_id_that_is_none(bed):
    bed.file()
    operation = ops.open_(ops.claim_null("file"), 0x123456789ABCDEF, "owner", seqid=1)
    bed.expect("STALE_CLIENTID" if not bed.minor else "OK", ops.putfh(bed.dir), operation)


# --- CLOSE

close = Subject("close", rfc7530="16.2.4", rfc8881="18.2.3")
downgrade = Subject("downgrade", rfc7530="16.19.4", rfc8881="18.18.3")


@close.case()
def the_file_is_open_no_more(bed):
    opened = bed.open(text=b"", deny=ops.WRITING)
    bed.client.close(opened)
    _status(bed, "OK", owner=bed.client.owner("another"))


@close.case()
def what_holds_a_lock(bed):
    opened = bed.open(text=b"")
    bed.client.lock(opened, bed.client.lock_owner())
    answer = bed.client.ask(ops.putfh(opened.handle), ops.close(opened.stateid, opened.owner.seqid))
    check(answer.status, "OK LOCKS_HELD", "CLOSE")
    bed.test_lock = bed.new_client().test_lock(
        opened.handle, wanted="OK" if answer.status == "OK" else "DENIED")


@close.case()
def of_a_removed_file(bed):
    opened = bed.open(text=b"text")
    bed.expect("OK", ops.putfh(bed.dir), ops.remove("file"))
    bed.expect("OK", ops.putfh(opened.handle), ops.read(opened.stateid))
    bed.client.close(opened)


@close.case(rfc8881="8.2.4")
def one_of_two_owners(bed):
    first = bed.open(text=b"", deny=0)
    second = bed.client.open(bed.dir, "file", bed.client.owner("another"))
    bed.client.close(second)
    bed.expect("OK", ops.putfh(first.handle), ops.write(first.stateid, b"x"))


# --- OPEN_DOWNGRADE

def _twice(bed, first, second):
    opened = bed.open(text=b"text", access=first[0], deny=first[1])
    again = bed.client.open(bed.dir, "file", opened.owner, access=second[0], deny=second[1])
    return again


DOWNGRADES = [  # first OPEN, second OPEN, to what, the answer
    ("to_the_first", (1, 0), (2, 0), (1, 0), "OK"),
    ("to_the_second", (1, 0), (2, 0), (2, 0), "OK"),
    ("to_the_same", (1, 0), (2, 0), (3, 0), "OK"),
    ("to_no_deny", (1, 0), (1, 2), (1, 0), "OK"),
    ("to_a_deny_that_is_kept", (1, 2), (1, 2), (1, 2), "OK"),
    ("of_both_with_a_deny", (3, 0), (1, 0), (3, 0), "OK"),
    ("to_nothing", (1, 0), (2, 0), (0, 0), "INVAL"),
    ("to_access_4", (1, 0), (2, 0), (4, 0), "INVAL"),
    ("to_deny_4", (1, 0), (2, 0), (1, 4), "INVAL"),
    ("to_a_deny_that_is_new", (1, 0), (2, 0), (1, 1), "INVAL"),
    ("to_more_access", (1, 0), (1, 0), (3, 0), "INVAL"),
    ("to_what_was_never_opened", (3, 0), (3, 0), (1, 0), "INVAL"),
    ("to_a_deny_that_was_never_opened", (1, 2), (1, 2), (1, 0), "INVAL")]

for _name, _first, _second, _to, _wanted in DOWNGRADES:
    downgrade.add(_name, lambda bed, first=_first, second=_second, to=_to, wanted=_wanted:
                  bed.client.downgrade(_twice(bed, first, second), *to, wanted=wanted))


@downgrade.case()
def of_one_open_to_itself(bed):
    bed.client.downgrade(bed.open(text=b"", access=ops.BOTH, deny=ops.WRITING), ops.BOTH,
                         ops.WRITING)


@downgrade.case()
def then_no_writing(bed):
    opened = _twice(bed, (1, 0), (3, 0))
    before = opened.stateid
    bed.client.downgrade(opened, ops.READING)
    require(opened.stateid[:4] > before[:4], "the seqid did not grow")
    bed.expect("OPENMODE", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))
    bed.expect("OK", ops.putfh(opened.handle), ops.read(opened.stateid))


@downgrade.case()
def then_others_may_write(bed):
    opened = _twice(bed, (1, 0), (1, 2))
    other = bed.new_client()
    check(other.try_open(bed.dir, "file")[0], "SHARE_DENIED", "OPEN")
    bed.client.downgrade(opened, ops.READING, 0)
    check(other.try_open(bed.dir, "file", other.owner("later"))[0], "OK", "OPEN")
