"""Operations and attributes of NFSv4 that are optional, or newer than the server."""

from lab_case import check, lab_test
from nfs4_wire import GETATTR, OK, PUTROOTFH, RECLAIM_COMPLETE, opaque, u32, u64
from steps.nfs42_session import Session
from steps.rpc import Cost, from_client

NOT_SUPPORTED = 10004  # NFS4ERR_NOTSUPP
CHANGE = 1 << 3  # an attribute of word 0
NEWER_WORD2 = 0xfff80000  # attributes that came after RFC 8276
GETXATTR = 72  # of RFC 8276
FIRST_CALLS, CALLS = 500, 6000
MEMORY_MAX = 3 << 20  # half of what lost 1 KiB a call
# Number and arguments, which are read before the answer (RFC 8881 and 7862).
OPTIONAL = {
    "BACKCHANNEL_CTL": (40, u32(0, 0)),
    "GET_DIR_DELEGATION": (46, u32(0, 0) + u64(0) + u32(0) + u64(0) + u32(0, 0, 0)),
    "WANT_DELEGATION": (56, u32(0) + u32(4)),
    "COPY": (60, bytes(56)),
    "CLONE": (71, bytes(56)),
}


@lab_test("architecture/ganesha_settings.md")
def optional_operations_are_not_supported(bench):
    """NFSv4.2 operations that are not offered: NOTSUPP (Linux 6.19 gives up with OP_ILLEGAL)."""
    with from_client(bench):
        session = Session()
        session.ask((RECLAIM_COMPLETE, u32(0)))
        for name, (number, arguments) in OPTIONAL.items():
            answered, _ = session.ask((PUTROOTFH, b""), (number, arguments),
                                      (GETATTR, u32(1, CHANGE)))
            check(answered == (number, NOT_SUPPORTED), f"{name} is answered {answered}")
        session.connection.close()


@lab_test("architecture/ganesha_settings.md")
def unknown_attributes_are_left_out(bench):
    """GETATTR of attributes that came after the server: those that it knows are answered."""
    with from_client(bench):
        session = Session()
        for asked in ((CHANGE, 0, NEWER_WORD2), (CHANGE, 0, 0, 1)):
            answered, answer = session.ask((PUTROOTFH, b""),
                                           (GETATTR, u32(len(asked), *asked)))
            check(answered == (GETATTR, OK), f"GETATTR is answered {answered}")
            check([answer.u32() for _ in range(answer.u32())][0] == CHANGE, "no change attribute")
        session.connection.close()


@lab_test("architecture/ganesha_settings.md")
def refused_getxattr_leaves_no_memory(bench):
    """6,000 GETXATTR of the root of NFSv4, which has none: NOTSUPP, and no memory is lost."""
    def ask(times):
        for _ in range(times):
            answered, _ = session.ask((PUTROOTFH, b""), (GETXATTR, opaque("user.name")))
            check(answered == (GETXATTR, NOT_SUPPORTED), f"GETXATTR is answered {answered}")

    with from_client(bench):
        session = Session()
        ask(FIRST_CALLS)
        cost = Cost(bench)
        ask(CALLS)
        session.connection.close()
    check(cost.memory_bytes < MEMORY_MAX, f"{cost.memory_bytes} bytes more")
