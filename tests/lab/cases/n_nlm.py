"""Locks of NFSv3 kernel clients (NLM): held through moves, crashes and take-over, never stolen."""

import contextlib

from kernel_clients import FIRST_ADDRESS, finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test

from .h_heads import fence_state, victim
from .i_shared import HEADS
from .m_moves import BETWEEN_S, SECOND, SITTING, TAKEN_OVER_S, heads_from, is_holding, owner

LOCKING = "vers=3,lock"
# A waiter is tried each second; after a move it asks again by itself, after 30 s.
GRANTED_S = 45.0
SEES_IT_S = 20.0
WAITING = "guest_file wait {folder}/f"
# As at boot: the number of a new life, told to every monitored server. The kernel, which has not
# booted, does not say again whom it has statd monitor.
REBOOT = """
cp -a /var/lib/nfs/sm /tmp/monitored && sm-notify -f -d && cp -a /tmp/monitored/. /var/lib/nfs/sm/
"""


class Holder:
    """A process of a client that holds a lock until it is told to end."""

    def __init__(self, client, folder):
        client.run(f"mkdir -p {folder}")
        self.client = client
        self.folder = folder
        self.job = client.start(SITTING.format(folder=folder, how="locked"))
        eventually(SEES_IT_S, "the shell holds its lock", lambda: is_holding(self.job))

    def release(self):
        self.client.run(f"touch {self.folder}/go")
        output = finish({"the holder": self.job})["the holder"]
        check(output == f"holding\none two {self.folder}", f"the holder said {output!r}")


@contextlib.contextmanager
def locking_clients(bench, folder):
    """Yields two clients whose NFSv3 mounts lock, and their folder in the victim's VNFS."""
    with kernel_clients(bench, folder) as clients:
        for client in clients:
            client.run("guest_statd")
        yield clients, [client.mount("v3", victim(bench), LOCKING) for client in clients]


def times_told(bench):
    """How often the instances have told the first client of a restart, as their logs say."""
    count = 0
    for path in bench.logs():
        with open(path, encoding="utf-8", errors="replace") as file:
            count += file.read().count(f"NLM client 10.0.0.{FIRST_ADDRESS}: was told")
    return count


def check_refused(client, folders, when):
    for folder in folders:
        seen = client.run(SECOND.format(folder=folder))
        check(seen == "refused", f"{folder}: a lock of another client was {seen} {when}")


def check_granted(client, folder, when):
    def granted():
        return client.run(SECOND.format(folder=folder)) == "granted"
    eventually(SEES_IT_S, f"{folder}: the lock is free {when}", granted)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def nlm_lock_sits_through_moves(bench):
    """A lock outlives every move, a kill -9 and a take-over; others are refused until its end."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        elsewhere = other.mount("v41", bench.services[0], "vers=4.1")
        holder = Holder(one, folder)
        seconds = (beside, elsewhere)
        for head in heads_from(service):
            check_refused(other, seconds, f"before the move to {head}")
            told = times_told(bench)
            service.rehost(head)
            check_refused(other, seconds, f"after the move to {head}")
            eventually(SEES_IT_S, "the holder is told", lambda t=told: times_told(bench) > t)
        before = service.serving()
        bench.kill_recorded(before)
        service.wait_serving(other_than=before["pid"])
        check_refused(other, seconds, "after a kill")
        bench.lab.fence(service.home, "power")
        backup = heads_from(service)[1]
        service.head = eventually(TAKEN_OVER_S, f"{backup} serves {service.name}",
                                  lambda: owner(bench, service) == backup and backup)
        service.wait_serving()
        check_refused(other, seconds, "after a take-over")
        holder.release()
        check_granted(other, beside, "after the unlock")
        bench.lab.unfence(service.home)
        eventually(TAKEN_OVER_S, f"{service.home} is back",
                   lambda: fence_state(bench, service.home) is None)
        service.rehost(service.home)
    bench.lab.wait_members()


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def nlm_unlock_without_reclaim(bench):
    """A client that was not told of the move just unlocks: the recorded lock is gone."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        holder = Holder(one, folder)
        one.run("kill $(cat /run/rpc.statd.pid); rm /run/rpc.statd.pid")
        service.rehost(heads_from(service)[0])
        bench.let_run(BETWEEN_S)
        check_refused(other, (beside,), "after the move")
        holder.release()
        check_granted(other, beside, "after the unlock")
        one.run("guest_statd")
        service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def nlm_waiter_is_granted(bench):
    """Who waits for a lock gets it when it is free, of this VNFS or another, also after a move."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        elsewhere = one.mount("v41", bench.services[0], "vers=4.1")
        for held_in, moves in ((folder, False), (elsewhere, False), (folder, True)):
            one.run(f"rm -f {folder}/go")
            holder = Holder(one, held_in)
            waiter = other.start(WAITING.format(folder=beside))
            eventually(SEES_IT_S, "it waits", lambda w=waiter: w.poll(0.1) is None
                       and "waiting" in output_of(w))
            if moves:
                service.rehost(heads_from(service)[0])
            bench.let_run(BETWEEN_S)
            check(waiter.poll() is None, f"it did not wait: {output_of(waiter)}")
            holder.release()
            output = finish({"the waiter": waiter}, GRANTED_S)["the waiter"]
            check(output == "waiting\ngranted", f"the waiter said {output!r}")
        service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def nlm_reboot_releases(bench):
    """A client's notice of its reboot releases its locks, also those of before a move."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        for to in (None, heads_from(service)[0]):
            one.run(f"rm -f {folder}/go")
            holder = Holder(one, folder)
            if to:
                # Not told of the move, so it is the new instance that knows nothing of it.
                one.run("kill $(cat /run/rpc.statd.pid); rm /run/rpc.statd.pid")
                service.rehost(to)
            check_refused(other, (beside,), "before the reboot")
            # Nobody's but its own: the other client has monitored the server, too.
            other.run(REBOOT)
            check_refused(other, (beside,), "after another client's reboot")
            one.run(REBOOT)
            check_granted(other, beside, "after the reboot")
            holder.job.kill()
            one.run("guest_statd")
        service.rehost(service.home)
