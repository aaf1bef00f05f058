"""CREATE, LINK, REMOVE, RENAME, ACCESS: what is there afterwards, and what is refused."""

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import KINDS, USER
from nfs4_wire import u32
from registry import Subject, check, equal, require

create = Subject("create", rfc7530="16.4.4", rfc8881="18.4.3")
link = Subject("link", rfc7530="16.9.4", rfc8881="18.9.3")
remove = Subject("remove", rfc7530="16.26.4", rfc8881="18.25.3")
rename = Subject("rename", rfc7530="16.27.4", rfc8881="18.26.3")
access = Subject("access", rfc7530="16.1.4", rfc8881="18.1.3")


def _change_of(bed, handle=None):
    return bed.attributes(handle or bed.dir, attr.CHANGE)[attr.CHANGE]


def _info(bed, change, before, handle=None):
    """change_info4: the value afterwards, and beforehand if it is atomic."""
    equal(change.after, _change_of(bed, handle), "the change afterwards")
    if change.atomic:
        equal(change.before, before, "the change before")


# --- CREATE

for _kind in KINDS:
    if _kind == "file":
        continue
    for _there in ("directory", "file", "symlink"):
        create.add(f"a_{_kind}_where_a_{_there}_is", lambda bed, kind=_kind, there=_there: (
            bed.make(there, "name"), _exists(bed, kind)))


def _exists(bed, kind):
    data = {"symlink": ops.opaque("x"), "block": u32(1, 1), "char": u32(1, 1)}.get(kind, b"")
    bed.expect("EXIST", ops.putfh(bed.dir), ops.create(KINDS[kind], "name", None, data))


@create.case()
def a_regular_file(bed):
    bed.expect("BADTYPE", ops.putfh(bed.dir), ops.create(ops.REG, "file"))


@create.case()
def a_type_that_is_none(bed):
    bed.client.undecodable(ops.putfh(bed.dir), ops.create(77, "file"), also="BADTYPE INVAL")


@create.case()
def change_info(bed):
    before = _change_of(bed)
    answer = bed.values(ops.putfh(bed.dir), ops.create(ops.DIR, "new"))
    _info(bed, answer[1][0], before)


@create.case()
def it_is_the_current_handle(bed):
    handle = bed.values(ops.putfh(bed.dir), ops.create(ops.DIR, "new"), ops.getfh())[2]
    equal(bed.values(ops.putfh(bed.dir), ops.lookup("new"), ops.getfh())[2], handle,
          "the handle that LOOKUP finds")


@create.case()
def attributes_are_set(bed):
    value, handle = bed.values(ops.putfh(bed.dir), ops.create(
        ops.DIR, "new", {attr.MODE: 0o750, attr.OWNER: b"1000"}), ops.getfh())[1:]
    equal(bed.attributes(handle, attr.MODE, attr.OWNER),
          {attr.MODE: 0o750, attr.OWNER: b"1000"}, "the new one's")
    require(attr.MODE in value[1], f"attrset is {value[1]}, without mode")


@create.case(rfc7530="5.5", rfc8881="5.5")
def with_a_read_only_attribute(bed):
    bed.expect("INVAL", ops.putfh(bed.dir), ops.create(ops.DIR, "new", {attr.NUMLINKS: 3}))
    equal(bed.names(), [], "what is there")


@create.case()
def with_an_attribute_nobody_knows(bed):
    number, arguments = ops.create(ops.DIR, "new")
    arguments = arguments[:-8] + attr.bitmap([95]) + ops.opaque(u32(1))
    bed.expect("ATTRNOTSUPP", ops.putfh(bed.dir), (number, arguments))
    equal(bed.names(), [], "what is there")


@create.case()
def where_one_may_not_write(bed):
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o755}))
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(bed.dir), ops.create(ops.DIR, "new"))


@create.case()
def a_device_by_a_user(bed):
    user = bed.new_client(uid=USER)
    user.expect("PERM ACCESS", ops.putfh(bed.dir), ops.create(ops.CHR, "new", None, u32(1, 3)))


@create.case()
def numlinks_of_the_parent(bed):
    before = bed.attributes(bed.dir, attr.NUMLINKS)[attr.NUMLINKS]
    bed.make("directory")
    after = bed.attributes(bed.dir, attr.NUMLINKS)[attr.NUMLINKS]
    require(after in (before, before + 1), f"numlinks went from {before} to {after}")


# --- LINK

def _linking(bed, name="link", to=None):
    return [ops.putfh(bed.file(b"text", "source")), ops.savefh(), ops.putfh(to or bed.dir),
            ops.link(name)]


@link.case()
def both_names_are_one_file(bed):
    bed.expect("OK", *_linking(bed))
    handle = bed.values(ops.putfh(bed.dir), ops.lookup("link"), ops.getfh())[2]
    equal(bed.text(handle), b"text", "what the link has")


@link.case()
def where_a_file_is(bed):
    bed.file(name="link")
    bed.expect("EXIST", *_linking(bed))


@link.case()
def onto_itself(bed):
    bed.expect("EXIST", *_linking(bed, "source"))


@link.case()
def change_info_of_the_directory(bed):
    handle = bed.file(b"text", "source")
    before = _change_of(bed)
    value = bed.values(ops.putfh(handle), ops.savefh(), ops.putfh(bed.dir), ops.link("link"))[3]
    _info(bed, value, before)


@link.case()
def the_current_handle_stays(bed):
    equal(bed.values(*_linking(bed), ops.getfh())[-1], bed.dir, "the current handle")


@link.case()
def of_a_removed_file(bed):
    opened = bed.open(text=b"text")
    bed.expect("OK", ops.putfh(bed.dir), ops.remove("file"))
    answer = bed.client.ask(ops.putfh(opened.handle), ops.savefh(), ops.putfh(bed.dir),
                            ops.link("again"))
    check(answer.status, "STALE NOENT", "LINK")


@link.case()
def into_where_one_may_not_write(bed):
    handle = bed.file(b"text", "source")
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o755}))
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(handle), ops.savefh(), ops.putfh(bed.dir),
                                    ops.link("link"))


@link.case()
def into_another_filesystem(bed):
    handle = bed.file()
    root = bed.values(ops.putrootfh(), ops.getfh())[1]
    if bed.attributes(root, attr.FSID) != bed.attributes(bed.dir, attr.FSID):
        answer = bed.client.ask(ops.putfh(handle), ops.savefh(), ops.putrootfh(), ops.link("l"))
        check(answer.status, "XDEV ROFS ACCESS", "LINK")


# --- REMOVE

@remove.case()
def what_is_not_there(bed):
    bed.expect("NOENT", ops.putfh(bed.dir), ops.remove("nothing"))


@remove.case()
def a_directory_with_something_in_it(bed):
    below = bed.make("directory")
    bed.make("fifo", where=below)
    bed.expect("NOTEMPTY", ops.putfh(bed.dir), ops.remove("directory"))


for _kind in KINDS:
    def _removed(bed, kind=_kind):
        bed.make(kind)
        before = _change_of(bed)
        _info(bed, bed.expect("OK", ops.putfh(bed.dir), ops.remove(kind)), before)
        bed.expect("NOENT", ops.putfh(bed.dir), ops.lookup(kind))
    remove.add(f"a_{_kind}", _removed)


@remove.case()
def from_where_one_may_not_write(bed):
    bed.file()
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o755}))
    bed.new_client(uid=USER).expect("ACCESS", ops.putfh(bed.dir), ops.remove("file"))


@remove.case()
def of_another_one_where_it_is_sticky(bed):
    bed.file()
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o1777}))
    bed.new_client(uid=USER).expect("ACCESS PERM", ops.putfh(bed.dir), ops.remove("file"))


@remove.case()
def the_other_link_stays(bed):
    bed.expect("OK", *_linking(bed))
    bed.expect("OK", ops.putfh(bed.dir), ops.remove("source"))
    handle = bed.values(ops.putfh(bed.dir), ops.lookup("link"), ops.getfh())[2]
    equal(bed.attributes(handle, attr.NUMLINKS), {attr.NUMLINKS: 1}, "numlinks")
    equal(bed.text(handle), b"text", "what it has")


# --- RENAME

def _renaming(bed, old, new, to=None, where=None):
    return [ops.putfh(where or bed.dir), ops.savefh(), ops.putfh(to or bed.dir),
            ops.rename(old, new)]


# What there is, over what, the answer.
OVER = [("file", "file", "OK"), ("file", "symlink", "OK"), ("file", "fifo", "OK"),
        ("file", "directory", "EXIST ISDIR"), ("directory", "file", "EXIST NOTDIR"),
        ("directory", "symlink", "EXIST NOTDIR"), ("directory", "directory", "OK"),
        ("symlink", "file", "OK"), ("symlink", "directory", "EXIST ISDIR"),
        ("fifo", "file", "OK"), ("fifo", "directory", "EXIST ISDIR")]

for _old, _new, _wanted in OVER:
    def _over(bed, old=_old, new=_new, wanted=_wanted):
        made = bed.make(old, "old")
        bed.make(new, "new")
        bed.expect(wanted, *_renaming(bed, "old", "new"))
        if wanted == "OK":
            equal(bed.names(), [b"new"], "what is there")
            equal(bed.values(ops.putfh(bed.dir), ops.lookup("new"), ops.getfh())[2], made,
                  "the handle of the new name")
        else:
            equal(sorted(bed.names()), [b"new", b"old"], "what is there")
    rename.add(f"a_{_old}_over_a_{_new}", _over)


@rename.case()
def over_a_directory_with_something_in_it(bed):
    bed.make("directory", "old")
    bed.make("fifo", where=bed.make("directory", "new"))
    bed.expect("EXIST NOTEMPTY", *_renaming(bed, "old", "new"))


@rename.case()
def of_what_is_not_there(bed):
    bed.expect("NOENT", *_renaming(bed, "old", "new"))


@rename.case()
def onto_its_own_name(bed):
    bed.file(b"text")
    before = _change_of(bed)
    bed.expect("OK", *_renaming(bed, "file", "file"))
    equal(bed.names(), [b"file"], "what is there")
    equal(_change_of(bed), before, "the directory's change")


@rename.case()
def onto_another_link_of_it(bed):
    bed.expect("OK", *_linking(bed))
    bed.expect("OK", *_renaming(bed, "source", "link"))
    require(b"link" in bed.names(), f"what is there: {bed.names()}")


@rename.case()
def a_directory_below_itself(bed):
    below = bed.make("directory")
    deeper = bed.make("directory", where=below)
    for to in (below, deeper):
        bed.expect("INVAL", *_renaming(bed, "directory", "new", to=to))


@rename.case()
def to_another_directory(bed):
    other, file = bed.make("directory"), bed.file(b"text")
    source, target = _change_of(bed), _change_of(bed, other)
    value = bed.values(*_renaming(bed, "file", "new", to=other))[-1]
    _info(bed, value[0], source)
    _info(bed, value[1], target, other)
    equal((bed.names(), bed.names(other)), ([b"directory"], [b"new"]), "what is there")
    equal(bed.text(file), b"text", "what it has")


@rename.case()
def the_current_handle_is_the_target(bed):
    other = bed.make("directory")
    bed.file()
    equal(bed.values(*_renaming(bed, "file", "new", to=other), ops.getfh())[-1], other,
          "the current handle")


@rename.case()
def a_directory_has_another_parent(bed):
    other, moved = bed.make("directory", "other"), bed.make("directory")
    bed.values(*_renaming(bed, "directory", "new", to=other))
    equal(bed.values(ops.putfh(moved), ops.lookupp(), ops.getfh())[2], other, "the parent")


@rename.case()
def what_is_open_stays_open(bed):
    opened = bed.open(text=b"text")
    bed.expect("OK", *_renaming(bed, "file", "new"))
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))
    bed.client.close(opened)


@rename.case()
def over_an_open_file(bed):
    opened = bed.open("new", b"text")
    bed.file(b"other", "old")
    answer = bed.client.ask(*_renaming(bed, "old", "new"))
    check(answer.status, "OK FILE_OPEN", "RENAME")
    equal(bed.expect("OK", ops.putfh(opened.handle), ops.read(opened.stateid))[1], b"text",
          "what is read")


@rename.case()
def to_another_filesystem(bed):
    bed.file()
    root = bed.values(ops.putrootfh(), ops.getfh())[1]
    if bed.attributes(root, attr.FSID) != bed.attributes(bed.dir, attr.FSID):
        bed.expect("XDEV ROFS ACCESS", *_renaming(bed, "file", "new", to=root))


@rename.case()
def within_where_one_may_not_write(bed):
    bed.file()
    bed.expect("OK", ops.putfh(bed.dir), ops.setattr_({attr.MODE: 0o755}))
    bed.new_client(uid=USER).expect("ACCESS", *_renaming(bed, "file", "new"))


# --- ACCESS

READ, LOOKUP, MODIFY, EXTEND, DELETE, EXECUTE = 1, 2, 4, 8, 16, 32
ALL = READ | LOOKUP | MODIFY | EXTEND | DELETE | EXECUTE


@access.case()
def of_root_to_a_directory(bed):
    supported, granted = bed.expect("OK", ops.putfh(bed.dir), ops.access(ALL))
    equal(granted & ~supported, 0, "granted beyond supported")
    equal(granted & (READ | LOOKUP | MODIFY | EXTEND | DELETE),
          READ | LOOKUP | MODIFY | EXTEND | DELETE, "granted")


def _granted(kind, mode, wanted):
    def body(bed):
        handle = bed.make(kind, values={attr.MODE: mode})
        supported, granted = bed.new_client(uid=USER).expect("OK", ops.putfh(handle),
                                                             ops.access(ALL))
        equal(granted & supported & ~DELETE, wanted, "granted")
    return body


for _mode, _wanted in [(0o000, 0), (0o004, READ), (0o002, MODIFY | EXTEND), (0o001, EXECUTE),
                       (0o005, READ | EXECUTE), (0o770, 0), (0o007, READ | MODIFY | EXTEND
                                                           | EXECUTE)]:
    access.add(f"of_others_to_a_file_{_mode:03o}", _granted("file", _mode, _wanted))
for _mode, _wanted in [(0o000, 0), (0o004, READ), (0o001, LOOKUP), (0o005, READ | LOOKUP),
                       (0o007, READ | LOOKUP | MODIFY | EXTEND)]:
    access.add(f"of_others_to_a_directory_{_mode:03o}", _granted("directory", _mode, _wanted))


@access.case()
def to_nothing(bed):
    equal(bed.expect("OK", ops.putfh(bed.dir), ops.access(0)), (0, 0), "supported and granted")


@access.case()
def only_what_is_asked(bed):
    supported, granted = bed.expect("OK", ops.putfh(bed.dir), ops.access(READ))
    equal((supported & ~READ, granted & ~READ), (0, 0), "what was not asked for")


@access.case()
def bits_that_are_none(bed):
    answer = bed.client.ask(ops.putfh(bed.dir), ops.access(0x10000 | READ))
    check(answer.status, "OK INVAL", "ACCESS")
    if answer.status == "OK":
        equal(answer.results[1].value[0] & 0x10000, 0, "a bit that is none, as supported")
