"""ACLs: what they say of the mode and the mode of them, who may what, what is inherited.

Permission tests use only what a POSIX ACL can say as well: users and groups that are allowed more.
"""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import USER
from nfs4_attributes import Ace
from registry import Skipped, Subject, check, equal, require

acl = Subject("acl", rfc7530="6.2.1", rfc8881="6.2.1")
of_mode = Subject("acl.mode", rfc7530="6.4.1", rfc8881="6.4.1")
enforced = Subject("acl.enforced", rfc7530="6.3.1", rfc8881="6.3.1")
inherited = Subject("acl.inherited", rfc7530="6.4.3", rfc8881="6.4.3")

ALLOW, DENY, AUDIT = 0, 1, 2
FILE_INHERIT, DIRECTORY_INHERIT, NO_PROPAGATE, INHERIT_ONLY, GROUP = 1, 2, 4, 8, 0x40
READ_DATA, WRITE_DATA, APPEND, EXECUTE, DELETE_CHILD = 1, 2, 4, 0x20, 0x40
READ_ATTRIBUTES, READ_ACL, SYNCHRONIZE = 0x80, 0x20000, 0x100000
ALWAYS = READ_ATTRIBUTES | READ_ACL | SYNCHRONIZE
READS, WRITES, RUNS = READ_DATA | ALWAYS, WRITE_DATA | APPEND | ALWAYS, EXECUTE | ALWAYS
OTHER, THEIR_GROUP = 1001, 2000


def entries(owner, group, everyone, *more, directory=False):
    """An ACL that allows these three what the digits of a mode say, and `more` behind the owner."""
    def mask(digit):
        found = ALWAYS
        for bit, masks in ((4, READ_DATA), (2, WRITE_DATA | APPEND
                                            | (DELETE_CHILD if directory else 0)), (1, EXECUTE)):
            found |= masks if digit & bit else 0
        return found
    return [Ace(ALLOW, 0, mask(owner), b"OWNER@"), *more, Ace(ALLOW, GROUP, mask(group), b"GROUP@"),
            Ace(ALLOW, 0, mask(everyone), b"EVERYONE@")]


def _user(mask, uid=USER, flags=0, kind=ALLOW):
    return Ace(kind, flags, mask, str(uid).encode())


def _needs(bed):
    if attr.ACL not in bed.supported():
        raise Skipped("ACLs are not offered")


def _file(bed, *given, **how):
    _needs(bed)
    handle = bed.file(b"text", **how)
    if given:
        _set(bed, handle, list(given))
    return handle


def _set(bed, handle, given, wanted="OK", client=None):
    return (client or bed.client).expect(wanted, ops.putfh(handle), ops.setattr_({attr.ACL: given}))


def _get(bed, handle):
    return bed.attributes(handle, attr.ACL)[attr.ACL]


def _mode(bed, handle):
    return bed.attributes(handle, attr.MODE)[attr.MODE]


def _allowed(found, who):
    """What is allowed to who by entries of its own."""
    return {bit for ace in found if ace.who == who and ace.kind == ALLOW
            and not ace.flags & INHERIT_ONLY for bit in range(32) if ace.mask >> bit & 1}


@acl.case(rfc7530="5.8.2.1", rfc8881="5.8.2.1")
def offered(bed):
    require(attr.ACL in bed.supported(), "acl is not in supported_attrs")


@acl.case(rfc7530="6.2.1.2", rfc8881="6.2.1.2")
def aclsupport(bed):
    _needs(bed)
    value = bed.attributes(bed.dir, attr.ACLSUPPORT)[attr.ACLSUPPORT]
    require(value & 1, f"aclsupport is {value}: no ALLOW entries")


@acl.case(rfc7530="6.3.2", rfc8881="6.3.2")
def of_a_file_without_one(bed):
    """It says what the mode says."""
    handle = _file(bed, values={attr.MODE: 0o640})
    found = _get(bed, handle)
    require(0 in _allowed(found, b"OWNER@"), f"OWNER@ may not read: {found}")
    require(1 in _allowed(found, b"OWNER@"), f"OWNER@ may not write: {found}")
    require(0 in _allowed(found, b"GROUP@"), f"GROUP@ may not read: {found}")
    require(0 not in _allowed(found, b"EVERYONE@"), f"EVERYONE@ may read: {found}")


@acl.case()
def what_was_set_is_there(bed):
    handle = _file(bed, *entries(6, 4, 0, _user(READS)))
    found = _get(bed, handle)
    require(0 in _allowed(found, str(USER).encode()), f"{USER} may not read: {found}")
    require(1 not in _allowed(found, str(USER).encode()), f"{USER} may write: {found}")


@acl.case()
def set_twice_is_the_same(bed):
    handle = _file(bed, *entries(6, 4, 0, _user(READS)))
    first = _get(bed, handle)
    _set(bed, handle, first)
    equal(_get(bed, handle), first, "the ACL, set to what it was")


@acl.case()
def a_group(bed):
    handle = _file(bed, *entries(6, 0, 0, _user(READS, THEIR_GROUP, GROUP)))
    found = [ace for ace in _get(bed, handle) if ace.who == str(THEIR_GROUP).encode()]
    require(found and all(ace.flags & GROUP for ace in found),
            f"IDENTIFIER_GROUP is not set: {found}")


@acl.case(rfc7530="5.8.1.4", rfc8881="5.8.1.4")
def change_goes_on(bed):
    handle = _file(bed)
    before = bed.attributes(handle, attr.CHANGE)
    _set(bed, handle, entries(6, 4, 4, _user(READS)))
    require(bed.attributes(handle, attr.CHANGE) != before, "change stayed")


@acl.case()
def it_is_said_that_it_was_set(bed):
    equal(_set(bed, _file(bed), entries(6, 4, 4)), {attr.ACL}, "attrsset")


@acl.case()
def in_verify(bed):
    handle = _file(bed, *entries(6, 4, 0, _user(READS)))
    bed.expect("SAME", ops.putfh(handle), ops.nverify({attr.ACL: _get(bed, handle)}))


# --- what is no ACL

for _name, _ace, _wanted in [
        ("a_kind_that_is_none", Ace(9, 0, READS, b"OWNER@"), "INVAL ATTRNOTSUPP BADXDR"),
        ("a_name_nobody_has", Ace(ALLOW, 0, READS, b"no such user@x"), "BADOWNER INVAL"),
        ("an_empty_name", Ace(ALLOW, 0, READS, b""), "BADOWNER INVAL"),
        ("a_special_name_that_is_none", Ace(ALLOW, 0, READS, b"NOBODYKNOWS@"), "BADOWNER INVAL"),
        ("an_audit_entry", Ace(AUDIT, 0x10, READS, b"EVERYONE@"), "ATTRNOTSUPP INVAL OK")]:
    def _no_acl(bed, ace=_ace, wanted=_wanted):
        handle = _file(bed)
        before = _get(bed, handle)
        _set(bed, handle, [*entries(6, 4, 4), ace], wanted)
        if wanted.split()[-1] != "OK":
            equal(_get(bed, handle), before, "the ACL afterwards")
    acl.add(f"with_{_name}", _no_acl)


@acl.case()
def of_very_many_entries(bed):
    handle = _file(bed)
    given = entries(6, 4, 4, *(_user(READS, 10000 + number) for number in range(5000)))
    before = _get(bed, handle)
    answer = bed.client.ask(ops.putfh(handle), ops.setattr_({attr.ACL: given}))
    check(answer.status, "OK NOSPC INVAL FBIG DQUOT ATTRNOTSUPP", "SETATTR")
    if answer.status != "OK":
        equal(_get(bed, handle), before, "the ACL afterwards")


# --- ACL and mode

for _owner, _group, _everyone in [(6, 4, 0), (7, 5, 5), (6, 6, 6), (4, 4, 4), (7, 0, 0), (0, 0, 0)]:
    def _mode_of(bed, digits=(_owner, _group, _everyone)):
        handle = _file(bed, *entries(*digits))
        wanted = digits[0] << 6 | digits[1] << 3 | digits[2]
        equal(oct(_mode(bed, handle)), oct(wanted), "mode")
    of_mode.add(f"of_an_acl_{_owner}{_group}{_everyone}", _mode_of)


@of_mode.case(rfc7530="6.4.1.1", rfc8881="6.4.1.1")
def set_takes_rights_away(bed):
    handle = _file(bed, *entries(6, 6, 0, _user(READS | WRITES)))
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o600}))
    equal(oct(_mode(bed, handle)), oct(0o600), "mode")
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle), ops.read(ops.ANONYMOUS))


@of_mode.case(rfc7530="6.4.1.1", rfc8881="6.4.1.1")
def is_kept_as_it_was_set(bed):
    handle = _file(bed, *entries(6, 4, 0, _user(READS)))
    for mode in (0o640, 0o444, 0o777, 0o000, 0o4755):
        bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: mode}))
        equal(oct(_mode(bed, handle)), oct(mode), "mode")


@of_mode.case(rfc7530="6.4.1.1", rfc8881="6.4.1.1")
def in_the_acl_of_a_file_without_one(bed):
    handle = _file(bed)
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o200}))
    found = _get(bed, handle)
    require(0 not in _allowed(found, b"OWNER@"), f"OWNER@ may read: {found}")
    require(1 in _allowed(found, b"OWNER@"), f"OWNER@ may not write: {found}")


@of_mode.case(rfc7530="6.4.1.2", rfc8881="6.4.1.2")
def setuid_stays(bed):
    handle = _file(bed)
    bed.expect("OK", ops.putfh(handle), ops.setattr_({attr.MODE: 0o4755}))
    _set(bed, handle, entries(7, 5, 5, _user(READS)))
    equal(oct(_mode(bed, handle) & 0o7000), oct(0o4000), "the upper bits of mode")


@of_mode.case(rfc7530="6.4.1.3", rfc8881="6.4.1.3")
def and_acl_at_once(bed):
    handle = _file(bed)
    bed.expect("OK", ops.putfh(handle), ops.setattr_(
        {attr.ACL: entries(6, 4, 0, _user(READS)), attr.MODE: 0o4640}))
    require(_mode(bed, handle) & 0o777 in (0o640, 0o644), f"mode is {_mode(bed, handle):o}")
    bed.new_client(uid=USER).expect("OK", ops.putfh(handle), ops.read(ops.ANONYMOUS))


# --- who may what

def _may(mask, operation, wanted, groups=(), uid=USER, entry=None):
    def body(bed):
        handle = _file(bed, *entries(6, 0, 0, entry or _user(mask)))
        user = bed.new_client(uid=uid)
        user.act_as(uid, uid, groups)
        user.expect(wanted, ops.putfh(handle), operation)
    return body


READ, WRITE = ops.read(ops.ANONYMOUS), ops.write(ops.ANONYMOUS, b"x")
for _name, _mask, _operation, _wanted in [
        ("read", READS, READ, "OK"), ("read_not_write", READS, WRITE, "ACCESS"),
        ("write", WRITES, WRITE, "OK"), ("write_not_read", WRITES, READ, "ACCESS"),
        ("run_not_read", RUNS, READ, "OK ACCESS")]:
    enforced.add(f"a_user_may_{_name}", _may(_mask, _operation, _wanted))
enforced.add("another_user_may_not", _may(READS, READ, "ACCESS", uid=OTHER))
enforced.add("a_group_may_read", _may(READS, READ, "OK", groups=(THEIR_GROUP,),
                                      entry=_user(READS, THEIR_GROUP, GROUP)))
enforced.add("not_of_the_group", _may(READS, READ, "ACCESS",
                                      entry=_user(READS, THEIR_GROUP, GROUP)))
enforced.add("a_user_is_no_group", _may(READS, READ, "ACCESS", groups=(THEIR_GROUP,),
                                        entry=_user(READS, THEIR_GROUP)))


@enforced.case(rfc7530="6.3.1", rfc8881="6.3.1")
def a_user_who_is_denied_what_everyone_may(bed):
    _needs(bed)
    if not bed.attributes(bed.dir, attr.ACLSUPPORT)[attr.ACLSUPPORT] & 2:
        raise Skipped("no DENY entries")
    handle = _file(bed)
    given = [_user(READ_DATA, kind=DENY), *entries(6, 4, 4)]
    answer = bed.client.ask(ops.putfh(handle), ops.setattr_({attr.ACL: given}))
    check(answer.status, "OK ATTRNOTSUPP INVAL", "SETATTR")
    if answer.status == "OK":
        bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle), READ)
        bed.new_client(uid=OTHER).expect("OK", ops.putfh(handle), READ)


@enforced.case(rfc7530="16.1.4", rfc8881="18.1.3")
def access_says_so(bed):
    handle = _file(bed, *entries(6, 0, 0, _user(READS)))
    granted = bed.new_client(uid=USER).expect("OK", ops.putfh(handle), ops.access(0x3F))[1]
    equal(granted & 0x2D, 1, "ACCESS: read, and neither modify nor extend nor execute")


@enforced.case(rfc7530="16.16.5", rfc8881="18.16.3")
def open_too(bed):
    _file(bed, *entries(6, 0, 0, _user(READS)))
    user = bed.new_client(uid=USER)
    check(user.try_open(bed.dir, "file", access=ops.READING)[0], "OK", "OPEN")
    check(user.try_open(bed.dir, "file", user.owner("writes"), access=ops.WRITING)[0], "ACCESS",
          "OPEN for writing")


@enforced.case()
def making_in_a_directory(bed):
    _needs(bed)
    handle = bed.make("directory", values={attr.MODE: 0o755})
    user = bed.new_client(uid=USER)
    user.expect("ACCESS", ops.putfh(handle), ops.create(ops.DIR, "d"))
    _set(bed, handle, entries(7, 5, 5, _user(READS | WRITES | RUNS | DELETE_CHILD),
                              directory=True))
    user.expect("OK", ops.putfh(handle), ops.create(ops.DIR, "d"))
    user.expect("OK", ops.putfh(handle), ops.remove("d"))


@enforced.case()
def only_the_owner_sets_it(bed):
    handle = _file(bed, *entries(6, 6, 6, _user(READS | WRITES)))
    _set(bed, handle, entries(7, 7, 7), "PERM ACCESS", bed.new_client(uid=USER))


@enforced.case()
def the_owner_sets_it(bed):
    _needs(bed)
    user = bed.new_client(uid=USER)
    opened = user.open(bed.dir, "theirs", how=ops.guarded({attr.MODE: 0o600}))
    _set(bed, opened.handle, entries(6, 0, 0, _user(READS, OTHER)), client=user)
    bed.new_client(uid=OTHER).expect("OK", ops.putfh(opened.handle), READ)


# --- inheritance

def _parent(bed, flags, mask=READS | WRITES | RUNS):
    """A directory whose ACL has an entry with these flags beside those that are the mode."""
    _needs(bed)
    handle = bed.make("directory", "parent")
    inheritable = [ace._replace(flags=ace.flags | flags | INHERIT_ONLY)
                   for ace in entries(7, 5, 0, directory=True)]
    given = [*entries(7, 5, 5, directory=True), *inheritable, _user(mask, flags=flags)]
    if flags != FILE_INHERIT | DIRECTORY_INHERIT:
        # A server whose ACLs are POSIX ACLs has entries for both or for none.
        answer = bed.client.ask(ops.putfh(handle), ops.setattr_({attr.ACL: given}))
        if answer.status in ("ATTRNOTSUPP", "INVAL"):
            raise Skipped("entries are inherited by files and directories alike")
    _set(bed, handle, given)
    return handle


def _below(bed, parent, kind):
    made = bed.make(kind, "child", where=parent)
    return {ace.flags & 0xF for ace in _get(bed, made) if ace.who == str(USER).encode()}, made


@inherited.case()
def by_a_file(bed):
    flags, made = _below(bed, _parent(bed, FILE_INHERIT), "file")
    require(flags, "no entry of the user")
    bed.new_client(uid=USER).expect("OK", ops.putfh(made), READ)


@inherited.case()
def not_by_a_directory_if_it_is_for_files(bed):
    flags, _ = _below(bed, _parent(bed, FILE_INHERIT), "directory")
    require(all(one & INHERIT_ONLY for one in flags), f"flags {flags}: it is in force")


@inherited.case()
def by_a_directory(bed):
    flags, made = _below(bed, _parent(bed, DIRECTORY_INHERIT | FILE_INHERIT), "directory")
    require(any(not one & INHERIT_ONLY for one in flags), f"flags {flags}: not in force")
    require(any(one & DIRECTORY_INHERIT for one in flags), f"flags {flags}: not handed on")
    bed.new_client(uid=USER).expect("OK", ops.putfh(made), ops.readdir())


@inherited.case()
def by_a_grandchild(bed):
    _, made = _below(bed, _parent(bed, DIRECTORY_INHERIT | FILE_INHERIT), "directory")
    flags, file = _below(bed, made, "file")
    require(flags, "no entry of the user")
    bed.new_client(uid=USER).expect("OK", ops.putfh(file), READ)


@inherited.case()
def not_by_what_was_there(bed):
    _needs(bed)
    parent = bed.make("directory", "parent")
    file = bed.file(b"text", where=parent, values={attr.MODE: 0o600})
    _set(bed, parent, [*entries(7, 5, 5, directory=True), _user(READS, flags=FILE_INHERIT)])
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(file), READ)


@inherited.case()
def nothing_of_a_plain_one(bed):
    _needs(bed)
    parent = bed.make("directory", "parent")
    _set(bed, parent, entries(7, 5, 5, _user(READS | RUNS), directory=True))
    flags, _ = _below(bed, parent, "file")
    equal(flags, set(), "entries of the user")
