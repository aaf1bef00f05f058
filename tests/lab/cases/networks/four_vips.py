"""VNFSs with four VIPs on three or four networks, of both families; clients behind a router."""

import contextlib
import time

import labs
from kernel_clients import finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, heads_from, history, owner
from steps.deadlines import HEARD_S, TAKEN_OVER_S
from steps.exit_status import USAGE
from steps.faults import automatic_fencing, wait_networks_well
from steps.load import MEASURED
from steps.lock_holders import REBOOT, WAITING, Holder, check_granted, check_refused, is_holding
from symlab import client_networks, netns, product
from symlab.faults import Faults
from symlab.service import last_json

HEADS = 3
BETWEEN_S = 1.5
LOOKED_S = 2.0
HEARD_IN_S = 20.0
CALLED_S = 10.0  # a Linux client asks again by itself after 30 s
KINDS = ("read", "write")
CUT = 2  # the network that fails
# What resolving addresses and keeping them costs beside a load.
HOUSEKEEPING_PACKETS = 60
# A v4 VIP and a v6 VIP from afar, the others from their own networks.
PLACES = ("client", "client", "far", "far")


def multi(bench):
    """A VNFS with a VIP in each network."""
    return bench.services[1]


def doubled(bench):
    """One with two VIPs in the same network, of either family."""
    return bench.services[-1]


def backup(service):
    heads = [head["name"] for head in service.lab.state.data["heads"]]
    return heads[(heads.index(service.home) + 1) % len(heads)]


@contextlib.contextmanager
def load_on_every_vip(bench, service):
    """Reads and writes through each VIP at once; yields {VIP: Load}."""
    with contextlib.ExitStack() as stack:
        yield {vip: stack.enter_context(bench.load(
            *MEASURED, ",".join(KINDS), service=service, url=service.url_of(vip), where=where))
            for vip, where in zip(service.vips, PLACES, strict=False)}


def report(loads, what):
    """No load has failed; prints the longest gap of each VIP."""
    for vip, load in loads.items():
        for kind in KINDS:
            check(load.seen[kind]["errors"] == 0, f"{kind} through {vip} failed: {load.seen}")
    print(f"     {what}: longest gaps " + ", ".join(
        f"{vip} {max(load.seen[kind]['longest_gap_ms'] for kind in KINDS):.0f} ms"
        for vip, load in loads.items()))


def received_by_router(bench):
    """{network: packets that its routers' device has received}."""
    counts = {}
    with netns.entered(bench.lab.space_of("router")), open("/proc/thread-self/net/dev") as table:
        for line in list(table)[2:]:
            name, _, numbers = line.partition(":")
            if name.strip().startswith("eth"):
                counts[int(name.strip()[3:])] = int(numbers.split()[1])
    return counts


@lab_test("operations/networks.md", "architecture/moves.md", lab=labs.NETWORKS)
def every_vip_serves(bench):
    """From its own network and through the router; replies leave where requests came in."""
    for service, vip in ((each, vip) for each in (multi(bench), doubled(bench))
                         for vip in each.vips):
        _, number = service.vips[vip]
        url = service.url_of(vip)
        service.run_tool(*MEASURED, "read,write,create", "--seconds", "1", url=url)
        before = received_by_router(bench)
        seen = last_json(service.run_tool(*MEASURED, "read,write", "--seconds", "2", url=url,
                                          where="far"))
        for kind in KINDS:
            check(seen[kind]["errors"] == 0 and seen[kind]["operations"] > 0, f"{vip}: {seen}")
        after = received_by_router(bench)
        more = {at: after[at] - before[at] for at in before}
        check(more[number] > sum(seen[kind]["operations"] for kind in KINDS), f"{vip}: {more}")
        others = {at: count for at, count in more.items()
                  if at not in (number, client_networks.FAR)}
        check(max(others.values()) < HOUSEKEEPING_PACKETS, f"{vip}: answers strayed: {more}")


@lab_test("operations/networks.md", "architecture/moves.md", lab=labs.NETWORKS)
def clients_are_told_apart_in_ipv6(bench):
    """A client whose prefix or address the export does not name is refused, also in IPv6."""
    service = multi(bench)
    for vip, (_, number) in service.vips.items():
        # The router is named by prefix, but in network 2.
        try:
            service.run_tool(*MEASURED, "read", "--seconds", "1", url=service.url_of(vip),
                             where="router")
            refused = False
        except product.LabError as failed:
            refused = "refused: 13" in str(failed)
            check(refused, str(failed))
        check(refused == (number == 2), f"the router through {vip}: refused {refused}")


@lab_test("operations/networks.md", "architecture/moves.md", lab=labs.NETWORKS)
def all_vips_move(bench):
    """Through every head and home under load on all VIPs, near and far: no error."""
    for service in (multi(bench), doubled(bench)):
        with load_on_every_vip(bench, service) as loads:
            for head in heads_from(service):
                bench.let_run(BETWEEN_S)
                service.rehost(head)
            bench.let_run(BETWEEN_S)
        report(loads, f"{HEADS} moves of {service.name}")


@lab_test("INV-8", "architecture/moves.md", lab=labs.NETWORKS)
def all_vips_survive_a_crash(bench):
    """Its head is gone from one moment to the next: the backup has all its VIPs."""
    service = multi(bench)
    home, to = service.head, backup(service)
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        try:
            with load_on_every_vip(bench, service) as loads:
                bench.let_run(HEARD_S)
                Faults(bench.lab).kill(home)
                eventually(TAKEN_OVER_S, f"{to} serves {service.name}",
                           lambda: owner(bench, service) == to)
                bench.let_run(HEARD_S)
        finally:
            bench.lab.unfence(home)
            eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
    service.head = to
    report(loads, "crash")
    check(history(bench, service)[-1]["cause"] == "failover", "no failover was noted")
    service.rehost(home)
    bench.lab.wait_members()


@lab_test("operations/networks.md", "architecture/moves.md", lab=labs.NETWORKS)
def one_network_is_cut(bench):
    """One network fails on a head: clients on the others go on, nothing moves."""
    service = multi(bench)
    before = service.serving()["pid"]
    with load_on_every_vip(bench, service) as loads:
        bench.let_run(LOOKED_S)
        Faults(bench.lab).partition(service.head, client_networks.device(CUT))
        try:
            cut_s = time.monotonic()
            bench.let_run(2 * LOOKED_S)
            cut_s = time.monotonic() - cut_s
        finally:
            Faults(bench.lab).heal(service.head)
        bench.let_run(LOOKED_S)
    report(loads, f"network {CUT} cut for {cut_s:.1f} s")
    for vip, (_, number) in service.vips.items():
        gap_ms = max(loads[vip].seen[kind]["longest_gap_ms"] for kind in KINDS)
        check((gap_ms > 1000 * LOOKED_S) == (number == CUT), f"{vip}: longest gap {gap_ms} ms")
    check(service.serving()["pid"] == before, "its instance was ended")
    wait_networks_well(bench)


@lab_test("INV-7", "operations/networks.md", lab=labs.NETWORKS)
def kernel_clients_on_every_vip(bench):
    """Linux through each VIP, v3 and v4.1, a lock over IPv6: all go on through moves."""
    service = multi(bench)
    with kernel_clients(bench, "networks") as (one, other):
        folders = {}
        for at, vip in enumerate(service.vips):
            options = "vers=4.1" if at % 2 else "vers=3,nolock"
            folders[vip] = one.mount(f"vip{at}", service, f"{options},actimeo=0", vip)
            one.run(f"mkdir {folders[vip]}/{at}")
            folders[vip] += f"/{at}"
        locked = [folder for vip, folder in folders.items() if ":" in vip][0]
        sitting = one.start(f"cd {locked} && touch f && guest_file hold f go locked")
        eventually(20.0, "the lock is held", lambda: is_holding(sitting))
        looking = other.mount("v41", bench.services[0], "vers=4.1")
        second = f"guest_file try {looking}/{locked.rsplit('/', 1)[1]}/f"
        writing = one.start("".join(
            f"(for i in $(seq 60); do echo $i > {folder}/$i && [ $(cat {folder}/$i) = $i ] || "
            f"echo {folder}/$i; done) & " for folder in folders.values()) + "wait")
        for head in (backup(service), service.home):
            service.rehost(head)
            check(other.run(second) == "refused", f"the lock was stolen in the move to {head}")
            bench.let_run(BETWEEN_S)
        said = finish({"writing": writing})["writing"]
        check(said == "", f"was not written: {said}")
        other.run(f"touch {looking}/{locked.rsplit('/', 1)[1]}/go")
        finish({"the locked shell": sitting})


@lab_test("INV-7", "architecture/nsm.md", lab=labs.NETWORKS)
def nlm_lock_over_ipv6(bench):
    """An NFSv3 lock over IPv6 outlives a move, and goes when its client reboots."""
    service = multi(bench)
    vip = [vip for vip in service.vips if ":" in vip][0]
    with kernel_clients(bench, "six") as (one, other):
        one.run("guest_statd")
        folder = one.mount("six", service, "vers=3,lock", vip)
        holder = Holder(one, folder)
        looking = other.mount("v41", bench.services[0], "vers=4.1")
        check_refused(other, (looking,), "before the move")
        service.rehost(backup(service))
        check_refused(other, (looking,), "after the move")
        one.run(REBOOT)
        check_granted(other, looking, "after the reboot")
        holder.job.kill()
        service.rehost(service.home)


@lab_test("architecture/nsm.md", lab=labs.NETWORKS)
def nlm_waiter_is_called_back_over_ipv6(bench):
    """A waiter over IPv6 is granted the lock when it is free, not when it asks again."""
    service = multi(bench)
    vip = [vip for vip in service.vips if ":" in vip][0]
    with kernel_clients(bench, "six") as clients:
        for client in clients:
            client.run("guest_statd")
        folder, beside = [client.mount("six", service, "vers=3,lock", vip) for client in clients]
        holder = Holder(clients[0], folder)
        waiter = clients[1].start(WAITING.format(folder=beside))
        eventually(HEARD_IN_S, "it waits", lambda: waiter.poll(0.1) is None
                   and "waiting" in output_of(waiter))
        bench.let_run(BETWEEN_S)
        holder.release()
        output = finish({"the waiter": waiter}, CALLED_S)["the waiter"]
        check(output == "waiting\ngranted", f"the waiter said {output!r}")


@lab_test("INV-4", "operations/networks.md", lab=labs.NETWORKS)
def two_paths_to_one_file(bench):
    """Two connections of a client to two VIPs (as Direct NFS): one file, through a move."""
    service = multi(bench)
    urls = ",".join(service.url_of(vip) for vip in list(service.vips)[:2])
    with bench.load("nfs_shared", "--urls", urls, "--workers", "4", "--stable", "1",
                    service=service) as load:
        bench.let_run(BETWEEN_S)
        service.rehost(backup(service))
        bench.let_run(BETWEEN_S)
        service.rehost(service.home)
        bench.let_run(BETWEEN_S)
    check(load.seen["violations"] == 0 and load.seen["operations"] > 20, f"{load.seen}")


@lab_test("operations/networks.md", "architecture/moves.md", lab=labs.NETWORKS)
def impossible_vips_are_refused(bench):
    """Each is refused with what is wrong with it."""
    def create(*words):
        return bench.refused(USAGE, "vnfs", "create", "x", *words, "--exports", "u04",
                             "--heads", "c1n1")
    for words, why in (
            (("--vip", "fd00:0:0:7::1/64", "--network", "nfs2"), "lies outside its prefix"),
            (("--vip", "fd00:0:0:2::9/48", "--network", "nfs2"), "another prefix length"),
            (("--vip", "fe80::1/64", "--network", "nfs2"), "link-local"),
            (("--vip", "10.0.0.9/24,10.0.0.9/24", "--network", "nfs1"), "named twice"),
            (("--vip", ",".join(f"10.0.0.{n}/24" for n in range(50, 55)), "--network", "nfs1"),
             "more than 4 VIPs")):
        told = create(*words)
        check(why in told, told)
