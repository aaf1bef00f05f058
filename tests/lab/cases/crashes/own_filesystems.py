"""Four heads, each with a filesystem of its own: what happens to one disturbs no other."""

import labs
from lab_case import check, lab_test
from labs import HEADS
from steps.cluster import others, victim
from steps.deadlines import ELECTION_MS, PAUSE_S
from steps.load import GAPS, WRITERS, check_undisturbed
from symlab.faults import Faults


@lab_test("architecture/several_mounts.md", lab=labs.OWN_FILESYSTEMS)
def four_heads_serve(bench):
    """Four heads, three etcd members, a VNFS on each head, all at once under verified load."""
    members = bench.symnas.json("etcd", "ls")["members"]
    check(len(members) == 3 and all(m["role"] == "voter" for m in members),
          f"three voters are expected: {members}")
    with bench.load_on_every_head(*WRITERS) as loads:
        bench.let_run(3.0)
    for head, load in loads.items():
        check(load.seen["operations"] > 0 and load.seen["reconnects"] == 0,
              f"{head}: {load.seen}")
    incarnations = {row["incarnation"] for row in bench.symnas.json("head", "ls")["heads"]}
    check(len(incarnations) == HEADS, f"boots that are not told apart: {incarnations}")


@lab_test("INV-8", "architecture/gate.md", lab=labs.OWN_FILESYSTEMS)
def head_paused_and_resumed(bench):
    """A head is paused for 15 s: the others do not wait, nothing is damaged."""
    service = victim(bench)
    faults = Faults(bench.lab)
    with bench.load(*WRITERS, service=service), bench.load_on_every_head(*GAPS) as loads:
        bench.let_run(1.0)
        faults.pause(service.head)
        try:
            bench.let_run(PAUSE_S)
        finally:
            faults.resume(service.head)
        service.wait_serving()
        bench.let_run(2.0)
    check_undisturbed(loads, others(bench), ("read", "write"))
    check_undisturbed(loads, others(bench), ("create",), ELECTION_MS)


@lab_test("INV-8", lab=labs.OWN_FILESYSTEMS)
def instance_killed_beside_others(bench):
    """kill -9 of one head's instance: restarted in place, no other head notices."""
    service = victim(bench)
    with bench.load(*WRITERS, service=service) as load, \
            bench.load_on_every_head(*GAPS) as loads:
        bench.let_run(1.0)
        before = service.serving()
        bench.kill_recorded(before)
        service.wait_serving(other_than=before["pid"])
        bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"nothing was killed: {load.seen}")
    check_undisturbed(loads, others(bench), ("read", "write", "create"))
