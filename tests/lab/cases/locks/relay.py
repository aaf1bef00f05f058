"""Clients take turns with F_SETLKW, while their server moves and dies, or by several servers."""

import re

import labs
from kernel_clients import finish
from lab_case import check, lab_test
from steps.cluster import heads_from, victim
from steps.lock_holders import locking_clients

MOUNTS = {"v3": "vers=3,lock", "v41": "vers=4.1"}
MOVES = 5
CRASHES = 3
HOLD_MS = 100
BEFORE_S = 3.0  # all take turns
AFTER_S = 5.0
ENDS_S = 90.0
MORE_MS = 1000.0  # than the server is away
NOTED_MS = 50  # of a gap in reads and writes
PAUSE_US = 20_000
# The lock, the number of turns in it, and beside it how long reads and writes wait.
RELAY = """
guest_gaps {noted} {pause} /tmp/stop-{name} {folder}/gaps-{host} >/tmp/gaps-{name} &
guest_file relay {folder}/relay-{name} {hold} /tmp/stop-{name} || exit 1
wait $! || exit 1
cut -d' ' -f4 /tmp/gaps-{name} | sort -n | tail -1
"""
TURNS = "guest_file relay {folder}/relay-both {hold} /tmp/stop-both"
TOGETHER_S = 10.0
SAID = re.compile(r"(\d+) turns, longest wait (\d+) ms\n?(\S*)$")


def run_relay(bench, clients, folders, event):
    """{version: ([longest wait in ms of each client], longest gap in ms, turns)}"""
    for client in clients:
        client.run("rm -f /tmp/stop-*")
    jobs = {}
    for name, paths in folders.items():
        for client, folder in zip(clients, paths, strict=True):
            jobs[name, client.vm.name] = client.start(RELAY.format(
                name=name, host=f"{name}-{client.vm.name}", folder=folder, hold=HOLD_MS,
                noted=NOTED_MS, pause=PAUSE_US))
    bench.let_run(BEFORE_S)
    event()
    bench.let_run(AFTER_S)
    for client in clients:
        client.run(" ".join(["touch"] + [f"/tmp/stop-{name}" for name in folders]))
    said = finish(jobs, ENDS_S)
    seen = {}
    for name in folders:
        found = [SAID.search(said[name, client.vm.name]) for client in clients]
        check(all(found), f"{name}: the clients said {said}")
        seen[name] = ([float(one[2]) for one in found],
                      max(float(one[3] or 0) for one in found), sum(int(one[1]) for one in found))
    return seen


def judge(what, seen, faults):
    """Each mount has connections of its own (NFSv3 one more, for locks), and each of them comes
    back when it does: the server was away for as long as any of them was."""
    away = max(gap for _, gap, _ in seen.values())
    for name, (waits, gap, turns) in seen.items():
        print(f"     {what}: {name}: waited {waits} ms, gap {gap} ms, {turns} turns", flush=True)
        if max(waits) > away + MORE_MS + HOLD_MS:
            faults.append(f"{what}: {name} waited {waits} ms, the server was away {away} ms")


@lab_test("INV-7", "architecture/locks.md", lab=labs.BACKUPS, soak=True)
def waiters_wait_as_long_as_the_server_is_away(bench):
    """NFSv3 and v4.1: who waits for a lock is known to the next instance of the VNFS."""
    service = victim(bench)
    faults = []
    total = dict.fromkeys(MOUNTS, 0)

    def crash():
        before = service.serving()
        bench.kill_recorded(before)
        service.wait_serving(other_than=before["pid"])

    with locking_clients(bench, "relay") as (clients, _):
        folders = {name: [client.mount(f"relay-{name}", service, options) for client in clients]
                   for name, options in MOUNTS.items()}
        for name, paths in folders.items():
            clients[0].run(f"head -c 8 /dev/zero > {paths[0]}/relay-{name}")
        events = [("move", lambda: service.rehost(heads_from(service)[0]))] * MOVES
        for what, event in events + [("crash", crash)] * CRASHES:
            seen = run_relay(bench, clients, folders, event)
            judge(what, seen, faults)
            for name, (_, _, turns) in seen.items():
                total[name] += turns
        for name, paths in folders.items():
            count = clients[1].run(f"od -A n -t d8 {paths[1]}/relay-{name}")
            check(count == str(total[name]), f"{name}: {count} of {total[name]} turns were taken")
        check(not faults, "\n".join(faults))
        service.rehost(service.home)


@lab_test("architecture/locks.md", lab=labs.BACKUPS, soak=True)
def waiters_of_several_vnfss_take_turns(bench):
    """NFSv3 by one VNFS, v4.1 by another: who waits elsewhere is called, and is not overtaken."""
    with locking_clients(bench, "relay") as (clients, (here, _)):
        there = clients[1].mount("relay-v41", bench.services[0], MOUNTS["v41"])
        clients[0].run(f"head -c 8 /dev/zero > {here}/relay-both; rm -f /tmp/stop-both")
        clients[1].run("rm -f /tmp/stop-both")
        jobs = {client.vm.name: client.start(TURNS.format(folder=folder, hold=HOLD_MS))
                for client, folder in zip(clients, (here, there), strict=True)}
        bench.let_run(TOGETHER_S)
        for client in clients:
            client.run("touch /tmp/stop-both")
        said = {name: SAID.search(output) for name, output in finish(jobs, ENDS_S).items()}
        seen = {name: (int(one[1]), float(one[2])) for name, one in said.items()}
        print(f"     turns and longest wait in ms: {seen}", flush=True)
        turns = [count for count, _ in seen.values()]
        check(max(turns) <= 2 * min(turns), f"one client was overtaken: {seen}")
        # Who is not called looks once a second.
        check(sum(turns) > 2 * TOGETHER_S, f"waiters were not called: {seen}")
