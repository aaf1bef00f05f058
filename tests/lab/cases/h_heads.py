"""Four heads, each with a VNFS and a filesystem of its own: etcd members die, heads are fenced."""

import struct

from lab_case import check, eventually, lab_test
from symlab import processes
from symlab.etcd_keys import EtcdKeys
from symlab.faults import Faults

HEADS = 4
WRITERS = ("nfs_crash", "--workers", "2")
GAPS = ("nfs_io", "gaps", "--kinds", "read,write,create")
# READ and in-place WRITE go on: far above a busy machine's hiccups.
UNDISTURBED_MS = 2000.0
# Of metadata while etcd elects a leader, on whatever head; a machine that starves the leader makes
# etcd elect also when only a follower was killed.
ELECTION_MS = 2500.0
PAUSE_S = 15.0
VICTIM = 1  # index of the head that is fenced and paused


def victim(bench):
    return bench.services[VICTIM]


def others(bench):
    return [service for service in bench.services if service is not victim(bench)]


def leader(bench):
    """The name of the head whose etcd member leads."""
    address = {f"https://{head['mgmt']}:2379": head["name"]
               for head in bench.lab.state.data["heads"]}
    for member in bench.symnas.json("status")["etcd"]:
        if member["leader"]:
            return address[member["endpoint"]]
    raise AssertionError("etcd has no leader")


def mounts_of(bench, service):
    """{mount id: whether it has ended} of the filesystem, from its keys (docs/formats/keys.md)."""
    for filesystem in bench.symnas.json("fs", "ls")["filesystems"]:
        if filesystem["name"] == service.filesystem:
            prefix = b"f/" + struct.pack(">I", filesystem["fsid"]) + b"wB"
    keys = EtcdKeys(bench.lab).below(prefix)
    return {key[len(prefix):]: key + b"E" in keys for key in keys if len(key) == len(prefix) + 8}


def check_undisturbed(loads, services, kinds, limit_ms=UNDISTURBED_MS):
    for service in services:
        for kind in kinds:
            seen = loads[service.head].seen[kind]
            check(seen["errors"] == 0 and seen["longest_gap_ms"] < limit_ms,
                  f"{kind} on {service.head} was disturbed: {seen}")


def fence_state(bench, head):
    for row in bench.symnas.json("head", "ls")["heads"]:
        if row["name"] == head:
            return row.get("fence", {}).get("state")
    return None


@lab_test(luns="fuse", heads=HEADS)
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


@lab_test(luns="fuse", heads=HEADS)
def etcd_leader_killed(bench):
    """kill -9 of etcd's leader: metadata goes on after one election, on every head."""
    kill_member(bench, leader(bench), ELECTION_MS)


@lab_test(luns="fuse", heads=HEADS)
def etcd_follower_killed(bench):
    """kill -9 of a follower: nobody waits for an election."""
    lead = leader(bench)
    members = [m["name"] for m in bench.symnas.json("etcd", "ls")["members"]]
    kill_member(bench, next(name for name in members if name != lead), ELECTION_MS)


@lab_test(luns="fuse", heads=HEADS)
def head_fenced_by_power(bench):
    """A head loses its power: its mounts get end records, others go on; it boots and serves."""
    service = victim(bench)
    with bench.load(*WRITERS, service=service) as load, \
            bench.load_on_every_head(*GAPS) as loads:
        bench.let_run(1.0)
        check(False in mounts_of(bench, service).values(), "the victim has no living mount")
        said = bench.lab.fence(service.head, "power")
        check("OFD locks of 1 instances obtained" in said, f"no proof is named: {said}")
        check(all(mounts_of(bench, service).values()), "a mount of the fenced head lives")
        check(fence_state(bench, service.head) == "done", "the fence is not recorded")
        bench.let_run(2.0)
        bench.lab.unfence(service.head)
        after = service.wait_serving()
        bench.let_run(1.0)
    check(after["pid"] > 0 and load.seen["reconnects"] > 0, f"nothing was cut off: {load.seen}")
    check(fence_state(bench, service.head) is None, "the next boot has not ended the fence")
    check_undisturbed(loads, others(bench), ("read", "write"))


@lab_test(luns="fuse", heads=HEADS)
def unproven_fence_ends_nothing(bench):
    """The agent fails, or I/O is in flight: mounts live on and status says so; then it works."""
    service = victim(bench)
    before = service.serving()
    bench.lab.break_fence_agent("fails")
    try:
        said = bench.refused(5, "head", "fence", service.head, "--yes")
    finally:
        bench.lab.break_fence_agent("")
    check("the switch is broken" in said, said)
    check("could not be fenced" in bench.symnas("status"), "symnas status does not say so")
    check(False in mounts_of(bench, service).values(), "a mount was ended without proof")
    check(service.serving()["pid"] == before["pid"], "the head was disturbed")

    faults = Faults(bench.lab)
    with bench.load(*WRITERS, service=service):
        bench.let_run(1.0)
        faults.partition(service.head, "luns")
        try:
            bench.let_run(1.0)
            said = bench.refused(5, "head", "fence", service.head, "--yes")
            # A worker's own request keeps the process, one of io_uring only the open file.
            check("still locked" in said or "survives SIGKILL" in said, said)
            check(False in mounts_of(bench, service).values(), "a mount was ended without proof")
        finally:
            faults.heal(service.head)
        bench.lab.fence(service.head, "power")
        check(all(mounts_of(bench, service).values()), "a mount of the fenced head lives")
        bench.lab.unfence(service.head)
        service.wait_serving()
        bench.let_run(1.0)


@lab_test(luns="fuse", heads=HEADS)
def head_fenced_from_its_luns(bench):
    """The LUNs refuse a head that goes on: its instance ends, and it claims nothing any more."""
    service = victim(bench)
    with bench.load(*WRITERS, service=service) as load:
        bench.let_run(1.0)
        instance = service.serving()
        record = {"pid": instance["pid"], "start_time": processes.start_time(instance["pid"])}
        bench.lab.fence(service.head, "lun")
        check(all(mounts_of(bench, service).values()), "a mount of the fenced head lives")
        eventually(15.0, "the fenced instance ends itself",
                   lambda: not processes.is_alive(record))
        error = eventually(15.0, "its agent is refused", lambda: bench.lab.symnas(
            service.head).json("status") and service.vnfs()["instance"]["error"])
        check("was fenced by" in error, error)
        check(all(mounts_of(bench, service).values()), "the fenced head has mounted again")
        bench.lab.unfence(service.head)
        service.wait_serving()
        bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"nothing was cut off: {load.seen}")


@lab_test(luns="fuse", heads=HEADS)
def head_paused_and_resumed(bench):
    """A head stands still for 15 s and goes on: the others do not wait, nothing is damaged."""
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


@lab_test(luns="fuse", heads=HEADS)
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


@lab_test(luns="fuse", heads=HEADS)
def volume_grows_from_another_head(bench):
    """A head grows the volume that another one serves, under load."""
    service = victim(bench)
    before = bench.symnas.json("fs", "check", service.filesystem)["bytes_total"]
    with bench.load(*WRITERS, service=service) as load:
        path = bench.lab.add_lun("more", "128M")
        bench.symnas("lun", "import", f"MORE={path}")
        bench.symnas("volume", "grow", f"v{service.number}", "--luns", "MORE")
        bench.let_run(2.0)
    check(load.seen["reconnects"] == 0, f"the growth was noticed: {load.seen}")
    after = bench.symnas.json("fs", "check", service.filesystem)["bytes_total"]
    check(after > before + (100 << 20), f"{before} bytes before, {after} after it")
