"""etcd members of a cluster of four heads are killed."""

import labs
from lab_case import lab_test
from steps.cluster import leader
from steps.deadlines import ELECTION_MS
from steps.load import GAPS, check_undisturbed
from symlab.faults import Faults


def kill_member(bench, head, limit_ms):
    """Kills the head's etcd member for three seconds under load on every head."""
    with bench.load_on_every_head(*GAPS) as loads:
        bench.let_run(1.0)
        Faults(bench.lab).kill(f"etcd-{head}")
        bench.let_run(3.0)
        bench.lab.start_etcd(head)
        bench.let_run(1.0)
    bench.lab.wait_members()
    for name, load in loads.items():
        print(f"     {name}: " + ", ".join(f"{kind} {seen['longest_gap_ms']:.0f} ms"
                                           for kind, seen in load.seen.items()))
    check_undisturbed(loads, bench.services, ("read", "write"))
    check_undisturbed(loads, bench.services, ("create",), limit_ms)


@lab_test("architecture/kv_session.md", lab=labs.OWN_FILESYSTEMS)
def etcd_leader_killed(bench):
    """kill -9 of etcd's leader: metadata goes on after one election, on every head."""
    kill_member(bench, leader(bench), ELECTION_MS)


@lab_test("architecture/kv_session.md", lab=labs.OWN_FILESYSTEMS)
def etcd_follower_killed(bench):
    """kill -9 of a follower: nobody waits for an election."""
    lead = leader(bench)
    members = [m["name"] for m in bench.symnas.json("etcd", "ls")["members"]]
    kill_member(bench, next(name for name in members if name != lead), ELECTION_MS)
