"""Deny modes of NFSv4 opens, among clients of several VNFSs of one filesystem."""

import subprocess
import sys

from lab_case import check, eventually, lab_test

from .i_shared import HEADS
from .m_moves import heads_from
from .p_held_locks import EXPIRED_S, LOCKS, SHARE_DENIED, locks
from .p_locks import LEASE_S

DENY_WRITE = 2
REFUSED = f"refused {SHARE_DENIED}"
# After a move an open that denies something waits until all clients had time to reclaim theirs.
RECLAIMED_S = 2 * LEASE_S + 15.0
RENEWAL_S = LEASE_S / 4


def try_open(bench, service, file, deny):
    """What an open is answered; it is waited for as long as the server says "try later"."""
    process = bench.lab.popen_in(
        "client", [sys.executable, LOCKS, "--url", service.url, "--file", file,
                   "--deny", str(deny)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        return process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@lab_test(luns="fuse", heads=HEADS, shared=True)
def deny_modes_hold_through_other_vnfses(bench):
    """An open that denies writing meets those of other VNFSs, and they meet it, also after its VNFS
    has crashed and moved."""
    file = "denied"
    here, there = bench.services[:2]
    with locks(bench, file, service=there):
        told = try_open(bench, here, file, DENY_WRITE)
        check(told == REFUSED, f"beside a writer of another VNFS: {told}")
    # Its lease runs out: nobody has it open then.
    eventually(EXPIRED_S, "nobody else has the file open",
               lambda: try_open(bench, here, file, DENY_WRITE) == "ready")
    eventually(EXPIRED_S, "nor this one", lambda: try_open(bench, there, file, 0) == "ready")
    eventually(EXPIRED_S, "nor that one",
               lambda: try_open(bench, here, file, DENY_WRITE) == "ready")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def deny_modes_survive_moves(bench):
    """What an open denies it denies to others while its VNFS moves, and crashes, and after that."""
    file = "kept"
    here, there = bench.services[:2]
    with locks(bench, file, service=here, deny=DENY_WRITE) as holder, \
            bench.shell(there) as shell:
        def others_are_out(when):
            told = try_open(bench, there, file, 0)
            check(told == REFUSED, f"{when} an open of another VNFS's client is answered {told}")
            shell.expect("NFS3ERR_JUKEBOX", "write", file, 0, 4096, "x", "stable")
            shell.expect("NFS3_OK", "read", file, 0, 0, "x")

        others_are_out("at first")
        here.rehost(heads_from(here)[0])
        others_are_out("after a move")
        holder.expect("granted", "hold", 0, 10)
        others_are_out("when its client has come back")
        bench.kill_recorded(here.serving())
        others_are_out("while its instance is away")
        holder.expect("done", "release", 0, 10)
        others_are_out("after a crash")
        here.rehost(here.home)
        for _ in range(int(RECLAIMED_S / RENEWAL_S)):  # its lease must not run out
            holder.expect("granted", "hold", 0, 10)
            holder.expect("done", "release", 0, 10)
            bench.let_run(RENEWAL_S)
        others_are_out("when everybody could have come back")
    eventually(EXPIRED_S, "its lease runs out",
               lambda: try_open(bench, there, file, 0) == "ready")
