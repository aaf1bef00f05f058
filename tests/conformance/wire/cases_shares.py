"""Which opens of one file go together: share_access against share_deny."""

import nfs4_ops as ops
from nfs4_attributes import SIZE
from registry import Subject, check, equal

share = Subject("share", rfc7530="9.9", rfc8881="9.7")

NAMES = {0: "none", ops.READING: "read", ops.WRITING: "write", ops.BOTH: "both"}


def collide(access, deny, other_access, other_deny):
    """RFC 8881 9.7: the check of an OPEN beside another."""
    return bool(other_access & deny or other_deny & access)


def _beside(access, deny, make_other):
    """A case: beside one OPEN, all others in turn, by whom make_other(bed, number) says."""
    def body(bed):
        bed.file()
        bed.client.open(bed.dir, "file", bed.client.owner("first"), access=access, deny=deny)
        for other_access in (1, 2, 3):
            for other_deny in (0, 1, 2, 3):
                client, owner = make_other(bed, f"{other_access} {other_deny}")
                wanted = "SHARE_DENIED" if collide(access, deny, other_access, other_deny) else "OK"
                status, opened, _ = client.try_open(bed.dir, "file", owner, access=other_access,
                                                    deny=other_deny)
                check(status, wanted, f"OPEN for {NAMES[other_access]}, denying "
                      f"{NAMES[other_deny]},")
                if opened:
                    client.close(opened)
    return body


def _same_client(bed, name):
    return bed.client, bed.client.owner(name)


def _other_client(bed, name):
    if not hasattr(bed, "other"):
        bed.other = bed.new_client()
    return bed.other, bed.other.owner(name)


for _access in (1, 2, 3):
    for _deny in (0, 1, 2, 3):
        _name = f"{NAMES[_access]}_denying_{NAMES[_deny]}"
        share.add(f"{_name}.another_owner", _beside(_access, _deny, _same_client))
        share.add(f"{_name}.another_client", _beside(_access, _deny, _other_client))


@share.case()
def no_exception_for_the_same_owner(bed):
    opened = bed.open(text=b"", access=ops.BOTH, deny=ops.WRITING)
    check(bed.client.try_open(bed.dir, "file", opened.owner, access=ops.BOTH)[0], "SHARE_DENIED",
          "OPEN")


@share.case()
def they_add_up(bed):
    opened = bed.open(text=b"", access=ops.READING)
    bed.client.open(bed.dir, "file", opened.owner, access=ops.READING, deny=ops.WRITING)
    other = bed.new_client()
    check(other.try_open(bed.dir, "file", access=ops.WRITING)[0], "SHARE_DENIED", "OPEN")
    check(other.try_open(bed.dir, "file", other.owner("reads"), access=ops.READING)[0], "OK",
          "OPEN")


@share.case()
def an_open_that_makes_is_denied_too(bed):
    bed.open(text=b"", access=ops.BOTH, deny=ops.WRITING)
    other = bed.new_client()
    check(other.try_open(bed.dir, "file", access=ops.WRITING, how=ops.unchecked())[0],
          "SHARE_DENIED", "OPEN")


@share.case()
def a_refused_open_leaves_nothing(bed):
    opened = bed.open(text=b"", access=ops.READING, deny=ops.WRITING)
    other = bed.new_client()
    check(other.try_open(bed.dir, "file", access=ops.BOTH, deny=ops.BOTH)[0], "SHARE_DENIED",
          "OPEN")
    bed.client.close(opened)
    check(bed.new_client().try_open(bed.dir, "file", access=ops.BOTH, deny=ops.BOTH)[0], "OK",
          "OPEN")


@share.case()
def a_deny_empties_nothing(bed):
    bed.file(b"text")
    bed.client.open(bed.dir, "file", access=ops.READING, deny=ops.WRITING)
    other = bed.new_client()
    status, _, _ = other.try_open(bed.dir, "file", access=ops.WRITING,
                                  how=ops.unchecked({SIZE: 0}))
    check(status, "SHARE_DENIED", "OPEN")
    handle = bed.values(ops.putfh(bed.dir), ops.lookup("file"), ops.getfh())[2]
    equal(bed.attributes(handle, SIZE), {SIZE: 4}, "size")


@share.case(rfc7530="16.26.4", rfc8881="18.25.3")
def remove_of_a_denied_file(bed):
    bed.open(text=b"", access=ops.READING, deny=ops.BOTH)
    answer = bed.new_client().ask(ops.putfh(bed.dir), ops.remove("file"))
    check(answer.status, "OK FILE_OPEN", "REMOVE")
