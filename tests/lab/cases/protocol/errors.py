"""What each error becomes for clients: the rows of docs/operations/errors.md."""

import contextlib

import nfs_statuses as statuses
import nfs_wire as wire
from lab_case import check, lab_test
from symlab import netns
from symlab.service import EXPORT, VIP
from uml_client import uml_client

LARGEST = 64 << 40  # bytes of a file
LOCKS_MAX = 1_000   # of one owner in one file
NLM_GRANTED, NLM_DENIED, NLM_NO_LOCKS = 0, 1, 2
NFS4_DENIED = 10010
PERM, NO_ENTRY, ACCESS, NOT_A_DIRECTORY = 1, 2, 13, 20
# Status of NFSv3 and of NFSv4: the same number; and what a Linux client says.
ROWS = {
    "missing": (2, "No such file or directory"),
    "exists": (17, "File exists"),
    "not empty": (66, "Directory not empty"),
    "no directory": (20, "Not a directory"),
    "directory": (21, "Is a directory"),
    "long name": (63, "File name too long"),
    "into itself": (22, "Invalid argument"),
    "too large": (27, "File too large"),
    "forbidden": (13, "Permission denied"),
    "not the owner": (1, "Operation not permitted"),
    "gone": (70, "Stale file handle"),
    "no handle": (10001, None),
    "bad cookie": (10003, None),
}
# In a directory "e" with a directory "d", in which there is one, and a file "f": prepared().
SHELL = {
    "missing": "cat {e}/none",
    "exists": "mkdir {e}/d",
    "not empty": "rmdir {e}/d",
    "no directory": "cat {e}/f/x",
    "directory": "cat {e}/d",
    "long name": "cat {e}/$(printf %0256d 0)",
    "into itself": "mv {e}/d {e}/d/d",
    "too large": "truncate -s 70368744177665 {e}/f",
    "forbidden": "su user -c 'mkdir {e}/x'",
    "not the owner": "su user -c 'chmod 600 {e}/f'",
}


def asked_for(client, v3):
    """{row: status} with a client of nfs_statuses."""
    v3.make(wire.CREATE, "gone")
    gone = client.handle("gone")[1]
    v3.remove(wire.REMOVE, "gone")
    client.root = client.handle("e")[1]
    file = client.handle("f")[1]
    seen = {
        "missing": client.handle("none")[0],
        "exists": client.make(wire.MKDIR, "d")[0],
        "not empty": client.remove(wire.RMDIR, "d"),
        "no directory": client.handle("x", file)[0],
        "directory": client.setattr(client.handle("d")[1], size=0),
        "long name": client.handle("x" * 256)[0],
        "into itself": client.rename("d", "d", client.handle("d")[1]),
        "too large": client.setattr(file, size=LARGEST + 1),
        "gone": client.getattr(gone),
        "no handle": client.getattr(b"\0" * len(file)),
        "bad cookie": client.readdir(client.root, 1 << 63),
    }
    client.act_as(1000)
    seen["forbidden"] = client.make(wire.MKDIR, "x")[0]
    seen["not the owner"] = client.setattr(file, mode=0o600)
    return seen


@contextlib.contextmanager
def prepared(bench):
    """A directory "e" with what the rows need; yields NFSv3, and the handle of the file in it."""
    with netns.entered(bench.lab.client_netns):
        v3 = statuses.V3(VIP, wire.mount(VIP, "/" + EXPORT))
        v3.make(wire.MKDIR, "e")
        directory = v3.handle("e")[1]
        v3.make(wire.MKDIR, "d", directory)
        v3.make(wire.MKDIR, "in", v3.handle("d", directory)[1])
        v3.make(wire.CREATE, "f", directory)
        yield v3, v3.handle("f", directory)[1]


@lab_test("operations/errors.md")
def errors_of_files_and_directories(bench):
    """Each error is the status that the table has for it, in NFSv3, 4.0 and 4.1."""
    with prepared(bench) as (v3, _):
        for name, client in (("v3", statuses.V3(VIP, v3.root)),
                             ("v4.0", statuses.V4(VIP, EXPORT, 0)),
                             ("v4.1", statuses.V4(VIP, EXPORT, 1))):
            for row, status in asked_for(client, v3).items():
                check(status == ROWS[row][0], f"{name}: {row}: {status}, not {ROWS[row][0]}")


@lab_test("operations/errors.md")
def errors_at_a_linux_client(bench):
    """What a person reads there for each error, over NFSv3, 4.0, 4.1 and 4.2."""
    with prepared(bench), uml_client(bench) as client:
        for version, place in client.mount_all().items():
            for row, command in SHELL.items():
                told = client.told(command.format(e=f"{place}/e") + " 2>&1")
                check(told.endswith(ROWS[row][1]), f"{version}: {row}: {told!r}")


@lab_test("operations/errors.md")
def mount_of_what_is_not_there(bench):
    """MNT of what does not exist is NOENT, as in NFSv4; of a file NOTDIR; forbidden is ACCES."""
    with prepared(bench):
        for path, status in ((f"/{EXPORT}", wire.OK), (f"/{EXPORT}/e/d", wire.OK),
                             ("/none", NO_ENTRY), ("/", NO_ENTRY), ("/none/below", NO_ENTRY),
                             (f"/{EXPORT}/none", NO_ENTRY), (f"/{EXPORT}/e/f/x", NOT_A_DIRECTORY),
                             (f"/{EXPORT}/" + "x" * 256, 63)):
            seen, _ = statuses.mnt(VIP, path)
            check(seen == status, f"MNT {path[:40]}: {seen}, not {status}")
    with uml_client(bench) as client:
        for version in ("3", "4.1"):
            told = client.told("mkdir -p /mnt/n; "
                               f"nfsmount -o vers={version} {VIP}:/none /mnt/n 2>&1")
            check("No such file or directory" in told, f"v{version}: {told}")


@lab_test("operations/errors.md", "architecture/locks.md")
def lock_beyond_the_bound_of_an_owner(bench):
    """The 1,001st lock is NLM4_DENIED_NOLOCKS and NFS4ERR_NOSPC, never a fault of the server."""
    with prepared(bench) as (_, file):
        nlm = statuses.Nlm(VIP)
        for number in range(LOCKS_MAX):
            check(nlm.lock(file, 4 * number, 1) == NLM_GRANTED, f"NLM: lock {number}")
        seen = nlm.lock(file, 4 * LOCKS_MAX, 1)
        check(seen == NLM_NO_LOCKS, f"NLM: {seen}")
        nlm.free_all()
        nlm.close()
        client = statuses.V4(VIP, EXPORT, 1)
        client.client.open("many")
        for number in range(LOCKS_MAX):
            check(client.lock(4 * number, 1) == wire.OK, f"v4.1: lock {number}")
        seen = client.lock(4 * LOCKS_MAX, 1)
        check(seen == 28, f"v4.1: {seen}")
        client.client.connection.close()
    with uml_client(bench) as client:
        client.run("guest_statd")
        for version, why in (("v3", "No locks available"), ("v40", "No space left on device"),
                             ("v41", "No space left on device")):
            more = ",lock" if version == "v3" else ""
            place = client.mount_all((version,), more)[version]
            told = client.told(f"guest_file ranges {place}/many.{version} 0 1 {LOCKS_MAX + 1}")
            check(told == f"{LOCKS_MAX + 1}: {why}", f"{version}: {told}")


@lab_test("operations/errors.md", "architecture/locks.md")
def locks_beyond_the_largest_file(bench):
    """A lock may begin or end above 64 TiB, also over NLM, and covers no byte more than it says."""
    with prepared(bench) as (_, file):
        nlm = statuses.Nlm(VIP)
        for start, length, other in ((LARGEST, 1, LARGEST + 1), (1 << 62, 10, 1 << 61),
                                     (0, LARGEST + 10, 1 << 62), ((1 << 63) - 2, 1, 5)):
            check(nlm.lock(file, start, length) == NLM_GRANTED, f"NLM: {start:#x}")
            check(nlm.lock(file, start, 1, svid=2) == NLM_DENIED, f"NLM: {start:#x} is not held")
            check(nlm.lock(file, other, 1, svid=2) == NLM_GRANTED, f"NLM: {other:#x} is held, too")
            for svid in (1, 2):
                check(nlm.unlock(file, 0, 0, svid) == NLM_GRANTED, "NLM: unlock")
        check(nlm.lock(file, (1 << 64) - 2, 5) == 8, "NLM: a range beyond 64 bits is no FBIG")
        nlm.free_all()
        nlm.close()
        one, two = statuses.V4(VIP, EXPORT, 1), statuses.V4(VIP, EXPORT, 1)
        for client in (one, two):
            client.client.open("far")
        check(one.lock(0, LARGEST + 10) == wire.OK, "v4.1: across 64 TiB")
        check(two.lock(5, 1) == NFS4_DENIED, "v4.1: it is not held")
        check(two.lock(1 << 62, 10) == wire.OK, "v4.1: more is held")
        for client in (one, two):
            client.client.connection.close()
    with uml_client(bench) as client:
        client.run("guest_statd")
        for version in ("v3", "v40", "v41"):
            place = client.mount_all((version,), ",lock" if version == "v3" else "")[version]
            told = client.told(f"guest_file ranges {place}/far.{version} {1 << 62} 10 3")
            check(told == "granted", f"{version}: {told}")
