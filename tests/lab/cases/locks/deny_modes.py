"""Deny modes of NFSv4 opens, within one VNFS and among several."""

import os
import subprocess
import sys

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import EXPIRED_S, heads_from
from steps.deadlines import LEASE_S
from steps.nfs4_locks import LOCKS, SHARE_DENIED, locks
from symlab.service import finish_tool, last_json, wait_for_line

DENY_WRITE = 2
REFUSED = f"refused {SHARE_DENIED}"
# After a move an open that denies something waits until all clients had time to reclaim theirs.
RECLAIMED_S = 2 * LEASE_S + 15.0
RENEWAL_S = LEASE_S / 4
CREATES = os.path.join(os.path.dirname(LOCKS), "nfs4_creates")
CLIENTS, CREATES_EACH = 200, 25
BETWEEN_MOVES_S = 5.0


@lab_test("INV-7", "architecture/shares.md")
def deny_mode_holds_within_one_vnfs(bench):
    """An open that denies writing holds against v4 and v3, also after a restart."""
    file = "denying"
    with locks(bench, file, deny=2) as client, bench.shell() as shell:
        def others_are_out():
            with locks(bench, file, says=f"refused {SHARE_DENIED}"):
                pass
            shell.expect("NFS3ERR_JUKEBOX", "write", file, 0, 4096, "x", "stable")
            shell.expect("NFS3ERR_JUKEBOX", "create", file, 0)
            shell.expect("NFS3_OK", "read", file, 0, 0, "x")
        others_are_out()
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        client.expect("granted", "hold", 0, 10)  # it has claimed what it had open
        client.expect("done", "release", 0, 10)
        shell.expect("NFS3_OK", "reconnect")
        others_are_out()


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


@lab_test("INV-7", "architecture/shares.md", lab=labs.ONE_FILESYSTEM)
def deny_modes_hold_among_vnfss(bench):
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


@lab_test("INV-7", "architecture/shares.md", lab=labs.BACKUPS)
def deny_modes_survive_moves(bench):
    """What an open denies stays denied while its VNFS moves and crashes, and afterwards."""
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


@lab_test("INV-2", "architecture/shares.md", lab=labs.BACKUPS)
def creates_with_deny_modes_have_one_effect(bench):
    """5,000 files are made by opens that deny writing, by 200 clients of two VNFSs, one of which
    moves: no client is told that its file is there already."""
    here, there = bench.services[:2]
    process = bench.lab.popen_in(
        "client", [sys.executable, CREATES, "--url", here.url, "--url", there.url,
                   "--clients", str(CLIENTS), "--creates", str(CREATES_EACH)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_line(process, "running")
    away = False
    while process.poll() is None:
        bench.let_run(BETWEEN_MOVES_S)
        here.rehost(here.home if away else heads_from(here)[0])
        away = not away
    seen = last_json(finish_tool(process, 10.0))
    if away:
        here.rehost(here.home)
    check(seen["made"] == seen["wanted"], f"{seen}")
