"""A head is lost: its backup takes over; an agent that is away is no crash."""

import time

import arp
import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, heads_from, history, others, owner, victim
from steps.deadlines import BETWEEN_S, CRASHED_MS, HEARD_S, TAKEN_OVER_S
from steps.faults import automatic_fencing
from steps.load import MEASURED, check_gaps, check_undisturbed, coherent_clients
from symlab.faults import Faults

HICCUPS, HICCUP_S = 3, 0.8


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def backup_takes_over(bench):
    """A head loses its power and is fenced: its first backup serves, also when it is back."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        since = time.monotonic()
        bench.lab.fence(home, "power")
        service.head = eventually(TAKEN_OVER_S, f"{backup} serves {service.name}",
                                  lambda: owner(bench, service) == backup and backup)
        service.wait_serving()
        print(f"     served by {backup} {time.monotonic() - since:.1f} s after the order to fence")
        bench.let_run(2.0)
        bench.lab.unfence(home)
        eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
        bench.let_run(2.0)
        check(owner(bench, service) == backup, "it went back by itself")
        service.rehost(home)
    bench.lab.wait_members()


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def head_crash(bench):
    """A head dies: it is fenced without an order, and its backup serves."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    other = others(bench)[0]
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        with coherent_clients(bench, "--stable", "1"), \
                bench.load(*MEASURED, "read,write,create", service=service) as load, \
                bench.load(*MEASURED, "read,write", service=other) as beside:
            bench.let_run(HEARD_S)
            Faults(bench.lab).kill(home)
            eventually(TAKEN_OVER_S, f"{backup} serves {service.name}",
                       lambda: owner(bench, service) == backup)
            bench.let_run(HEARD_S)
        bench.lab.unfence(home)
        eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
        answering = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        check(len(answering) == 1, f"{service.vip} is answered for by {answering}")
    service.head = backup
    check_gaps(load.seen, ("read", "write", "create"), CRASHED_MS)
    check_undisturbed({other.head: beside}, [other], ("read", "write"))
    last = history(bench, service)[-1]
    check((last["cause"], last["from"], last["to"]) == ("failover", home, backup), str(last))
    print("     " + ", ".join(f"{step['name']} {(step['at_ns'] - last['began_ns']) // 1000000}"
                              for step in last["steps"]))
    service.rehost(home)
    check(history(bench, service)[-1]["cause"] == "move", "the history does not tell the move")
    bench.lab.wait_members()


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def agent_away_is_no_crash(bench):
    """vnfsd is away and the instance answers, with hiccups: no fence, no move."""
    service = victim(bench)
    before = service.serving()
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), coherent_clients(bench, "--stable", "1"):
        bench.let_run(HEARD_S)
        bench.kill_process(f"vnfsd.{service.head}")
        try:
            bench.let_run(HEARD_S)
            told = bench.lab.symnas(others(bench)[0].head)("status")
            check(f"head {service.head}: is not heard by this head: but a VIP" in told, told)
            for _ in range(HICCUPS):  # others ask each half second, and wait for 0.3 s
                Faults(bench.lab).pause(service.name)
                bench.let_run(HICCUP_S)
                Faults(bench.lab).resume(service.name)
                bench.let_run(BETWEEN_S)
            check(fence_state(bench, service.head) is None, "the head was fenced")
        finally:
            bench.lab.start_vnfsd(service.head)
        check(service.wait_serving()["pid"] == before["pid"], "its instance was ended")
