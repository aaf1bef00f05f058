"""The pseudo file system above the exports, and calls that promise more than they have."""

import nfs4_attributes as attr
import nfs4_ops as ops
from nfs4_wire import Gone, opaque, u32
from registry import Subject, check, equal, require
from rpc_wire import Rejected

pseudo = Subject("pseudo", rfc7530="7.3", rfc8881="7.3")
undecodable = Subject("undecodable", rfc7530="13.1.1.1", rfc8881="15.1.1.1")

READ_ONLY = "ROFS ACCESS PERM INVAL ISDIR EXIST NOENT XDEV NOTEMPTY"


def _open(bed, how):
    return bed.client.open_operation(bed.client.owner(), ops.claim_null("file"), how=how)


def _first(bed):
    """The export's first component, which is in the root."""
    return bed.options.export.strip("/").split("/")[0] or "export"


# What changes something, in the root.
CHANGES = {
    "create": lambda bed: [ops.create(ops.DIR, "new")],
    "open_create": lambda bed: [_open(bed, ops.unchecked())],
    "remove": lambda bed: [ops.remove(_first(bed))],
    "remove_what_is_not_there": lambda bed: [ops.remove("nothing")],
    "rename": lambda bed: [ops.savefh(), ops.rename(_first(bed), "new")],
    "setattr": lambda bed: [ops.setattr_({attr.MODE: 0o700})],
    "link": lambda bed: [ops.savefh(), ops.link("new")]}

for _name, _operations in CHANGES.items():
    def _refused(bed, operations=_operations):
        bed.expect(READ_ONLY, ops.putrootfh(), *operations(bed))
        bed.expect("OK", ops.putrootfh(), ops.lookup(_first(bed)))
    pseudo.add(f"no_{_name}", _refused)

# What is not for directories, on the root.
for _name, _operation in [
        ("read", lambda bed: ops.read(ops.ANONYMOUS)),
        ("write", lambda bed: ops.write(ops.ANONYMOUS, b"x")), ("commit", lambda bed: ops.commit()),
        ("lockt", lambda bed: ops.lockt(ops.READ_LT, 0, 1, bed.client.client_id, "l")),
        ("readlink", lambda bed: ops.readlink()),
        ("close", lambda bed: ops.close(ops.ANONYMOUS)),
        ("open_downgrade", lambda bed: ops.open_downgrade(ops.ANONYMOUS, 1))]:
    pseudo.add(f"is_no_file_for_{_name}", lambda bed, operation=_operation: bed.expect(
        "ISDIR INVAL WRONG_TYPE BAD_STATEID ROFS ACCESS", ops.putrootfh(), operation(bed)))
for _name, _operation in [("allocate", ops.allocate(ops.ANONYMOUS, 0, 1)),
                          ("deallocate", ops.deallocate(ops.ANONYMOUS, 0, 1)),
                          ("seek", ops.seek(ops.ANONYMOUS, 0, 0)),
                          ("read_plus", ops.read_plus(ops.ANONYMOUS)),
                          ("io_advise", ops.io_advise(ops.ANONYMOUS))]:
    pseudo.add(f"is_no_file_for_{_name}", lambda bed, operation=_operation: bed.expect(
        "ISDIR WRONG_TYPE NOTSUPP ROFS ACCESS BAD_STATEID", ops.putrootfh(), operation),
        rfc7862="11.2")
for _name, _operation in [("getxattr", ops.getxattr("n")), ("setxattr", ops.setxattr("n", b"v")),
                          ("listxattrs", ops.listxattrs()), ("removexattr", ops.removexattr("n"))]:
    pseudo.add(f"has_no_xattrs_for_{_name}", lambda bed, operation=_operation: bed.expect(
        "NOTSUPP NOXATTR ROFS ACCESS PERM OK", ops.putrootfh(), operation), rfc8276="8.4")


@pseudo.case()
def attributes(bed):
    wanted = (attr.TYPE, attr.FSID, attr.FILEID, attr.MODE, attr.SIZE, attr.NUMLINKS, attr.CHANGE,
              attr.TIME_MODIFY, attr.LEASE_TIME)
    found = bed.expect("OK", ops.putrootfh(), ops.getattr_(*wanted))
    equal(set(wanted) - set(found), set(), "what is missing")


@pseudo.case(rfc7530="7.8", rfc8881="7.8")
def access(bed):
    supported, granted = bed.expect("OK", ops.putrootfh(), ops.access(0x3F))
    require(granted & 3 == 3, f"ACCESS of the root is {granted:#x} of {supported:#x}")


@pseudo.case(rfc7530="7.7", rfc8881="7.7")
def the_way_down_and_up_again(bed):
    names = [part for part in bed.options.export.split("/") if part]
    handles = [bed.values(ops.putrootfh(), ops.getfh())[1]]
    for name in names:
        handles.append(bed.values(ops.putfh(handles[-1]), ops.lookup(name), ops.getfh())[2])
    for below, above in zip(reversed(handles[1:]), reversed(handles[:-1]), strict=True):
        equal(bed.values(ops.putfh(below), ops.lookupp(), ops.getfh())[2], above, "LOOKUPP's")


# --- counts beyond what is there

HUGE = 0x7FFFFFFF
for _name, _operation in [
        ("bitmap", (ops.GETATTR, u32(HUGE) + u32(1))),
        ("bitmap_of_1000_words", (ops.GETATTR, u32(1000) + u32(*[0] * 1000))),
        ("name", (ops.LOOKUP, u32(HUGE) + b"name")),
        ("handle", (ops.PUTFH, u32(HUGE) + bytes(64))),
        ("data", (ops.WRITE, ops.ANONYMOUS + bytes(8) + u32(2, HUGE) + b"data")),
        ("attributes", (ops.SETATTR, ops.ANONYMOUS + u32(1, 16) + u32(HUGE) + bytes(8))),
        ("symlink", (ops.CREATE, u32(ops.LNK, HUGE) + b"text")),
        ("acl", (ops.SETATTR, ops.ANONYMOUS + attr.bitmap([attr.ACL]) + opaque(
            u32(HUGE) + u32(0, 0, 0) + opaque(b"OWNER@")))),
        ("acl_without_entries", (ops.SETATTR, ops.ANONYMOUS + attr.bitmap([attr.ACL]) + opaque(
            u32(1000))))]:
    def _huge(bed, operation=_operation):
        handle = bed.file()
        try:
            said = bed.client.ask(ops.putfh(handle), operation).status
        except Rejected as rejected:
            said = str(rejected)
        except Gone:
            said = "no answer"
        wanted = "BADXDR GARBAGE_ARGS INVAL RESOURCE NAMETOOLONG BADHANDLE ATTRNOTSUPP"
        check(said, wanted + (" OK" if operation[0] == ops.GETATTR else ""), "the call")
        bed.new_client().expect("OK", ops.putfh(handle))
    undecodable.add(_name, _huge)

for _name, _operation in [
        ("stateids", (ops.TEST_STATEID, u32(HUGE) + bytes(16))),
        ("client_owner", (ops.EXCHANGE_ID, bytes(8) + u32(HUGE) + b"owner")),
        ("callback_security", (ops.BACKCHANNEL_CTL, u32(1, HUGE)))]:
    undecodable.add(_name, lambda bed, operation=_operation: bed.client.undecodable(
        operation, also="RESOURCE NOTSUPP"), rfc8881="15.1.1.1")
for _name, _operation in [("value_of_an_xattr", (ops.SETXATTR, u32(0) + opaque(b"n") + u32(HUGE))),
                          ("name_of_an_xattr", (ops.GETXATTR, u32(HUGE) + b"n"))]:
    undecodable.add(_name, lambda bed, operation=_operation: bed.client.undecodable(
        ops.putfh(bed.file()), operation, also="RESOURCE NOTSUPP XATTR2BIG NAMETOOLONG"),
        rfc8276="8.4")


@undecodable.case()
def a_call_cut_off_in_its_header(bed):
    """Nothing can be answered; the server must go on."""
    bed.client.connection.send_record(u32(77, 0, 2, 100003)[:14])
    bed.new_client().expect("OK", ops.putfh(bed.dir))


@undecodable.case()
def a_record_of_no_bytes(bed):
    bed.client.connection.send_record(b"")
    bed.new_client().expect("OK", ops.putfh(bed.dir))


@undecodable.case()
def a_record_that_is_never_complete(bed):
    bed.client.connection.socket.sendall(u32(0x7FFFFFFF) + b"some of it")
    bed.new_client().expect("OK", ops.putfh(bed.dir))
