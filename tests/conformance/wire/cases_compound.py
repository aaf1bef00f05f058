"""COMPOUND: its form, minor versions, operations that are none, what may stand where."""

import nfs4_attributes as attr
import nfs4_ops as ops
from nfs4_wire import opaque, u32, u64
from registry import Subject, check, equal, require
from rpc_wire import AUTH_NONE, Rejected

compound = Subject("compound", rfc7530="15.2.4", rfc8881="16.2.3")
rpc = Subject("rpc", rfc5531="9")


def _said(bed, *operations, **how):
    """The status of a compound without SEQUENCE, or how the call was rejected."""
    try:
        return bed.client.raw(*operations, **how)
    except Rejected as rejected:
        return str(rejected)


@compound.case()
def of_nothing(bed):
    answer = bed.client.raw()
    equal((answer.status, answer.results), ("OK", []), "an empty COMPOUND")


for _name, _tag in [("empty", b""), ("of_text", b"a tag"), ("of_512_bytes", b"t" * 512),
                    ("not_utf8", b"\xff\xfe"), ("with_nul", b"a\0b")]:
    def _tagged(bed, tag=_tag):
        answer = bed.client.ask(ops.putrootfh(), tag=tag)
        check(answer.status, "OK INVAL" if tag[:1] == b"\xff" else "OK", "COMPOUND")
        equal(answer.tag, tag, "the tag that comes back")
    compound.add(f"tag_{_name}", _tagged)


@compound.case()
def tag_comes_back_with_an_error(bed):
    answer = bed.client.ask(ops.getfh(), tag=b"wrong")
    equal((answer.status, answer.tag), ("NOFILEHANDLE", b"wrong"), "the answer")


@compound.case()
def it_ends_at_the_first_error(bed):
    answer = bed.client.ask(ops.putfh(bed.dir), ops.lookup("none"), ops.create(ops.DIR, "new"))
    equal((answer.status, len(answer.results)), ("NOENT", 2), "status and number of results")
    equal(bed.names(), [], "what is there")


@compound.case()
def what_was_done_before_an_error_stays(bed):
    bed.client.ask(ops.putfh(bed.dir), ops.create(ops.DIR, "new"), ops.lookup("none"))
    equal(bed.names(), [b"new"], "what is there")


@compound.case(rfc7530="15.2.4", rfc8881="2.10.6.4")
def of_very_many_operations(bed):
    try:
        said = bed.client.ask(*[ops.putrootfh()] * 3000).status
    except Rejected as rejected:
        said = str(rejected)
    check(said, "OK RESOURCE TOO_MANY_OPS GARBAGE_ARGS REQ_TOO_BIG REP_TOO_BIG", "COMPOUND")


@compound.case()
def with_fewer_operations_than_it_says(bed):
    before = [bed.client.sequence()] if bed.minor else []
    said = _said(bed, *before, ops.putrootfh(), count=5)
    require(said == "GARBAGE_ARGS" or getattr(said, "status", "") == "BADXDR",
            f"answered {said}, expected GARBAGE_ARGS or BADXDR")


# --- minor versions

minors = Subject("minor", rfc7530="15.2.4", rfc8881="16.2.3")


def _minor(number):
    def body(bed):
        answer = bed.client.connection.compound(number, ops.putrootfh(), tag=b"minor")
        equal((answer.status, answer.results), ("MINOR_VERS_MISMATCH", []), "the answer")
    return body


for _number in (3, 7, 0xFFFFFFFF):
    minors.add(f"that_is_none_{_number}", _minor(_number))


# --- operations that are none

illegal = Subject("illegal", rfc7530="16.38", rfc8881="18.52.3")


def _illegal(number):
    def body(bed):
        before = [bed.client.sequence()] if bed.minor else []
        answer = bed.client.raw(*before, ops.putrootfh(), (number, b""))
        last = answer.results[-1]
        equal((answer.status, last.op, last.status), ("OP_ILLEGAL", ops.ILLEGAL, "OP_ILLEGAL"),
              "the last result")
    return body


for _number in (0, 1, 2, 77, 1000, 10044, 0xFFFFFFFF):
    illegal.add(f"operation_{_number}", _illegal(_number))

# What is none in an earlier version, with arguments that are right in the later one.
LATER = [ops.backchannel_ctl(), ops.sequence(bytes(16), 1), ops.exchange_id(b"owner", bytes(8)),
         ops.reclaim_complete(), ops.destroy_clientid(1)]
IN_42 = [ops.allocate(ops.ANONYMOUS, 0, 1), ops.seek(ops.ANONYMOUS, 0, 0),
         ops.read_plus(ops.ANONYMOUS), ops.getxattr("name"), ops.removexattr("name")]


def _only_later(operation):
    def body(bed):
        handle = bed.file()
        before = [bed.client.sequence()] if bed.minor else []
        answer = bed.client.raw(*before, ops.putfh(handle), operation)
        equal((answer.status, answer.results[-1].op), ("OP_ILLEGAL", ops.ILLEGAL),
              "status and operation")
    return body


for _operation in LATER + IN_42:
    illegal.add(f"v40_has_no_{ops.NAMES[_operation[0]].lower()}", _only_later(_operation),
                rfc7530="16.38")
for _operation in IN_42:
    illegal.add(f"v41_has_no_{ops.NAMES[_operation[0]].lower()}", _only_later(_operation),
                v41only="18.52.3")

# What v4.1 took away.
gone = Subject("gone", rfc8881="17")
for _name, _operation in [
        ("setclientid", ops.setclientid(bytes(8), b"owner")),
        ("setclientid_confirm", ops.setclientid_confirm(1, bytes(8))), ("renew", ops.renew(1)),
        ("open_confirm", ops.open_confirm(ops.ANONYMOUS, 1))]:
    gone.add(_name, lambda bed, operation=_operation: bed.expect(
        "NOTSUPP", ops.putfh(bed.dir), operation))

# --- optional operations: refused by name, not as illegal

optional = Subject("optional", rfc8881="17")


def _refused(operation, wanted):
    return lambda bed: bed.expect(wanted, ops.putfh(bed.file()), operation)


for _name, _operation, _wanted in [
        ("get_dir_delegation", (ops.GET_DIR_DELEGATION, u32(0) + attr.bitmap([]) + bytes(24)
                                + attr.bitmap([]) + attr.bitmap([])),
         "NOTSUPP OK NOTDIR DIRDELEG_UNAVAIL"),
        ("want_delegation", (ops.WANT_DELEGATION, u32(0x100) + u32(4)), "NOTSUPP OK"),
        ("getdeviceinfo", (ops.GETDEVICEINFO, bytes(16) + u32(1, 4096) + attr.bitmap([])),
         "NOTSUPP NOENT INVAL UNKNOWN_LAYOUTTYPE"),
        ("getdevicelist", (ops.GETDEVICELIST, u32(1, 10) + bytes(16)),
         "NOTSUPP INVAL UNKNOWN_LAYOUTTYPE"),
        ("layoutget", (ops.LAYOUTGET, u32(0) + u32(1, 1) + bytes(24) + ops.ANONYMOUS + u32(4096)),
         "NOTSUPP LAYOUTUNAVAILABLE UNKNOWN_LAYOUTTYPE BAD_STATEID INVAL"),
        ("layoutreturn", (ops.LAYOUTRETURN, u32(0, 1, 1, 1) + bytes(16) + ops.ANONYMOUS + u32(0)),
         "NOTSUPP BAD_STATEID INVAL UNKNOWN_LAYOUTTYPE"),
        ("set_ssv", (ops.SET_SSV, opaque(b"ssv") + opaque(b"digest")), "NOTSUPP INVAL"),
        ("openattr", ops.openattr(), "NOTSUPP"),
        ("delegreturn", (ops.DELEGRETURN, b"\0\0\0\1" + b"\7" * 12), "BAD_STATEID NOTSUPP"),
        ("delegpurge", (ops.DELEGPURGE, bytes(8)), "NOTSUPP OK")]:
    optional.add(_name, _refused(_operation, _wanted))


@optional.case(rfc7530="16.17.4")
def openattr(bed):
    bed.expect("NOTSUPP", ops.putfh(bed.file()), ops.openattr(True))


@optional.case(rfc7530="16.5.4")
def delegpurge(bed):
    bed.expect("NOTSUPP OK", (ops.DELEGPURGE, u64(bed.client.client_id)))


@optional.case(rfc7530="16.6.4")
def delegreturn(bed):
    bed.expect("BAD_STATEID STALE_STATEID NOTSUPP", ops.putfh(bed.file()),
               (ops.DELEGRETURN, b"\0\0\0\1" + b"\7" * 12))


# --- SECINFO

secinfo = Subject("secinfo", rfc7530="16.31.4", rfc8881="18.29.3")
AUTH_SYS = 1


@secinfo.case()
def of_a_name(bed):
    bed.file()
    flavours = bed.expect("OK", ops.putfh(bed.dir), ops.secinfo("file"))
    require(AUTH_SYS in flavours, f"SECINFO answers {flavours}, without AUTH_SYS")


@secinfo.case()
def of_what_is_not_there(bed):
    bed.expect("NOENT", ops.putfh(bed.dir), ops.secinfo("nothing"))


@secinfo.case(rfc8881="18.29.3")
def it_takes_the_handle(bed):
    bed.file()
    bed.expect("NOFILEHANDLE", ops.putfh(bed.dir), ops.secinfo("file"), ops.getfh())


for _name, _style in (("current", 0), ("parent", 1)):
    def _no_name(bed, style=_style):
        flavours = bed.expect("OK", ops.putfh(bed.make("directory")), ops.secinfo_no_name(style))
        require(AUTH_SYS in flavours, f"SECINFO_NO_NAME answers {flavours}, without AUTH_SYS")
    secinfo.add(f"no_name_{_name}", _no_name, rfc8881="18.45.3")


@secinfo.case(rfc8881="18.45.3")
def no_name_takes_the_handle(bed):
    bed.expect("NOFILEHANDLE", ops.putfh(bed.dir), ops.secinfo_no_name(), ops.getfh())


@secinfo.case(rfc8881="18.45.3")
def no_name_parent_of_the_root(bed):
    bed.expect("NOENT", ops.putrootfh(), ops.secinfo_no_name(1))


@secinfo.case(rfc8881="18.45.3")
def no_name_parent_of_a_file(bed):
    bed.expect("NOTDIR", ops.putfh(bed.file()), ops.secinfo_no_name(1))


# --- VERIFY and NVERIFY

verify = Subject("verify", rfc7530="16.35.4", rfc8881="18.31.3")
nverify = Subject("nverify", rfc7530="16.15.4", rfc8881="18.15.3")


@verify.case()
def the_same(bed):
    bed.expect("OK", ops.putfh(bed.dir), ops.verify({attr.TYPE: ops.DIR}), ops.getfh())


@verify.case()
def another(bed):
    bed.expect("NOT_SAME", ops.putfh(bed.dir), ops.verify({attr.TYPE: ops.REG}))


@verify.case()
def several_of_which_one_differs(bed):
    bed.expect("NOT_SAME", ops.putfh(bed.file(b"text")), ops.verify(
        {attr.TYPE: ops.REG, attr.SIZE: 5}))


@nverify.case()
def what_is_the_same(bed):
    bed.expect("SAME", ops.putfh(bed.dir), ops.nverify({attr.TYPE: ops.DIR}))


@nverify.case()
def what_is_another(bed):
    bed.expect("OK", ops.putfh(bed.dir), ops.nverify({attr.TYPE: ops.REG}), ops.getfh())


for _subject, _make in ((verify, ops.verify), (nverify, ops.nverify)):
    _subject.add("of_what_is_only_set", lambda bed, make=_make: bed.expect(
        "INVAL", ops.putfh(bed.file()), make({attr.TIME_MODIFY_SET: attr.SET_BY_SERVER})))
    _subject.add("of_rdattr_error", lambda bed, make=_make: bed.expect(
        "INVAL", ops.putfh(bed.file()), make({attr.RDATTR_ERROR: 0})))
    _subject.add("of_what_nobody_knows", lambda bed, make=_make: bed.expect(
        "ATTRNOTSUPP", ops.putfh(bed.file()),
        (make({})[0], attr.bitmap([95]) + opaque(u32(1)))))
    _subject.add("of_a_value_cut_short", lambda bed, make=_make: bed.client.undecodable(
        ops.putfh(bed.file()), (make({})[0], attr.bitmap([attr.SIZE]) + opaque(u32(1))),
        also="INVAL"))


# --- RPC

@rpc.case()
def null(bed):
    bed.client.connection.null()


def _rejected(program, version, procedure, wanted):
    def body(bed):
        try:
            bed.client.connection.call(program, version, procedure, b"")
            said = "OK"
        except Rejected as rejected:
            said = str(rejected)
        check(said, wanted, "the call")
    return body


rpc.add("a_procedure_that_is_none", _rejected(100003, 4, 2, "PROC_UNAVAIL"))
rpc.add("a_version_that_is_none", _rejected(100003, 9, 0, "PROG_MISMATCH"))
rpc.add("a_program_that_is_none", _rejected(399999, 1, 0, "PROG_UNAVAIL"))


@rpc.case()
def compound_without_arguments(bed):
    _rejected(100003, 4, 1, "GARBAGE_ARGS")(bed)


@rpc.case()
def another_version_of_rpc(bed):
    connection = bed.client.connection
    try:
        connection.answer_to(connection.send(100003, 4, 0, b"", rpc_version=3))
        said = "OK"
    except Rejected as rejected:
        said = str(rejected)
    check(said, "RPC_MISMATCH", "the call")


@rpc.case()
def a_call_in_pieces(bed):
    """A record of several fragments (RFC 5531 section 11)."""
    connection = bed.client.connection
    connection.xid += 1
    call = u32(connection.xid, 0, 2, 100003, 4, 0) + connection.credential + AUTH_NONE
    pieces = [call[at:at + 12] for at in range(0, len(call), 12)]
    for at, piece in enumerate(pieces):
        last = 0x80000000 if at == len(pieces) - 1 else 0
        connection.socket.sendall(u32(last | len(piece)) + piece)
    connection.answer_to(connection.xid)


@secinfo.case(rfc7530="3.2.1", rfc8881="2.2.1.1")
def no_credential_for_what_is_exported_by_auth_sys(bed):
    handle = bed.file(b"text")
    bed.client.connection.credential = AUTH_NONE
    try:
        said = bed.client.ask(ops.putfh(handle), ops.read(ops.ANONYMOUS)).status
    except Rejected as rejected:
        said = str(rejected)
    check(said, "WRONGSEC ACCESS AUTH_ERROR WRONG_CRED", "READ")
