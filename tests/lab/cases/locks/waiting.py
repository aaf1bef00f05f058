"""NFSv4.1 locks that are waited for, while their holders come through other VNFSs."""

import labs
from kernel_clients import finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from, history, victim
from steps.lock_holders import GRANTED_S, SECOND, SEES_IT_S, SITTING, WAITING, is_holding
from steps.nfs4_locks import locks

SETTLED_S = 3.0


def hold(client, folder, flag):
    """A process that locks the file as a whole until the flag's file exists."""
    script = SITTING.format(folder=folder, how="locked").replace(" f go ", f" f {flag} ")
    job = client.start(script)
    eventually(SEES_IT_S, f"the holder until {flag} has its lock", lambda: is_holding(job))
    return job


@lab_test("INV-7", "architecture/locks.md", lab=labs.ONE_FILESYSTEM)
def available_lock_is_not_granted_if_another_vnfs_has_it(bench):
    """A waiter is told of a free lock that another VNFS's client takes first (patch 0015)."""
    with kernel_clients(bench, "waiting") as (one, other):
        folder = one.mount("v41", bench.services[0], "vers=4.1")
        one.run(f"mkdir -p {folder}")
        elsewhere = one.mount("beside", bench.services[1], "vers=4.1")
        first = hold(one, folder, "go1")
        waiter = other.start(WAITING.format(folder=other.mount("v41", bench.services[0],
                                                               "vers=4.1")))
        eventually(SEES_IT_S, "the waiter waits", lambda: waits(waiter))
        bench.let_run(SETTLED_S)
        other.vm.pause()
        try:
            one.run(f"touch {folder}/go1")
            finish({"the first holder": first})
            # Others yield for a second to who has waited for longer.
            eventually(GRANTED_S, "the lock is not kept for the paused waiter",
                       lambda: one.run(SECOND.format(folder=elsewhere)) == "granted")
            second = hold(one, elsewhere, "go2")
        finally:
            other.vm.resume()
        bench.let_run(GRANTED_S)
        check(waits(waiter), f"the waiter was granted a lock that is held: {output_of(waiter)}")
        one.run(f"touch {elsewhere}/go2")
        finish({"the second holder": second})
        seen = finish({"the waiter": waiter}, GRANTED_S)
        check("granted" in seen["the waiter"], f"the waiter said {seen}")


@lab_test("INV-7", "architecture/locks.md", lab=labs.ONE_FILESYSTEM)
def refused_lock_is_not_kept_waiting(bench):
    """A waiter that now only tries once keeps nobody else from the lock (patch 0039)."""
    file = "tried"
    here, there = bench.services[:2]
    with locks(bench, file, service=here) as first, locks(bench, file, service=here) as waiter, \
            locks(bench, file, service=there) as elsewhere, \
            locks(bench, file, service=here) as last:
        first.expect("granted", "hold", 0, 10)
        waiter.expect("denied 0 10", "wait", 0, 10)
        first.expect("done", "release", 0, 10)
        eventually(GRANTED_S, "another VNFS has the lock",
                   lambda: elsewhere("hold", 0, 10) == "granted")
        waiter.expect("denied", "hold", 0, 10)
        elsewhere.expect("done", "release", 0, 10)
        last.expect("granted", "hold", 0, 10)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def unanswered_callback_delays_no_move(bench):
    """A waiter that does not answer CB_NOTIFY_LOCK is no request to wait for (patch 0036)."""
    service = victim(bench)
    file = "told"
    with locks(bench, file, service=service) as holder, \
            locks(bench, file, service=service, called_back=True) as waiter:
        holder.expect("granted", "hold", 0, 10)
        waiter.expect("denied 0 10", "wait", 0, 10)
        holder.expect("done", "release", 0, 10)
        waiter.expect("called", "called")
        service.rehost(heads_from(service)[0])
        last = history(bench, service)[-1]
        check(last["error"] == "" and "mounts closed" in [step["name"] for step in last["steps"]],
              f"the instance was killed: {last}")
    service.rehost(service.home)


def waits(job):
    check(job.poll(0.1) is None, f"the waiter ended with {job.status}: {output_of(job)}")
    return "waiting" in output_of(job) and "granted" not in output_of(job)


TURNS = 40  # of each process
PROCESSES = 4  # of each client
TURN_S = 180.0  # for all of them; without notices some of them wait for minutes
# What the client's state manager does about stateids that the server does not know (any more).
WATCH_RECOVERIES = """
cd /sys/kernel/tracing 2>/dev/null && [ -e trace ] || {
  mount -t tracefs none /sys/kernel/tracing && cd /sys/kernel/tracing; }
echo > trace; echo 1 > events/nfs4/nfs4_state_mgr/enable; echo 1 > tracing_on
"""
TAKE_TURNS = """
for process in $(seq {processes}); do guest_file turns {file} {turns} & pids="$pids $!"; done
for pid in $pids; do wait $pid || exit 1; done
"""


@lab_test("INV-7", "architecture/locks.md", lab=labs.ONE_FILESYSTEM)
def waiters_take_turns(bench):
    """NFSv4.1: processes that open, lock, unlock and close one file all get their turns.

    They are told when it is theirs (patch 0046), and no CLOSE takes what an OPEN beside it was
    given (patch 0047): then Linux would have to recover, and would give up locks.
    """
    with kernel_clients(bench, "turns") as clients:
        files = [client.mount("v41", bench.services[0], "vers=4.1") + "/turns"
                 for client in clients]
        clients[0].run(f"head -c 8 /dev/zero > {files[0]}")
        for client in clients:
            client.run(WATCH_RECOVERIES)
        finish({client.vm.name: client.start(TAKE_TURNS.format(
            file=file, processes=PROCESSES, turns=TURNS))
            for client, file in zip(clients, files, strict=True)}, TURN_S)
        count = clients[1].run(f"od -A n -t d8 {files[1]}")
        check(count == str(len(clients) * PROCESSES * TURNS), f"{count} turns were taken")
        for client in clients:
            seen = client.run("grep NOGRACE /sys/kernel/tracing/trace || true")
            check(not seen, f"{client.vm.name} had to recover: {seen}")
