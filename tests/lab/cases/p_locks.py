"""Byte-range locks: lives of NFSv3 clients, who may release locks, `symnas lock ls` and `clear`."""

import contextlib
import itertools
import os
import subprocess
import sys
import threading
import time

import nfs_wire
from kernel_clients import FIRST_ADDRESS, NAMES, Client, boot, finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test
from symlab.service import EXPORT, VIP, VNFS, finish_tool, last_json, wait_for_line
from symlab.wait import SLOWER

from .h_heads import victim
from .i_shared import HEADS
from .m_moves import BETWEEN_S, heads_from
from .n_nlm import WAITING, Holder, check_granted, check_refused, locking_clients

LIVES = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_lives")
LIVES_S = 120.0
PEER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "nlm_peer.py")
# Another process of the client: it holds nothing, and is refused what the first one holds.
OTHER = ("--svid", "2")
PEER_S = 60.0
_LIVES = itertools.count(3, 2)
SEES_IT_S = 20.0


def peer(bench, file, what, *options, export=EXPORT, vip=VIP, again=False):
    """One call of an NFSv3 client's lock manager or status monitor; the answer's word. again: as
    often as nobody answers."""
    end = time.monotonic() + PEER_S
    while True:
        process = bench.lab.popen_in("client", [sys.executable, PEER, vip, "/" + export, file,
                                                what, *options],
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output, _ = process.communicate(timeout=PEER_S)
        if process.returncode == 0:
            return output.strip()
        check(again and time.monotonic() < end, f"nlm_peer {what}: {output}")


def expect(wanted, bench, file, what, *options):
    seen = peer(bench, file, what, *options)
    check(seen == wanted, f"{what} {' '.join(options)} of {file}: {seen}, should be {wanted}")


def new_lives(count):
    """Numbers of lives that the client (there is one) lives after all that were given before."""
    return [str(next(_LIVES)) for _ in range(count)]


def locks_of(bench, *filters):
    return bench.symnas.json("lock", "ls", *filters)["locks"]


@lab_test()
def nlm_lives_of_a_client_are_in_order(bench):
    """What is locked anew before a notice is of the new life, and an older notice releases none."""
    first, second, third = new_lives(3)
    file = "lives"
    expect("granted", bench, file, "lock", "--state", first, "--length", "100")
    # Rebooted: the same process number locks a part of it, before the notice is there.
    expect("granted", bench, file, "lock", "--state", second, "--length", "10")
    expect("granted", bench, file, "test", *OTHER, "--start", "50", "--length", "10")
    expect("done", bench, file, "notify", "--state", second)
    expect("denied", bench, file, "test", *OTHER, "--length", "10")
    expect("failed", bench, file, "lock", "--state", first, "--start", "200", "--length", "10")
    expect("done", bench, file, "notify", "--state", first)
    expect("denied", bench, file, "test", *OTHER, "--length", "10")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("done", bench, file, "notify", "--state", second)
    expect("denied", bench, file, "test", *OTHER, "--length", "10")
    expect("done", bench, file, "notify", "--state", third)
    expect("granted", bench, file, "test", *OTHER)


@lab_test()
def nlm_wait_of_a_new_life_outlives_the_notice(bench):
    """Who waits for what its former life waited for goes on waiting when the notice comes."""
    first, second = new_lives(2)
    file = "waiting"
    expect("granted", bench, file, "lock", *OTHER, "--state", second, "--length", "10")
    expect("blocked", bench, file, "lock", "--block", "--state", first, "--length", "100")
    expect("blocked", bench, file, "lock", "--block", "--state", second, "--length", "100")
    expect("done", bench, file, "notify", "--state", second)
    # What is waited for is not given to who comes later.
    late = ("--svid", "3", "--state", second, "--start", "50", "--length", "10")
    expect("denied", bench, file, "lock", *late)
    expect("granted", bench, file, "cancel", "--block", "--length", "100")
    expect("granted", bench, file, "lock", *late)
    # A request of the former life that is late waits for no longer than until it is tried.
    expect("blocked", bench, file, "lock", "--block", "--state", first, "--length", "100")
    expect("failed", bench, "elsewhere", "lock", "--block", "--state", first)
    eventually(SEES_IT_S, "nobody waits", lambda: peer(
        bench, file, "lock", "--svid", "4", "--state", second, "--start", "80", "--length", "1"
    ) == "granted")
    expect("done", bench, file, "free_all")


@lab_test()
def nlm_cancelled_wait_takes_no_lock(bench):
    """A shared lock that was to become an exclusive one stays when nobody waits any more."""
    [first] = new_lives(1)
    file = "upgraded"
    for svid in ("1", "2"):
        expect("granted", bench, file, "lock", "--shared", "--state", first, "--svid", svid)
    expect("blocked", bench, file, "lock", "--block", "--state", first)
    expect("granted", bench, file, "cancel", "--block", "--state", first)
    found = locks_of(bench, "--fs", EXPORT, "--path", f"/{file}")
    check(len(found) == 2, f"recorded: {found}")
    expect("granted", bench, file, "unlock", *OTHER)
    expect("denied", bench, file, "test", *OTHER)
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("denied", bench, file, "test", *OTHER)
    expect("done", bench, file, "free_all")


@lab_test()
def nlm_life_that_is_not_told_is_no_other_life(bench):
    """What was locked without a number stays beside locks with one, and goes with a notice."""
    first, second = new_lives(2)
    file = "numbers"
    expect("granted", bench, file, "lock", "--length", "100")
    expect("granted", bench, file, "lock", "--state", first, "--start", "200", "--length", "10")
    expect("denied", bench, file, "test", *OTHER, "--start", "50", "--length", "10")
    expect("done", bench, file, "notify", "--state", first)
    expect("denied", bench, file, "test", *OTHER, "--start", "50", "--length", "10")
    expect("granted", bench, file, "lock", "--svid", "3", "--start", "300", "--length", "10")
    expect("done", bench, file, "notify", "--state", first)
    expect("granted", bench, file, "test", *OTHER, "--start", "300", "--length", "10")
    expect("denied", bench, file, "test", *OTHER, "--start", "200", "--length", "10")
    expect("done", bench, file, "notify", "--state", second)
    expect("granted", bench, file, "test", *OTHER)


@lab_test()
def nlm_locks_are_released_from_reserved_ports_only(bench):
    """FREE_ALL and SM_NOTIFY of an ordinary user of a client release nothing."""
    first, second = new_lives(2)
    file = "ports"
    expect("granted", bench, file, "lock", "--state", first)
    expect("done", bench, file, "free_all", "--high-port")
    expect("done", bench, file, "notify", "--state", second, "--high-port")
    expect("denied", bench, file, "test", *OTHER)
    expect("done", bench, file, "free_all")
    expect("granted", bench, file, "test", *OTHER)


@lab_test()
def locks_are_listed_and_cleared(bench):
    """`lock ls` shows who holds what, `lock clear` takes it away, in the instance too."""
    [first] = new_lives(1)
    file = "cleared"
    expect("granted", bench, file, "lock", "--state", first, "--start", "10", "--length", "20")
    expect("granted", bench, file, "lock", "--state", first, "--start", "100")
    expect("granted", bench, "kept", "lock", "--state", first, *OTHER)
    found = locks_of(bench, "--fs", EXPORT, "--path", f"/{file}")
    check(len(found) == 1, f"not one owner: {found}")
    seen = found[0]
    check((seen["protocol"], seen["client"], seen["vnfs"], seen["vip"], seen["revocable"]) ==
          ("nlm", "peer", VNFS, VIP, "no") and seen["path"] == f"/{file}" and seen["age_s"] < 600,
          f"shown as {seen}")
    check(seen["ranges"] == [{"start": 10, "length": 20, "type": "write"},
                             {"start": 100, "type": "write"}], f"shown as {seen['ranges']}")
    check(seen["owner"].startswith("1/"), f"the owner is shown as {seen['owner']}")
    bench.refused(2, "lock", "clear", "--yes")
    line = bench.refused(2, "lock", "clear", "--fs", EXPORT, "--path", f"/{file}")
    check("locks of 1 owner would be released" in line and "--yes" in line, line)
    bench.refused(3, "lock", "ls", "--vnfs", "nobody")
    expect("denied", bench, file, "test", *OTHER, "--start", "15", "--length", "1")
    done = bench.symnas("lock", "clear", "--fs", EXPORT, "--path", f"/{file}", "--yes")
    check("locks of 1 owner released" in done, done)
    expect("granted", bench, file, "lock", *OTHER, "--state", first, "--start", "15", "--length",
           "1")
    # The cleared owner: its unlock is none, its lock is asked for anew.
    expect("denied", bench, file, "lock", "--state", first, "--start", "10", "--length", "20")
    expect("granted", bench, file, "unlock")
    expect("granted", bench, file, "lock", "--state", first, "--start", "100")
    check(len(locks_of(bench, "--client", "peer")) == 3, "the other file's lock is not there")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    done = bench.symnas("lock", "clear", "--client", "peer", "--yes")
    check("locks of 3 owners released" in done, done)
    check(locks_of(bench) == [], f"left: {locks_of(bench)}")
    expect("granted", bench, file, "test", "--svid", "3")
    check("nothing to do" in bench.symnas("lock", "clear", "--client", "peer", "--yes"), "not so")


@lab_test()
def locks_of_a_stopped_vnfs_are_cleared(bench):
    """Nobody serves it: its records go at once, and its next instance knows nothing of them."""
    [first] = new_lives(1)
    expect("granted", bench, "stopped", "lock", "--state", first)
    bench.symnas("vnfs", "stop", VNFS)
    try:
        check(len(locks_of(bench, "--vnfs", VNFS)) == 1, "the lock is gone with its instance")
        bench.symnas("lock", "clear", "--vnfs", VNFS, "--yes")
        check(locks_of(bench) == [], "it is still recorded")
    finally:
        bench.symnas("vnfs", "start", VNFS)
    bench.service.wait_serving()
    expect("granted", bench, "stopped", "test", *OTHER)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def locks_of_kernel_clients_are_cleared(bench):
    """NFSv3 and v4.1, before and after a move: the next client gets the lock, the old one not."""
    service = victim(bench)
    with locking_clients(bench, "clear") as ((one, other), (folder, beside)):
        v41 = [client.mount("v41", service, "vers=4.1") for client in (one, other)]
        for mine, others, moves in ((folder, beside, False), (folder, beside, True),
                                    (v41[0], v41[1], False), (v41[0], v41[1], True)):
            one.run(f"rm -f {mine}/go")
            holder = Holder(one, mine)
            check_refused(other, (others,), "while it is held")
            if moves:
                service.rehost(heads_from(service)[0])
                check_refused(other, (others,), "after the move")
            held = locks_of(bench, "--vnfs", service.name)
            check(len(held) == 1, f"shown: {held}")
            check(held[0]["protocol"] == ("nlm" if mine == folder else "nfs4"), f"shown: {held}")
            bench.symnas("lock", "clear", "--vnfs", service.name, "--yes")
            check_granted(other, others, "after it was cleared")
            holder.job.kill()
            eventually(SEES_IT_S, "nothing is held",
                       lambda: locks_of(bench, "--vnfs", service.name) == [])
            if moves:
                service.rehost(service.home)


# --- NFSv4

LEASE_S = 20  # lease_s of vnfsd.toml
# Two leases of service, then some tries.
REVOKED_S = 2 * LEASE_S + 20.0


def switched_off(client):
    """The client's machine is gone; nobody tells the server."""
    client.vm.stop()


def switched_on(bench, client):
    """The same machine in a new life; with the mount that kernel_clients() had made."""
    again = Client(boot(bench, client.vm.name, FIRST_ADDRESS + NAMES.index(client.vm.name)),
                   client.folder)
    again.mount("folder", bench.services[0], "vers=3")
    return again


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def v4_locks_of_a_dead_client_are_revoked(bench):
    """Its locks stand after a move, and go after two leases when somebody wants them."""
    service = victim(bench)
    with kernel_clients(bench, "dead") as (one, other):
        folder = one.mount("v41", service, "vers=4.1")
        beside = other.mount("v41", service, "vers=4.1")
        elsewhere = other.mount("elsewhere", bench.services[0], "vers=4.1")
        Holder(one, folder)
        switched_off(one)
        service.rehost(heads_from(service)[0])
        # Also through another VNFS, which has the owner's instance look.
        check_refused(other, (beside, elsewhere), "after the move")
        bench.let_run(LEASE_S)
        check_refused(other, (elsewhere,), "after one lease")

        def granted():
            return other.run(f"guest_file try {elsewhere}/f") == "granted"
        eventually(REVOKED_S * SLOWER, "the lock is free", granted)
        switched_on(bench, one)
        service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def v4_locks_of_a_vnfs_that_nobody_serves_fall_to_others(bench):
    """Beside other mounts: they stand for two leases, then somebody else gets what he wants."""
    service = victim(bench)
    with kernel_clients(bench, "unserved") as (one, other):
        folder = one.mount("v41", service, "vers=4.1")
        elsewhere = other.mount("elsewhere", bench.services[0], "vers=4.1")
        holder = Holder(one, folder)
        bench.symnas("vnfs", "stop", service.name)
        try:
            check_refused(other, (elsewhere,), "after the stop")
            bench.let_run(LEASE_S)
            check_refused(other, (elsewhere,), "after one lease")

            def granted():
                return other.run(f"guest_file try {elsewhere}/f") == "granted"
            eventually(REVOKED_S * SLOWER, "the lock is free", granted)
        finally:
            bench.symnas("vnfs", "start", service.name)
        service.wait_serving()
        holder.job.kill()


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def v4_client_in_a_new_life_has_no_locks(bench):
    """A client that is booted anew loses what it held before a move, as soon as it is back."""
    service = victim(bench)
    with kernel_clients(bench, "reborn") as (one, other):
        folder = one.mount("v41", service, "vers=4.1")
        beside = other.mount("v41", service, "vers=4.1")
        Holder(one, folder)
        switched_off(one)
        service.rehost(heads_from(service)[0])
        check_refused(other, (beside,), "after the move")
        again = switched_on(bench, one)
        again.mount("v41", service, "vers=4.1")
        check_granted(other, beside, "when its client is back")
        service.rehost(service.home)


BOOT_DELAYS_S = (0.0, 0.15, 0.4)  # into a move, which takes about 0.3 s


@contextlib.contextmanager
def moving_for(bench, service, delay_s):
    """The body begins so long after the order to move the VNFS, which has moved when it is left."""
    moving = threading.Thread(target=service.rehost, args=(heads_from(service)[0],))
    moving.start()
    bench.let_run(delay_s)
    try:
        yield
    finally:
        moving.join()


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def v4_clients_boot_while_their_server_moves(bench):
    """The former life's locks go, nobody else's do, and the new life gets its own."""
    service = victim(bench)
    wanted = {"new life locks a part": True, "others get the rest": True,
              "others get the part": False, "others get what another client holds": False,
              "who stayed has its lock": True, "who stayed had to claim it": True}
    for minor, delay_s in itertools.product("10", BOOT_DELAYS_S):
        process = bench.lab.popen_in(
            "client", [sys.executable, LIVES, "--url", service.url, "--minor", minor,
                       "--file", f"lives{minor}-{delay_s}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for_line(process, "held")
            with moving_for(bench, service, delay_s):
                process.stdin.write("boot\n")
                process.stdin.flush()
                wait_for_line(process, "booted")
            process.stdin.write("look\n")
            process.stdin.flush()
            seen = last_json(finish_tool(process, LIVES_S))
        finally:
            process.kill()
            process.wait()
        check(seen == wanted, f"v4.{minor}, booted {delay_s} s into the move: {seen}")
    if service.head != service.home:
        service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def v3_client_boots_while_its_server_moves(bench):
    """The same with NLM: its notice of the boot meets the move; a kernel client keeps its lock."""
    service = victim(bench)
    with locking_clients(bench, "stays") as ((one, other), (folder, beside)):
        stays = Holder(one, folder)
        for delay_s in BOOT_DELAYS_S:
            former, new = new_lives(2)
            file = f"boots{delay_s}"

            def asked(what, *options, name=file):
                return peer(bench, name, what, *options, vip=service.vip, again=True,
                            export=service.filesystem)

            check(asked("lock", "--state", former, "--length", "1000") == "granted", "not locked")
            with moving_for(bench, service, delay_s):
                check(asked("notify", "--state", new) == "done", "the notice was not taken")
                check(asked("lock", "--state", new, "--length", "10") == "granted",
                      f"booted {delay_s} s into the move: the new life gets no lock")
            seen = {"the rest": asked("test", *OTHER, "--start", "500", "--length", "10"),
                    "the part": asked("test", *OTHER, "--start", "5", "--length", "1")}
            check(seen == {"the rest": "granted", "the part": "denied"},
                  f"booted {delay_s} s into the move: {seen}")
            check_refused(other, (beside,), f"after a boot {delay_s} s into the move")
        stays.release()
        check_granted(other, beside, "after the unlock")
        service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def v40_waiter_does_not_end_the_instance(bench):
    """Who waits with SETLKW in v4.0 is granted at a later try, and the instance lives."""
    service = victim(bench)
    with kernel_clients(bench, "waiters") as (one, other):
        before = service.serving()
        folder = one.mount("v40", service, "vers=4.0")
        beside = other.mount("v40", service, "vers=4.0")
        holder = Holder(one, folder)
        waiter = other.start(WAITING.format(folder=beside))
        eventually(SEES_IT_S, "it waits", lambda: waiter.poll(0.1) is None
                   and "waiting" in output_of(waiter))
        bench.let_run(BETWEEN_S)
        check(waiter.poll() is None, f"it did not wait: {output_of(waiter)}")
        holder.release()
        output = finish({"the waiter": waiter}, REVOKED_S)["the waiter"]
        check(output == "waiting\ngranted", f"the waiter said {output!r}")
        check(service.serving()["pid"] == before["pid"], "the instance has been restarted")
