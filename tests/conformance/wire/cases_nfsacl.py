"""NFSACL: POSIX ACLs beside NFSv3 (Linux and Solaris, program 100227 version 3).

There is no RFC. What the ACL means is POSIX 1003.1e draft 17 as acl(5) has it.
"""

import nfs3_calls as v3
from bed3 import USER
from nfs4_wire import Gone, u32
from registry import Skipped, Subject, check, equal, require
from rpc_wire import Rejected

acl = Subject("acl", nfsacl="acl(5)")

ACCESS, ACCESS_COUNT, DEFAULT, DEFAULT_COUNT = 1, 2, 4, 8
OWNER, NAMED_USER, GROUP, NAMED_GROUP, MASK, OTHER = 1, 2, 4, 8, 0x10, 0x20
OF_DEFAULT = 0x1000
READ, WRITE = 4, 2


@acl.case()
def offered(bed):
    try:
        bed.nfs.call(v3.NFSACL, v3.NFSACL_VERSION, 0, b"")
        said = "OK"
    except Rejected as rejected:
        said = str(rejected)
    check(said, "OK", "NULL of NFSACL")


def _needs(bed):
    try:
        bed.nfs.call(v3.NFSACL, v3.NFSACL_VERSION, 0, b"")
    except (Rejected, Gone) as error:
        raise Skipped("NFSACL is not offered") from error


def _three(owner, group, other, of_default=0):
    return [(OWNER | of_default, 0, owner), (GROUP | of_default, 0, group),
            (OTHER | of_default, 0, other)]


def _with_user(owner, group, other, permissions, mask=7, uid=USER, of_default=0):
    return sorted([*_three(owner, group, other, of_default),
                   (NAMED_USER | of_default, uid, permissions), (MASK | of_default, 0, mask)])


def _file(bed, *entries, **how):
    _needs(bed)
    made = bed.file(b"text", **how)
    if entries:
        bed.ok(bed.nfs.setacl(made, ACCESS | ACCESS_COUNT, list(entries)), "SETACL")
    return made


def _get(bed, handle, mask=ACCESS | ACCESS_COUNT):
    return bed.ok(bed.nfs.getacl(handle, mask), "GETACL").value


def _plain(entries):
    """Tags without NFS_ACL_DEFAULT, and ids only of those that have one."""
    return sorted((tag & ~OF_DEFAULT, who if tag & (NAMED_USER | NAMED_GROUP) else 0, permissions)
                  for tag, who, permissions in entries)


@acl.case()
def of_a_file_without_one(bed):
    found = _plain(_get(bed, _file(bed, mode=0o640))[1])
    equal([entry for entry in found if entry[0] != MASK], sorted(_three(6, 4, 0)), "the ACL")


@acl.case()
def what_was_set_is_there(bed):
    wanted = _with_user(6, 4, 0, 4, 4)
    equal(_plain(_get(bed, _file(bed, *wanted))[1]), _plain(wanted), "the ACL")


@acl.case()
def nothing_but_what_is_asked(bed):
    made = _file(bed, *_with_user(6, 4, 0, 4))
    said, access, default = _get(bed, made, ACCESS_COUNT)
    equal((said & (ACCESS | DEFAULT), access, default), (0, [], []), "mask and entries")


@acl.case()
def it_sets_the_mode(bed):
    made = _file(bed, *_three(6, 4, 0))
    equal(oct(bed.attributes(made).mode), oct(0o640), "mode")


@acl.case()
def the_mask_is_the_modes_group(bed):
    made = _file(bed, *_with_user(6, 4, 0, 6, 6))
    equal(oct(bed.attributes(made).mode), oct(0o660), "mode")


@acl.case()
def the_mode_sets_the_mask(bed):
    made = _file(bed, *_with_user(6, 4, 0, 6, 6))
    bed.ok(bed.nfs.setattr(made, mode=0o600), "SETATTR")
    found = _plain(_get(bed, made)[1])
    require((MASK, 0, 0) in found, f"the mask is not empty: {found}")
    check(bed.connect(USER).read(made, 0, 4).status, "ACCESS", "READ")


@acl.case()
def a_user_may_read(bed):
    made = _file(bed, *_with_user(6, 0, 0, 4))
    check(bed.connect(USER).read(made, 0, 4).status, "OK", "READ")
    check(bed.connect(USER).write(made, b"x").status, "ACCESS", "WRITE")
    check(bed.connect(USER + 1).read(made, 0, 4).status, "ACCESS", "READ of another user")


@acl.case()
def the_mask_limits(bed):
    made = _file(bed, *_with_user(6, 0, 0, 6, 4))
    check(bed.connect(USER).write(made, b"x").status, "ACCESS", "WRITE")
    check(bed.connect(USER).read(made, 0, 4).status, "OK", "READ")


@acl.case()
def a_user_entry_goes_before_other(bed):
    made = _file(bed, *_with_user(6, 4, 4, 0))
    check(bed.connect(USER).read(made, 0, 4).status, "ACCESS", "READ")
    check(bed.connect(USER + 1).read(made, 0, 4).status, "OK", "READ of another user")


@acl.case()
def a_group_may_read(bed):
    made = _file(bed, *sorted([*_three(6, 0, 0), (NAMED_GROUP, 2000, 4), (MASK, 0, 4)]))
    check(bed.connect(USER, (2000,)).read(made, 0, 4).status, "OK", "READ")
    check(bed.connect(USER).read(made, 0, 4).status, "ACCESS", "READ of another user")


@acl.case()
def access_says_so(bed):
    made = _file(bed, *_with_user(6, 0, 0, 4))
    equal(bed.connect(USER).access(made, 0x3F).value & 0x2D, 1, "ACCESS")


@acl.case()
def only_its_owner_sets_it(bed):
    made = _file(bed, *_with_user(6, 6, 6, 6))
    check(bed.connect(USER).setacl(made, ACCESS | ACCESS_COUNT, _three(7, 7, 7)).status,
          "PERM ACCESS", "SETACL")


def _directory(bed, default):
    _needs(bed)
    made = bed.make("directory")
    bed.ok(bed.nfs.setacl(made, 0xF, _three(7, 7, 7), default), "SETACL")
    return made


DEFAULTS = _with_user(7, 5, 0, 4, 5, of_default=OF_DEFAULT)


@acl.case()
def a_default_is_there(bed):
    made = _directory(bed, DEFAULTS)
    equal(_plain(_get(bed, made, 0xF)[2]), _plain(DEFAULTS), "the default ACL")


@acl.case()
def a_default_is_inherited_by_a_file(bed):
    made = bed.file(b"text", "child", where=_directory(bed, DEFAULTS), mode=0o666)
    found = _plain(_get(bed, made)[1])
    require((NAMED_USER, USER, 4) in found, f"the user's entry is not there: {found}")
    check(bed.connect(USER).read(made, 0, 4).status, "OK", "READ")


@acl.case()
def a_default_is_handed_on(bed):
    below = bed.make("directory", "below", where=_directory(bed, DEFAULTS))
    equal(_plain(_get(bed, below, 0xF)[2]), _plain(DEFAULTS), "the default ACL below")


@acl.case()
def a_default_is_taken_away(bed):
    made = _directory(bed, DEFAULTS)
    bed.ok(bed.nfs.setacl(made, DEFAULT | DEFAULT_COUNT, [], []), "SETACL")
    equal(_get(bed, made, 0xF)[2], [], "the default ACL")


@acl.case()
def a_default_of_a_file(bed):
    _needs(bed)
    made = bed.file()
    status = bed.nfs.setacl(made, DEFAULT | DEFAULT_COUNT, [], DEFAULTS).status
    check(status, "INVAL ACCESS NOTSUPP NOTDIR", "SETACL")


for _name, _entries in [("without_an_owner", [(GROUP, 0, 4), (OTHER, 0, 4)]),
                        ("with_two_owners", [(OWNER, 0, 6), *_three(6, 4, 4)]),
                        ("without_the_mask_that_it_needs",
                         sorted([*_three(6, 4, 4), (NAMED_USER, USER, 4)])),
                        ("with_a_tag_that_is_none", [*_three(6, 4, 4), (0x80, 0, 4)]),
                        ("with_permissions_that_are_none", [*_three(6, 4, 0o77)])]:
    def _invalid(bed, entries=_entries):
        made = _file(bed)
        before = _get(bed, made)
        try:
            said = bed.nfs.setacl(made, ACCESS | ACCESS_COUNT, entries).status
        except Rejected as rejected:
            said = str(rejected)
        check(said, "INVAL GARBAGE_ARGS", "SETACL")
        equal(_get(bed, made), before, "the ACL afterwards")
    acl.add(_name, _invalid)


@acl.case()
def of_more_entries_than_it_says(bed):
    _needs(bed)
    made = bed.file()
    body = v3.opaque(made) + u32(ACCESS | ACCESS_COUNT, 3, 1000000)
    try:
        said = v3.name_of_v3(bed.nfs.call(v3.NFSACL, v3.NFSACL_VERSION, 2, body).u32())
    except Rejected as rejected:
        said = str(rejected)
    check(said, "INVAL GARBAGE_ARGS", "SETACL")


@acl.case()
def of_a_handle_that_is_none(bed):
    _needs(bed)
    check(bed.nfs.getacl(bytes(32)).status, "BADHANDLE STALE", "GETACL")
