"""Quotas: DQUOT of what uses space or makes an object, and that a refusal changes nothing.

Each case acts as a user of its own, who owns nothing yet and has LIMIT_BYTES (softly SOFT_BYTES),
LIMIT_INODES and much time above the soft limit: `run --limited`. What is used is told by what
fits: the rest to the last block, and not one more.
"""

import itertools

import nfs3_calls as v3
import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import EXTRA, KINDS, USER
from registry import Failed, Subject, check, equal, require

BLOCK = 4096
STEP = 64 << 10
LIMIT_BYTES = 1 << 20
SOFT_BYTES = LIMIT_BYTES // 2
LIMIT_INODES = 4

# What RFC 1813 and the others say of DQUOT, for all operations.
DQUOT = {"rfc7530": "13.1.4.2", "rfc8881": "15.1.4.2", "rfc1813": "2.6"}
DQUOT4 = {name: DQUOT[name] for name in ("rfc7530", "rfc8881")}
DQUOT3 = {"rfc1813": DQUOT["rfc1813"]}

quota = Subject("quota", **DQUOT)


def _limited_user(bed):
    """One who has used nothing yet."""
    uid = next(bed.options.limited, None)
    if uid is None:
        raise Failed("no user is left: --limited has to name more than there are cases")
    return uid


class Caller4:
    """What a case does over NFSv4. Each function returns a status; `handles`: by name."""

    def __init__(self, bed):
        self.bed = bed
        self.handles = {}
        self.owners = itertools.count(1)  # in v4.0 a name that comes again has its old sequence
        self.uid = _limited_user(bed)
        self.user, self.root, self.other = (
            bed.new_client(uid=uid) for uid in (self.uid, 0, USER))

    def _on(self, who, handle, *operations):
        return who.ask(ops.putfh(handle), *operations).status

    def create(self, name, who=None):
        who = who or self.user
        status, opened, _ = who.try_open(self.bed.dir, name, who.owner(f"{next(self.owners)}"),
                                         how=ops.guarded({attr.MODE: 0o666}))
        if opened:
            who.close(opened)
            self.handles[name] = opened.handle
        return status

    def make(self, kind, name):
        if kind == "file":
            return self.create(name)
        values = {} if kind == "symlink" else {attr.MODE: 0o777}
        return self._on(self.user, self.bed.dir,
                        ops.create(KINDS[kind], name, values, EXTRA.get(kind, b"")))

    def write(self, name, text, offset=0, stable=ops.FILE_SYNC, who=None):
        return self._on(who or self.user, self.handles[name],
                        ops.write(ops.ANONYMOUS, text, offset, stable))

    def commit(self, name):
        return self._on(self.user, self.handles[name], ops.commit())

    def resize(self, name, size):
        return self._on(self.user, self.handles[name], ops.setattr_({attr.SIZE: size}))

    def chown(self, name, uid):
        return self._on(self.root, self.handles[name],
                        ops.setattr_({attr.OWNER: str(uid).encode()}))

    def remove(self, name):
        return self._on(self.user, self.bed.dir, ops.remove(name))

    def size_and_used(self, name):
        found = self.bed.attributes(self.handles[name], attr.SIZE, attr.SPACE_USED)
        return found[attr.SIZE], found[attr.SPACE_USED]

    def read(self, name, offset, count):
        return self.bed.expect("OK", ops.putfh(self.handles[name]),
                               ops.read(ops.ANONYMOUS, offset, count))[1]


class Caller3:
    """The same over NFSv3."""

    def __init__(self, bed):
        self.bed = bed
        self.handles = {}
        self.uid = _limited_user(bed)
        self.user, self.root, self.other = (bed.connect(uid) for uid in (self.uid, 0, USER))

    def create(self, name, who=None):
        answer = (who or self.user).create(self.bed.dir, name, v3.GUARDED, mode=0o666)
        if answer.status == "OK":
            self.handles[name] = answer.value or self.bed.ok(
                self.bed.nfs.lookup(self.bed.dir, name), "LOOKUP").value
        return answer.status

    def make(self, kind, name):
        if kind == "file":
            return self.create(name)
        if kind == "directory":
            return self.user.mkdir(self.bed.dir, name, mode=0o777).status
        if kind == "symlink":
            return self.user.symlink(self.bed.dir, name, "target").status
        return self.user.mknod(self.bed.dir, name, KINDS[kind], (7, 1), mode=0o666).status

    def write(self, name, text, offset=0, stable=v3.FILE_SYNC, who=None):
        return (who or self.user).write(self.handles[name], text, offset, stable).status

    def commit(self, name):
        return self.user.commit(self.handles[name]).status

    def resize(self, name, size):
        return self.user.setattr(self.handles[name], size=size).status

    def chown(self, name, uid):
        return self.root.setattr(self.handles[name], uid=uid).status

    def remove(self, name):
        return self.user.remove(self.bed.dir, name).status

    def size_and_used(self, name):
        found = self.bed.attributes(self.handles[name])
        return found.size, found.used

    def read(self, name, offset, count):
        return self.bed.ok(self.bed.nfs.read(self.handles[name], offset, count), "READ").value[2]


def _caller(bed):
    return Caller4(bed) if hasattr(bed, "minor") else Caller3(bed)


def _ok(status, what):
    check(status, "OK", what)


def _refused(status, what):
    check(status, "DQUOT", what)


def _fill(caller, name, start, end, stable=ops.FILE_SYNC, **how):
    """Writes these bytes in steps."""
    for at in range(start, end, STEP):
        _ok(caller.write(name, b"x" * min(STEP, end - at), at, stable, **how), f"WRITE at {at}")


def _full(bed, rest=0):
    """A caller whose file `full` leaves `rest` bytes of the limit."""
    caller = _caller(bed)
    _ok(caller.create("full"), "creation")
    _fill(caller, "full", 0, LIMIT_BYTES - rest)
    return caller


def _rest_is(caller, name, rest):
    """That just this much more fits behind the end of the file."""
    at, _ = caller.size_and_used(name)
    _refused(caller.write(name, b"r" * (rest + BLOCK), at), f"WRITE of {rest} bytes and a block")
    if rest:
        _ok(caller.write(name, b"r" * rest, at), f"WRITE of the {rest} bytes that are left")
        _refused(caller.write(name, b"r" * BLOCK, at + rest), "WRITE of another block")


# --- data

for _name, _stable in (("file_sync", ops.FILE_SYNC), ("data_sync", ops.DATA_SYNC),
                       ("unstable", ops.UNSTABLE)):
    def _write(bed, stable=_stable):
        caller = _full(bed, STEP)
        before = caller.size_and_used("full")
        _refused(caller.write("full", b"y" * 2 * STEP, before[0], stable), "WRITE")
        _ok(caller.commit("full"), "COMMIT")
        equal(caller.size_and_used("full"), before, "size and used after the refusal")
        equal(caller.read("full", before[0] - 8, 16), b"x" * 8, "what is at the end")
        _rest_is(caller, "full", STEP)
    quota.add(f"write_{_name}", _write)


@quota.case()
def unstable_writes_up_to_the_limit(bed):
    """What was answered OK is there after COMMIT: nothing is refused too late."""
    caller = _caller(bed)
    _ok(caller.create("full"), "creation")
    _fill(caller, "full", 0, LIMIT_BYTES, ops.UNSTABLE)
    _refused(caller.write("full", b"y" * BLOCK, LIMIT_BYTES, ops.UNSTABLE), "WRITE")
    _ok(caller.commit("full"), "COMMIT")
    equal(caller.size_and_used("full"), (LIMIT_BYTES, LIMIT_BYTES), "size and used")
    equal(caller.read("full", LIMIT_BYTES - 8, 16), b"x" * 8, "what is at the end")
    _rest_is(caller, "full", 0)


@quota.case()
def in_place_at_the_limit(bed):
    caller = _full(bed)
    for at, stable in ((0, ops.FILE_SYNC), (STEP, ops.UNSTABLE), (STEP // 2, ops.FILE_SYNC)):
        _ok(caller.write("full", b"y" * STEP, at, stable), f"WRITE at {at}")
    _ok(caller.commit("full"), "COMMIT")
    equal(caller.read("full", STEP, STEP), b"y" * STEP, "what is there")
    _rest_is(caller, "full", 0)


@quota.case()
def a_hole_at_the_limit(bed):
    caller = _full(bed)
    _ok(caller.create("holes"), "creation")
    _ok(caller.resize("holes", 8 * LIMIT_BYTES), "SETATTR of the size")
    _refused(caller.write("holes", b"y" * BLOCK, LIMIT_BYTES), "WRITE into a hole")
    equal(caller.size_and_used("holes"), (8 * LIMIT_BYTES, 0), "size and used")
    equal(caller.read("holes", LIMIT_BYTES, BLOCK), bytes(BLOCK), "what is there")


@quota.case()
def a_larger_size_uses_nothing(bed):
    caller = _full(bed, STEP)
    _ok(caller.resize("full", 8 * LIMIT_BYTES), "SETATTR of the size")
    equal(caller.size_and_used("full"), (8 * LIMIT_BYTES, LIMIT_BYTES - STEP), "size and used")
    _rest_is(caller, "full", STEP)


@quota.case()
def a_smaller_size_makes_room(bed):
    caller = _full(bed)
    _ok(caller.resize("full", LIMIT_BYTES - 2 * STEP), "SETATTR of the size")
    _rest_is(caller, "full", 2 * STEP)


@quota.case()
def a_removal_makes_room(bed):
    caller = _full(bed)
    _ok(caller.create("next"), "creation")
    _refused(caller.write("next", b"y" * BLOCK), "WRITE")
    _ok(caller.remove("full"), "REMOVE")
    _fill(caller, "next", 0, LIMIT_BYTES)
    _rest_is(caller, "next", 0)


@quota.case()
def a_soft_limit_within_its_grace(bed):
    caller = _full(bed, LIMIT_BYTES - SOFT_BYTES)
    _fill(caller, "full", SOFT_BYTES, LIMIT_BYTES)
    _rest_is(caller, "full", 0)


@quota.case()
def another_user_is_not_concerned(bed):
    caller = _full(bed)
    _ok(caller.create("others", caller.other), "creation")
    _fill(caller, "others", 0, 2 * LIMIT_BYTES, who=caller.other)
    _rest_is(caller, "full", 0)


@quota.case()
def another_user_uses_the_owners(bed):
    """What counts is whose the file is, not who writes."""
    caller = _full(bed)
    _refused(caller.write("full", b"y" * BLOCK, LIMIT_BYTES, who=caller.other), "WRITE")
    _rest_is(caller, "full", 0)


@quota.case()
def root_is_exempt(bed):
    """What root writes into a user's file counts nevertheless."""
    caller = _full(bed)
    _ok(caller.write("full", b"y" * BLOCK, LIMIT_BYTES, who=caller.root), "WRITE by root")
    _ok(caller.resize("full", LIMIT_BYTES), "SETATTR of the size")
    _rest_is(caller, "full", 0)


# --- objects

def _inodes_full(bed):
    """A caller with LIMIT_INODES files, called 0, 1, ..."""
    caller = _caller(bed)
    for number in range(LIMIT_INODES):
        _ok(caller.create(str(number)), f"creation of file {number}")
    return caller


for _kind in KINDS:
    # Block and character devices are made by root only.
    if _kind not in ("block", "char"):
        def _make(bed, kind=_kind):
            caller = _inodes_full(bed)
            names = sorted(bed.names())
            _refused(caller.make(kind, "new"), f"making a {kind}")
            equal(sorted(bed.names()), names, "names")
            _ok(caller.remove("0"), "REMOVE")
            _ok(caller.make(kind, "new"), f"making a {kind} in the room of another")
            _refused(caller.make(kind, "more"), f"making another {kind}")
        quota.add(f"make_{_kind}", _make)


@quota.case()
def an_object_that_was_removed(bed):
    """Making and removing again and again uses nothing up."""
    caller = _caller(bed)
    for kind in ("fifo", "symlink", "file") * LIMIT_INODES:
        _ok(caller.make(kind, "new"), f"making a {kind}")
        _ok(caller.remove("new"), "REMOVE")
    for number in range(LIMIT_INODES):
        _ok(caller.create(str(number)), f"creation of file {number}")
    _refused(caller.create("more"), "creation of one more")


@quota.case()
def root_makes_objects_nevertheless(bed):
    caller = _inodes_full(bed)
    _ok(caller.create("roots", caller.root), "creation by root")
    _ok(caller.chown("roots", caller.uid), "SETATTR of the owner by root")
    _refused(caller.create("more"), "creation")
    _ok(caller.remove("0"), "REMOVE")
    _refused(caller.create("more"), "creation at the limit, which root has passed")


@quota.case()
def another_user_makes_objects(bed):
    caller = _inodes_full(bed)
    _ok(caller.create("others", caller.other), "creation")
    _refused(caller.create("more"), "creation")


@quota.case()
def chown_by_root_is_not_limited(bed):
    """A file counts for its new owner from then on, and no longer for the one before."""
    caller = _full(bed)
    _ok(caller.create("given", caller.root), "creation")
    _fill(caller, "given", 0, STEP, who=caller.root)
    _ok(caller.chown("given", caller.uid), "SETATTR of the owner")
    _ok(caller.resize("full", LIMIT_BYTES - STEP), "SETATTR of the size")
    _rest_is(caller, "full", 0)
    _ok(caller.chown("full", USER), "SETATTR of the owner")
    _fill(caller, "given", STEP, LIMIT_BYTES)
    _rest_is(caller, "given", 0)


# --- NFSv4

@quota.case(**DQUOT4)
def open_of_what_is_there(bed):
    """OPEN with CREATE, unchecked, makes nothing if the file is there."""
    caller = _inodes_full(bed)
    status, opened, _ = caller.user.try_open(bed.dir, "0", caller.user.owner("opens"),
                                             how=ops.unchecked({}))
    _ok(status, "OPEN")
    caller.user.close(opened)


@quota.case(**DQUOT4)
def open_exclusively(bed):
    caller = _inodes_full(bed)
    status, _, _ = caller.user.try_open(bed.dir, "new", caller.user.owner("opens"),
                                        how=ops.exclusive(b"verifier"))
    _refused(status, "OPEN")
    require(b"new" not in bed.names(), "the file is there nevertheless")


@quota.case(**DQUOT4)
def through_an_open(bed):
    """WRITE by the stateid of an open, and CLOSE after the refusal."""
    caller = _full(bed)
    opened = caller.user.open(bed.dir, "full", caller.user.owner("opens"))
    caller.user.expect("DQUOT", ops.putfh(opened.handle),
                       ops.write(opened.stateid, b"y" * BLOCK, LIMIT_BYTES))
    caller.user.close(opened)
    equal(caller.size_and_used("full"), (LIMIT_BYTES, LIMIT_BYTES), "size and used")


def _allocate(caller, name, offset, length):
    return caller.user.ask(ops.putfh(caller.handles[name]),
                           ops.allocate(ops.ANONYMOUS, offset, length)).status


@quota.case(rfc7862="15.1.3")
def allocate_behind_the_end(bed):
    caller = _full(bed, STEP)
    before = caller.size_and_used("full")
    _refused(_allocate(caller, "full", before[0], 2 * STEP), "ALLOCATE")
    equal(caller.size_and_used("full"), before, "size and used after the refusal")
    _ok(_allocate(caller, "full", before[0], STEP), "ALLOCATE of what is left")
    equal(caller.size_and_used("full"), (LIMIT_BYTES, LIMIT_BYTES), "size and used")
    _rest_is(caller, "full", 0)


@quota.case(rfc7862="15.1.3")
def allocate_of_what_is_allocated(bed):
    caller = _full(bed)
    _ok(_allocate(caller, "full", 0, LIMIT_BYTES), "ALLOCATE")
    _rest_is(caller, "full", 0)


@quota.case(rfc7862="15.1.3")
def allocate_of_a_hole(bed):
    caller = _full(bed, STEP)
    _ok(caller.resize("full", 4 * LIMIT_BYTES), "SETATTR of the size")
    _refused(_allocate(caller, "full", LIMIT_BYTES, 2 * STEP), "ALLOCATE")
    equal(caller.size_and_used("full"), (4 * LIMIT_BYTES, LIMIT_BYTES - STEP), "size and used")
    _ok(_allocate(caller, "full", LIMIT_BYTES, STEP), "ALLOCATE of what is left")
    _ok(caller.write("full", b"y" * STEP, LIMIT_BYTES), "WRITE of what was allocated")
    _rest_is(caller, "full", 0)


@quota.case(rfc7862="15.4.3")
def deallocate_makes_room(bed):
    caller = _full(bed)
    _ok(caller.user.ask(ops.putfh(caller.handles["full"]),
                        ops.deallocate(ops.ANONYMOUS, 0, 4 * STEP)).status, "DEALLOCATE")
    _rest_is(caller, "full", 4 * STEP)
