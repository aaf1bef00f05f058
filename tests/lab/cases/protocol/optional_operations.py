"""Operations and attributes of NFSv4 that are optional, or newer than the server."""

import os

from lab_case import check, lab_test
from nfs4_wire import (CREATE_SESSION, EXCHANGE_ID, GETATTR, OK, PUTROOTFH, RECLAIM_COMPLETE,
                       SEQUENCE, Connection, opaque, u32, u64)
from steps.rpc import Cost, from_client
from symlab.service import VIP

NOT_SUPPORTED = 10004  # NFS4ERR_NOTSUPP
SEQUENCE_BYTES = 36
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


class Session:
    """One session of NFSv4.2."""

    def __init__(self):
        self.connection = Connection(VIP)
        channel = u32(0, 1 << 20, 1 << 20, 4096, 16, 4, 0)
        answer = self.connection.compound(2, [
            (EXCHANGE_ID, os.urandom(8) + opaque(f"optional {os.getpid()}") + u32(0, 0, 0))])
        check((answer.u32(), answer.u32()) == (EXCHANGE_ID, OK), "EXCHANGE_ID is refused")
        client, sequence = answer.u64(), answer.u32()
        answer = self.connection.compound(2, [
            (CREATE_SESSION, u64(client) + u32(sequence, 0) + channel * 2
             + u32(0x40000000, 1, 0))])
        check((answer.u32(), answer.u32()) == (CREATE_SESSION, OK), "CREATE_SESSION is refused")
        self.session = answer.take(16)
        self.sequence = 0

    def ask(self, *operations):
        """The (operation, status) of the last one that was answered, and what follows."""
        self.sequence += 1
        answer = self.connection.compound(2, [
            (SEQUENCE, self.session + u32(self.sequence, 0, 0, 0)), *operations])
        check((answer.u32(), answer.u32()) == (SEQUENCE, OK), "SEQUENCE is refused")
        answer.take(SEQUENCE_BYTES)
        for number, _ in operations:
            answered = answer.u32(), answer.u32()
            if answered[1] != OK or number == operations[-1][0]:
                return answered, answer
        raise AssertionError("no operation was answered")


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
    """6,000 GETXATTR of NFSv4.2, which is not offered: NOTSUPP, and no memory is lost."""
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
