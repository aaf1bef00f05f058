"""Locks of NFSv3 kernel clients are held through moves, crashes and take-over."""

import labs
from kernel_clients import finish, output_of
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, heads_from, owner, victim
from steps.deadlines import BETWEEN_S, TAKEN_OVER_S
from steps.lock_holders import (GRANTED_S, REBOOT, SEES_IT_S, WAITING, Holder, check_granted,
                                check_refused, locking_clients)


@lab_test("INV-7", "architecture/nsm.md", lab=labs.BACKUPS)
def nlm_lock_is_held_through_moves(bench):
    """A lock outlives moves, a kill -9 and a take-over; others are refused until it is released."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        elsewhere = other.mount("v41", bench.services[0], "vers=4.1")
        holder = Holder(one, folder)
        seconds = (beside, elsewhere)
        for head in heads_from(service):
            check_refused(other, seconds, f"before the move to {head}")
            service.rehost(head)
            check_refused(other, seconds, f"after the move to {head}")
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


@lab_test("INV-7", "architecture/nsm.md", lab=labs.BACKUPS)
def nlm_unlock_without_reclaim(bench):
    """A client that knows nothing of the move unlocks: the recorded lock is gone."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        holder = Holder(one, folder)
        service.rehost(heads_from(service)[0])
        bench.let_run(BETWEEN_S)
        check_refused(other, (beside,), "after the move")
        holder.release()
        check_granted(other, beside, "after the unlock")
        service.rehost(service.home)


@lab_test("INV-7", "architecture/nsm.md", lab=labs.BACKUPS)
def nlm_waiter_is_granted(bench):
    """A waiter gets its lock when it is free, in this VNFS or another, also after a move."""
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


@lab_test("INV-7", "architecture/nsm.md", lab=labs.BACKUPS)
def nlm_reboot_releases_locks(bench):
    """A client's reboot notice releases its locks, also those from before a move."""
    service = victim(bench)
    with locking_clients(bench, "nlm") as ((one, other), (folder, beside)):
        for to in (None, heads_from(service)[0]):
            one.run(f"rm -f {folder}/go")
            holder = Holder(one, folder)
            if to:
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
