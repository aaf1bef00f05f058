"""Extended attributes by the operations of RFC 8276: results, limits, refusals."""

import contextlib

from lab_case import check, lab_test
from nfs4_wire import OK
from steps.rpc import from_client
from steps.xattrs import (ACCESS, CREATE, EXIST, INVAL, NAMETOOLONG, NOSPC, NOXATTR, REPLACE, ROFS,
                          TOOSMALL, XATTR2BIG, XattrClient, status_of)
from symlab.service import EXPORT, VIP

VALUE_BYTES, NAMES, ALL_BYTES = 65536, 255, 131072
PAGE_BYTES = 200


@contextlib.contextmanager
def on_file(bench, name):
    with from_client(bench):
        client = XattrClient(VIP, EXPORT, name)
        try:
            yield client
        finally:
            client.close()


def expect(status, what, call, *arguments):
    answered = status_of(call, *arguments)
    check(answered == status, f"{what}: status {answered}, not {status}")


@lab_test("INV-2", "operations/xattrs.md")
def xattr_operations(bench):
    """SETXATTR, GETXATTR, REMOVEXATTR: options, empty and long values, change attributes."""
    with on_file(bench, "xattr-operations") as file:
        expect(NOXATTR, "an attribute that is not there", file.get, "a")
        expect(NOXATTR, "its removal", file.remove, "a")
        expect(NOXATTR, "its replacement", file.set, "a", b"1", REPLACE)
        before = file.change()
        first, second = file.set("a", b"1", CREATE)
        check(first == before and second == file.change() and second > first,
              f"change {before}, then {first} and {second}, now {file.change()}")
        expect(EXIST, "a second creation", file.set, "a", b"2", CREATE)
        expect(INVAL, "an unknown option", file.set, "a", b"2", 7)
        for value in (b"", b"\0\xff\n", b"v" * 1025, b"v" * 9000, b"v" * VALUE_BYTES):
            file.set("a", value)
            check(file.get("a") == value, f"a value of {len(value)} bytes comes back differently")
        first, second = file.remove("a")
        check(second == file.change() > first, "no new change attribute after a removal")
        expect(NOXATTR, "what was removed", file.get, "a")
        expect(INVAL, "no name", file.set, "", b"1")
        expect(INVAL, "a name with a NUL", file.set, "a\0b", b"1")
        expect(OK, "a name of 255 bytes", file.set, "n" * 255, b"1")
        expect(NAMETOOLONG, "a name of 256 bytes", file.set, "n" * 256, b"1")


@lab_test("operations/xattrs.md", "architecture/metadata.md")
def xattr_limits(bench):
    """64 KiB of a value, 255 names, 128 KiB in all: more is refused, what is there stays."""
    with on_file(bench, "xattr-limits") as file:
        expect(XATTR2BIG, "a longer value", file.set, "a", b"v" * (VALUE_BYTES + 1))
        expect(XATTR2BIG, "a much longer value", file.set, "a", b"v" * 500_000)
        file.set("a", b"v" * VALUE_BYTES)
        expect(XATTR2BIG, "too much in all", file.set, "b", b"w" * VALUE_BYTES)
        file.set("b", b"w" * (ALL_BYTES - VALUE_BYTES - 2))
        expect(XATTR2BIG, "one byte more", file.set, "c", b"")
        check(file.names() == [b"a", b"b"], f"names: {file.names()}")
        check(file.get("a") == b"v" * VALUE_BYTES, "a refused change changed something")
        for name in ("a", "b"):
            file.remove(name)
        for n in range(NAMES):
            file.set(f"name{n}", str(n).encode())
        expect(NOSPC, "a 256th name", file.set, "more", b"")
        names = sorted(f"name{n}".encode() for n in range(NAMES))
        check(file.names() == names, "not all names are listed at once")
        check(file.names(PAGE_BYTES) == names, "not all names are listed in pages")
        expect(TOOSMALL, "a list without room", file.page, 0, 20)
        check(all(file.get(f"name{n}") == str(n).encode() for n in range(NAMES)), "other values")


@lab_test("operations/xattrs.md")
def xattr_rights(bench):
    """Mode bits say who may; nothing is changed through a read-only export."""
    with on_file(bench, "xattr-rights") as file:
        file.set("a", b"1")
        file.client.connection.act_as(1000, 1000)  # the mode is 0644 or less, of root
        expect(ACCESS, "a change by another user", file.set, "a", b"2")
        expect(ACCESS, "a removal by another user", file.remove, "a")
        file.client.connection.act_as(0, 0)
        check(file.get("a") == b"1", "another user has changed it")
        bench.symnas("export", "set", EXPORT, "--access", "ro")
        try:
            expect(ROFS, "a change through a read-only export", file.set, "a", b"2")
            expect(ROFS, "a removal through a read-only export", file.remove, "a")
            check(file.get("a") == b"1" and file.names() == [b"a"], "not to be read")
        finally:
            bench.symnas("export", "set", EXPORT, "--access", "rw")
        file.set("a", b"3")
