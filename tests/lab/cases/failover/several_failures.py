"""A failure on top of another one."""

import contextlib

import arp
import labs
from kernel_clients import finish, kernel_clients
from lab_case import check, eventually, lab_test
from steps.cluster import check_nobody_fenced, fence_state, heads_from, leader, owner, victim, vips
from steps.deadlines import BACK_S, CRASHED_MS, HEARD_S, SILENT_S, STEADY_S, TAKEN_OVER_S
from steps.faults import automatic_fencing, bring_home, cut_off
from steps.load import MEASURED, PATIENT_WRITERS, check_gaps
from steps.lock_holders import SECOND, SITTING, is_holding
from symlab import product
from symlab.faults import Faults

ORPHANS_S = 6.0  # of a namespace without processes


@lab_test("INV-7", "INV-8", lab=labs.BACKUPS)
def second_crash_during_a_take_over(bench):
    """The head that takes over dies too: a third one serves, and locks are held throughout."""
    service = bench.services[-1]  # its home has no etcd member: two of three are left in the end
    home = service.head
    first, looks = heads_from(service)[0], heads_from(service)[1]
    check(not bench.lab.has_etcd(bench.lab.head(home)), f"{home} has an etcd member")
    faults = Faults(bench.lab)
    bench.lab.set_fence_kind("power")
    with kernel_clients(bench, "twice") as (one, other), automatic_fencing(bench, "power"):
        folder = one.mount("v41", service, "vers=4.1")
        one.run(f"mkdir -p {folder}")
        job = one.start(SITTING.format(folder=folder, how="locked"))
        eventually(20.0, "the shell holds its lock", lambda: is_holding(job))
        looking = other.mount("v41", next(s for s in bench.services if s.head == looks),
                              "vers=4.1")
        bench.let_run(HEARD_S)
        try:
            faults.kill(home)
            eventually(TAKEN_OVER_S, f"{first} claims it",
                       lambda: owner_seen_by(bench, looks, service) == first)
            faults.kill(first)
            third = eventually(2 * TAKEN_OVER_S, f"a third head serves {service.name}",
                               lambda: (seen := owner_seen_by(bench, looks, service))
                               not in (None, "", home, first) and seen)
            print(f"     from {home} to {first} to {third}")
            for _ in range(10):
                check(other.run(SECOND.format(folder=looking)) == "refused", "a lock was stolen")
            other.run(f"touch {looking}/go")
            output = finish({"the holder": job})["the holder"]
            check(output == f"holding\none two {folder}", f"the holder said {output!r}")
            check(other.run(SECOND.format(folder=looking)) == "granted", "not given back")
        finally:
            for head in (first, home):
                bench.lab.unfence(head)
        for head in (first, home):
            eventually(2 * TAKEN_OVER_S, f"{head} is back",
                       lambda h=head: fence_state(bench, h) is None)
    bench.lab.wait_members()
    for each in bench.services:
        each.head = eventually(TAKEN_OVER_S, f"{each.name} has an owner",
                               lambda e=each: owner(bench, e))
        each.wait_serving()
        if each.head != each.home:
            each.rehost(each.home)


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def vips_of_a_dead_instance_do_not_come_back(bench):
    """Instance and vnfsd die unseen by clients: the VIP answers only on the next head."""
    service = victim(bench)
    home = service.head
    with bench.load(*PATIENT_WRITERS, service=service):
        bench.let_run(1.0)
        with cut_off(bench, home, "clients"):
            bench.let_run(0.5)  # replies that nobody acknowledges
            instance = service.serving()
            bench.kill_process(f"vnfsd.{home}")
            bench.kill_recorded(instance)
            bench.let_run(ORPHANS_S)
        answering = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        check(not answering, f"{service.vip} is still answered for by {answering}")
        bench.lab.start_vnfsd(home)
        service.wait_serving()
        answering = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        check(len(answering) == 1, f"{service.vip} is answered for by {answering}")
        bench.let_run(2.0)


def owner_seen_by(bench, head, service):
    with contextlib.suppress(product.CommandFailed):
        for vnfs in bench.lab.symnas(head).json("vnfs", "ls")["vnfs"]:
            if vnfs["name"] == service.name:
                return vnfs["owner"]
    return None


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def crash_of_the_head_that_leads_etcd(bench):
    """The head with etcd's leader dies: an election, a fence, and its backup serves."""
    home = leader(bench)
    service = next(s for s in bench.services if s.head == home)
    backup = heads_from(service)[0]
    looks = next(s.head for s in bench.services if s.head not in (home, backup))
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        with bench.load(*MEASURED, "read,write,create", service=service) as load:
            bench.let_run(HEARD_S)
            Faults(bench.lab).kill(home)
            service.head = eventually(
                TAKEN_OVER_S, f"{home} has lost {service.name}",
                lambda: (seen := owner_seen_by(bench, looks, service)) not in (None, home, "")
                and seen)
            bench.let_run(HEARD_S)
        check_gaps(load.seen, load.seen, CRASHED_MS)
        bring_home(bench, service, home)


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def without_quorum_nothing_moves(bench):
    """Two of three etcd members are dead: no fence, no move, and each head's status says so."""
    heads = [head["name"] for head in bench.lab.state.data["heads"]]
    members = [head for head in heads if bench.lab.has_etcd(bench.lab.head(head))]
    before = {service.name: service.serving() for service in bench.services}
    faults = Faults(bench.lab)
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), \
            bench.load(*PATIENT_WRITERS, service=victim(bench)) as load:
        bench.let_run(HEARD_S)
        for head in members[:2]:
            faults.kill(f"etcd-{head}")
        try:
            for service in bench.services:
                pid = before[service.name]["pid"]
                eventually(2 * SILENT_S, f"the VIP of {service.name} is down",
                           lambda p=pid, s=service: s.vip not in vips(p))
            bench.let_run(STEADY_S)
            for head in heads:
                told = status_without_quorum(bench, head)
                check("etcd" in told and "VIPs are down" in told, f"{head} says: {told}")
        finally:
            for head in members[:2]:
                bench.lab.start_etcd(head)
        bench.lab.wait_members()
        bench.let_run(BACK_S)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    for service in bench.services:
        check(owner(bench, service) == service.home, f"{service.name} was moved")
        check(service.wait_serving()["pid"] == before[service.name]["pid"],
              f"{service.name} was restarted")
    check_nobody_fenced(bench)


def status_without_quorum(bench, head):
    try:
        told = bench.lab.symnas(head)("status")
    except product.CommandFailed as failed:
        check(failed.status == 5, f"exit status {failed.status}: {failed.output}")
        return failed.output
    raise AssertionError(f"{head} sees nothing wrong: {told}")
