"""ALLOCATE, DEALLOCATE, SEEK, READ_PLUS and mode_umask of NFSv4.2 as bytes (RFC 7862, 8275)."""

import os

from lab_case import check, lab_test
from nfs4_wire import (GETATTR, GETFH, LOOKUP, OK, OPEN, PUTFH, PUTROOTFH, RECLAIM_COMPLETE,
                       SETATTR, WRITE, opaque, u32, u64)
from steps.exports import another_export
from steps.nfs42_session import Session
from steps.rpc import from_client
from symlab.service import EXPORT

ALLOCATE, DEALLOCATE, READ_PLUS, SEEK = 59, 62, 68, 69
DATA, HOLE = 0, 1
(NXIO, INVAL, NO_SPACE, TOO_LARGE, READ_ONLY, A_DIRECTORY, NO_SUCH_UNION, DENIED) = (
    6, 22, 28, 27, 30, 21, 10090, 13)
READ_ONLY_EXPORT = "unchanged"
ANONYMOUS = bytes(16)
MODE_UMASK = 1 << (81 - 64)
MODE, SPACE_USED = 1 << (33 - 32), 1 << (45 - 32)
SIZE = 1 << 4
MIB = 1 << 20


class File:
    """A new file of mode 0666, but for the umask 026, and the calls of this page."""

    def __init__(self, session, name):
        self.session = session
        attributes = u32(3, 0, 0, MODE_UMASK) + opaque(u32(0o666, 0o026))
        export = ((PUTROOTFH, b""), (LOOKUP, opaque(EXPORT)))
        self.expect(OK, *export, (OPEN, u32(0, 3, 0) + u64(session.client) + opaque("owner")
                                  + u32(1, 0) + attributes + u32(0) + opaque(name)))
        answer = self.expect(OK, *export, (LOOKUP, opaque(name)), (GETFH, b""))
        self.handle = answer.opaque()

    def expect(self, status, *operations):
        (number, answered), answer = self.session.ask(*operations)
        check((number, answered) == (operations[-1][0], status),
              f"operation {number} is answered {answered}, not {status}")
        return answer

    def on_it(self, status, number, arguments):
        return self.expect(status, (PUTFH, opaque(self.handle)), (number, arguments))

    def space(self, number, offset, length, status=OK):
        self.on_it(status, number, ANONYMOUS + u64(offset, length))

    def seek(self, offset, what):
        answer = self.on_it(OK, SEEK, ANONYMOUS + u64(offset) + u32(what))
        eof = answer.u32()
        return answer.u64(), eof

    def read_plus(self, offset, count):
        """(eof, what, offset, bytes or the length of a hole)"""
        answer = self.on_it(OK, READ_PLUS, ANONYMOUS + u64(offset) + u32(count))
        eof, segments, what, at = answer.u32(), answer.u32(), answer.u32(), answer.u64()
        check(segments == 1, f"{segments} segments")
        return eof, what, at, answer.opaque() if what == DATA else answer.u64()

    def size_and_space(self):
        answer = self.on_it(OK, GETATTR, u32(2, SIZE, SPACE_USED))
        answer.bitmap()
        answer.u32()
        return answer.u64(), answer.u64()


@lab_test("architecture/ganesha_settings.md")
def space_operations_as_bytes(bench):
    """Sizes, space, holes, ends of file and statuses, with special stateids."""
    with from_client(bench):
        session = Session()
        session.ask((RECLAIM_COMPLETE, u32(0)))
        file = File(session, f"space {os.getpid()}")
        mode = file.on_it(OK, GETATTR, u32(2, 0, MODE))
        mode.bitmap()
        check((mode.u32(), mode.u32()) == (4, 0o640), "umask 026 of mode 0666 is not 0640")
        refused = u32(3, 0, 0, MODE_UMASK)
        file.on_it(INVAL, SETATTR, ANONYMOUS + refused + opaque(u32(0o600, 0)))

        file.space(ALLOCATE, MIB, MIB)
        check(file.size_and_space() == (2 * MIB, MIB), f"allocated: {file.size_and_space()}")
        check(file.read_plus(0, 4096) == (0, HOLE, 0, 4096), "no hole at the front")
        check(file.read_plus(2 * MIB - 8192, 65536) == (1, HOLE, 2 * MIB - 8192, 8192),
              "reserved blocks are no hole")
        unstable = u64(MIB) + u32(0) + opaque(b"x" * 10000)
        file.on_it(OK, WRITE, ANONYMOUS + unstable)
        check(file.seek(0, DATA) == (MIB, 0), f"data at {file.seek(0, DATA)}")
        check(file.seek(MIB + 1, HOLE) == (MIB + 12288, 0), f"hole at {file.seek(MIB, HOLE)}")
        check(file.seek(MIB + 20000, DATA) == (2 * MIB, 1), "data behind the last of it")
        eof, what, at, data = file.read_plus(MIB - 4096, 12288)
        check((eof, what, at) == (0, DATA, MIB - 4096), f"READ_PLUS: {(eof, what, at)}")
        check(data == bytes(4096) + b"x" * 8192, "READ_PLUS gives other bytes")
        eof, what, at, data = file.read_plus(3 * MIB, 100)
        check((eof, what, data) == (1, DATA, b""), "READ_PLUS behind the end")
        file.space(DEALLOCATE, MIB + 100, 8 * MIB)
        check(file.size_and_space() == (2 * MIB, 4096), f"freed: {file.size_and_space()}")
        check(file.read_plus(MIB, 300)[3] == b"x" * 100 + bytes(200), "the edge is not zeros")

        for offset in (2 * MIB, 9 * MIB):
            file.on_it(NXIO, SEEK, ANONYMOUS + u64(offset) + u32(HOLE))
        file.on_it(NO_SUCH_UNION, SEEK, ANONYMOUS + u64(0) + u32(7))
        file.space(ALLOCATE, 0, 1 << 45, NO_SPACE)
        file.space(ALLOCATE, 1 << 63, 1 << 63, TOO_LARGE)
        check(file.size_and_space() == (2 * MIB, 4096), "refused, and changed")
        for number in (ALLOCATE, DEALLOCATE):
            file.expect(A_DIRECTORY, (PUTROOTFH, b""), (LOOKUP, opaque(EXPORT)),
                        (number, ANONYMOUS + u64(0, 4096)))
        session.connection.close()


@lab_test("architecture/ganesha_settings.md")
def space_needs_rights_of_the_export(bench):
    """A read-only export: ALLOCATE and DEALLOCATE are refused, also without an open."""
    name = f"rights {os.getpid()}"
    with from_client(bench), another_export(bench, READ_ONLY_EXPORT, "--access", "ro", "--squash",
                                            "none"):
        session = Session()
        session.ask((RECLAIM_COMPLETE, u32(0)))
        file = File(session, name)
        file.space(ALLOCATE, 0, MIB)
        there = ((PUTROOTFH, b""), (LOOKUP, opaque(READ_ONLY_EXPORT)), (LOOKUP, opaque(name)))
        for number in (ALLOCATE, DEALLOCATE):
            file.expect(READ_ONLY, *there, (number, ANONYMOUS + u64(0, 2 * MIB)))
        file.expect(OK, *there, (SEEK, ANONYMOUS + u64(0) + u32(HOLE)))
        check(file.size_and_space() == (MIB, MIB), "changed through a read-only export")
        file.on_it(OK, SETATTR, ANONYMOUS + u32(2, 0, MODE) + opaque(u32(0o600)))
        session.connection.act_as(4200, 4200)
        for number, what in ((SEEK, u32(HOLE)), (READ_PLUS, b"")):
            arguments = ANONYMOUS + u64(0) + (what or u32(100))
            file.on_it(DENIED, number, arguments)
        session.connection.close()
