"""Locks of clients that die, reboot or wait while their VNFS moves."""

import contextlib
import itertools
import subprocess
import sys
import threading

import labs
from kernel_clients import FIRST_ADDRESS, NAMES, Client, boot, finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from, victim
from steps.deadlines import BETWEEN_S, LEASE_S
from steps.lock_holders import WAITING, Holder, check_granted, check_refused, locking_clients
from steps.nlm import LIVES, LIVES_S, OTHER, SEES_IT_S, new_lives, peer
from symlab.service import finish_tool, last_json, wait_for_line
from symlab.wait import SLOWER

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


@lab_test("INV-7", "architecture/locks.md", lab=labs.BACKUPS)
def v4_locks_of_a_dead_client_are_revoked(bench):
    """They outlive a move, and go after two leases when somebody wants them."""
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


@lab_test("INV-7", "architecture/locks.md", lab=labs.BACKUPS)
def v4_locks_of_an_unserved_vnfs_expire(bench):
    """Locks of a VNFS that nobody serves hold for two leases, then others get them."""
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


@lab_test("INV-7", "architecture/locks.md", lab=labs.BACKUPS)
def v4_rebooted_client_has_no_locks(bench):
    """A rebooted client loses what it held before a move, as soon as it is back."""
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


@lab_test("INV-7", "architecture/locks.md", lab=labs.BACKUPS)
def v4_clients_reboot_during_a_move(bench):
    """Locks from before the reboot go, others stay, and the client gets new ones."""
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


@lab_test("INV-7", "architecture/nsm.md", lab=labs.BACKUPS)
def v3_client_reboots_during_a_move(bench):
    """The reboot notice (NLM) meets the move; a kernel client keeps its lock."""
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


@lab_test("INV-7", "architecture/locks.md", lab=labs.BACKUPS)
def v40_blocking_lock_does_not_crash_ganesha(bench):
    """F_SETLKW over v4.0 is granted at a later try, and the instance lives (patch 0002)."""
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
