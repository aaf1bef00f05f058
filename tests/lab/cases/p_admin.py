"""The administrator's side: addresses that others have, clients that would be lost, events."""

import contextlib
import json
import socket
import subprocess

import arp
from lab_case import check, eventually, lab_test
from symlab import netns, product
from symlab.cluster import NFS_BRIDGE
from symlab.service import EXPORT, VIP, VNFS

from .a_setup import USAGE
from .h_heads import fence_state, others, victim
from .i_shared import HEADS, coherent_clients
from .m_moves import BETWEEN_S, CONFLICT, TAKEN_OVER_S, heads_from, history
from .p_exports import nfs4_load

UNREACHABLE = 5
SECOND = "vnfs2"
SECOND_VIPS = ("10.0.0.178", "10.0.0.179")
NOTICED_S = 20.0
NFS_PORT = 2049
CLIENT_DEVICE = "eth1"


@contextlib.contextmanager
def squatter(bench, *addresses):
    """Somebody else on the network of the VIPs has these addresses; yields its MAC."""
    space = f"{bench.lab.prefix}-squatter"
    netns.create(space)
    try:
        netns.connect_to_bridge(space, "eth1", f"{addresses[0]}/24", bench.lab.hub_netns,
                                NFS_BRIDGE, "squatter-nfs")
        for address in addresses[1:]:
            netns.ip("addr", "add", f"{address}/24", "dev", "eth1", netns=space)
        link = json.loads(netns.ip("-j", "link", "show", "eth1", netns=space))[0]
        yield link["address"]
    finally:
        netns.delete(space)


def mac_seen_by_clients(bench, address):
    """Whom a client asks for the address, after it has tried anew."""
    client = bench.lab.client_netns
    netns.ip("neigh", "flush", "dev", CLIENT_DEVICE, netns=client)
    with netns.entered(client), contextlib.suppress(OSError):
        socket.create_connection((address, NFS_PORT), timeout=2).close()
    for entry in json.loads(netns.ip("-j", "neigh", "show", netns=client) or "[]"):
        if entry.get("dst") == address:
            return entry.get("lladdr", "")
    return ""


def error_of(bench, name):
    return bench.service.vnfs(name).get("instance", {}).get("error", "")


def events(symnas, *words):
    return [json.loads(line) for line in symnas("-o", "json", "events", *words).splitlines()]


def kinds(symnas, *words):
    return [event["kind"] for event in events(symnas, *words)]


def told_in(path, count):
    """The events in a follower's output, when there are so many."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [json.loads(line) for line in lines] if len(lines) >= count else None


@contextlib.contextmanager
def second_vnfs(bench):
    """Another VNFS with two VIPs on the export of the first; gone afterwards."""
    bench.symnas("vnfs", "create", SECOND, "--vip", ",".join(f"{v}/24" for v in SECOND_VIPS),
                 "--network", "nfs0", "--exports", EXPORT, "--heads", "c1n1")
    try:
        bench.service.wait_serving(SECOND)
        yield
    finally:
        with contextlib.suppress(product.CommandFailed):  # the test may have removed it
            bench.symnas("vnfs", "stop", SECOND)
            bench.symnas("vnfs", "rm", SECOND, "--yes")


@lab_test()
def vip_in_use_is_given_to_no_vnfs(bench):
    """`vnfs create` of an address that somebody answers for names the MAC, and makes nothing."""
    with squatter(bench, "10.0.0.177") as mac:
        words = ("--exports", EXPORT, "--heads", "c1n1")
        alone = ("vnfs", "create", "vnfs7", "--vip", "10.0.0.177/24", "--network", "nfs0", *words)
        for command in (alone, (*alone, "--dry-run"),
                        ("vnfs", "create-set", "v", "--vip-range", "10.0.0.177/24@nfs0", *words)):
            told = bench.refused(CONFLICT, *command)
            check(mac in told and "10.0.0.177" in told, told)
    names = [vnfs["name"] for vnfs in bench.symnas.json("vnfs", "ls")["vnfs"]]
    check(names == [VNFS], f"there are {names}")


@lab_test()
def vip_in_use_is_not_fought_over(bench):
    """A VNFS whose VIP was taken meanwhile waits for it, and says so; then it serves."""
    bench.symnas("vnfs", "stop", VNFS)
    with squatter(bench, VIP) as mac:
        bench.symnas("vnfs", "start", VNFS, "--no-wait")
        eventually(NOTICED_S, "status names the holder", lambda: mac in error_of(bench, VNFS))
        check(mac in bench.symnas("status"), "`symnas status` does not say it")
        bench.let_run(5.0)
        seen = mac_seen_by_clients(bench, VIP)
        check(seen == mac, f"clients ask {seen}, not {mac}")
        check(bench.service.vnfs()["state"] == "starting", str(bench.service.vnfs()))
        check(mac in events(bench.symnas, "--vnfs", VNFS)[-1]["text"], "no event")
    bench.service.wait_serving()
    check(mac_seen_by_clients(bench, VIP) not in ("", mac), "nobody has the VIP")
    bench.service.run_tool("nfs_io", "gaps", "--seconds", "2", "--kinds", "read,write")


@lab_test()
def other_vips_serve_meanwhile(bench):
    """Of two VIPs one is taken elsewhere: the other one serves; when it is free both do."""
    with second_vnfs(bench):
        bench.symnas("vnfs", "stop", SECOND)
        with squatter(bench, SECOND_VIPS[1]) as mac:
            bench.symnas("vnfs", "start", SECOND)
            told = error_of(bench, SECOND)
            check(mac in told and SECOND_VIPS[1] in told, f"its error is {told!r}")
            check(mac_seen_by_clients(bench, SECOND_VIPS[0]) not in ("", mac), "it does not serve")
            bench.let_run(5.0)
            check(mac_seen_by_clients(bench, SECOND_VIPS[1]) == mac, "they fight")
        eventually(NOTICED_S, "the second VIP is taken", lambda: not error_of(bench, SECOND))
        check(mac_seen_by_clients(bench, SECOND_VIPS[1]) not in ("", mac), "nobody has it")
        restarted = bench.service.serving(SECOND)
        check(restarted["restarts"] == 0, f"it was restarted: {restarted}")


@lab_test()
def removal_names_the_clients(bench):
    """A VNFS that clients have mounted is removed with --yes only; nobody's is without."""
    with second_vnfs(bench):
        with netns.entered(bench.lab.client_netns):
            client = socket.create_connection((SECOND_VIPS[0], NFS_PORT), timeout=5)
        with client:
            told = bench.refused(CONFLICT, "vnfs", "rm", SECOND)
            check("not stopped" in told, told)
            bench.symnas("vnfs", "stop", SECOND)
            told = bench.refused(CONFLICT, "vnfs", "rm", SECOND)
            check("1 clients with 1 connections" in told and "--yes" in told, told)
        bench.symnas("vnfs", "start", SECOND)
        bench.let_run(2.0)
        bench.symnas("vnfs", "stop", SECOND)
        bench.symnas("vnfs", "rm", SECOND)
    check(kinds(bench.symnas, "--vnfs", SECOND)[-1] == "change", "its removal is no event")


@lab_test()
def crash_of_an_instance_is_told(bench):
    """`symnas events --follow` tells what happens while it runs, over a restart of vnfsd too."""
    after = json.loads(bench.symnas("-o", "json", "events").splitlines()[-1])["revision"]
    words = [product.program("symnas"), "--socket", bench.lab.state.data["heads"][0]["socket"],
             "-o", "json", "events", "--follow", "--after", str(after), "--vnfs", VNFS]
    path = f"{bench.lab.directory}/followed"
    with open(path, "w", encoding="utf-8") as file:
        follower = subprocess.Popen(words, stdout=file)
    try:
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        bench.kill_process("vnfsd.c1n1")
        bench.lab.start_vnfsd("c1n1")
        bench.service.wait_serving()
        second = bench.kill_instance()
        bench.service.wait_serving(other_than=second["pid"])
        seen = eventually(NOTICED_S, "all is told", lambda: told_in(path, 4))
    finally:
        follower.kill()
        follower.wait()
    check([event["kind"] for event in seen] == ["instance-ended", "restart"] * 2, str(seen))
    check(all(event["vnfs"] == VNFS for event in seen), str(seen))
    check(seen[1].get("blackout_ms", -1) >= 0, str(seen[1]))


def last_steps(bench, service):
    """{step: when, in ms since the transition began} of the last one."""
    last = history(bench, service)[-1]
    return {step["name"]: (step["at_ns"] - last["began_ns"]) / 1e6 for step in last["steps"]}


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def timeline_ends_with_the_clients(bench):
    """A move's history tells its clients' first request and the last reclaim."""
    service = victim(bench)
    with nfs4_load(bench, "--kinds", "read,write", service=service):
        bench.let_run(BETWEEN_S)
        service.rehost(heads_from(service)[0])
        eventually(NOTICED_S, "a reclaim is in the history",
                   lambda: "last reclaim" in last_steps(bench, service))
        bench.let_run(BETWEEN_S)
    steps = last_steps(bench, service)
    first, reclaimed = steps["first request"], steps["last reclaim"]
    print(f"     served {steps['serving']:.0f}, first request {first:.0f}, last reclaim "
          f"{reclaimed:.0f} ms after the move began")
    check(steps["listening"] < first < reclaimed < 1000 * NOTICED_S, str(steps))
    service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def move_is_refused_where_a_vip_is_taken(bench):
    """A stranger has the VIP of a VNFS that serves: it is not moved, and serves on."""
    service = victim(bench)
    before = service.serving()["pid"]
    to = heads_from(service)[0]
    by = bench.lab.symnas(service.head)
    with squatter(bench, service.vip) as mac:
        try:
            by("vnfs", "rehost", service.name, to, "--timeout", "8")
            raise AssertionError("it was moved although a stranger has its VIP")
        except product.CommandFailed as failed:
            check(failed.status == UNREACHABLE and mac in failed.output, failed.output)
    check(service.serving()["pid"] == before, "it was ended")
    check("move-refused" in kinds(by, "--vnfs", service.name), "the refusal is no event")
    mac_seen_by_clients(bench, service.vip)  # who asked the stranger asks anew
    service.rehost(to)
    service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def vip_taken_when_its_head_dies(bench):
    """A stranger has the VIP at a failover: the backup says so and waits; then it serves."""
    service = victim(bench)
    home, backup = service.head, heads_from(service)[1]
    by = bench.lab.symnas(backup)
    bench.lab.set_fence_kind("power")
    with squatter(bench, service.vip) as mac:
        bench.lab.fence(home, "power", by=backup)

        def told():
            row = next(row for row in by.json("status")["vnfs"] if row["name"] == service.name)
            return mac in row.get("instance", {}).get("error", "")
        eventually(NOTICED_S, f"status of {backup} names the holder", told)
        bench.let_run(BETWEEN_S)
        seen = arp.holders(bench.lab.client_netns, CLIENT_DEVICE, service.vip)
        check(seen == {mac}, f"{service.vip} is answered for by {seen}, not by {mac}")
    service.head = backup
    service.wait_serving()
    seen = arp.holders(bench.lab.client_netns, CLIENT_DEVICE, service.vip)
    check(len(seen) == 1 and mac not in seen, f"{service.vip} is answered for by {seen}")
    mac_seen_by_clients(bench, service.vip)  # who asked the stranger asks anew
    service.run_tool("nfs_io", "gaps", "--seconds", "2", "--kinds", "read,write")
    bench.lab.unfence(home)
    eventually(2 * TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
    service.rehost(home)
    bench.lab.wait_members()


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def dry_move_and_its_events(bench):
    """A dry run says who would notice and how long; the move is told on every head, with times."""
    service = victim(bench)
    to = heads_from(service)[0]
    by = bench.lab.symnas(others(bench)[0].head)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(BETWEEN_S)
        service.rehost(to)
        service.rehost(service.home)
        bench.let_run(BETWEEN_S)
        told = by("vnfs", "rehost", service.name, to, "--dry-run")
        check("1 clients with" in told, told)
        check(f"to {to}; longest" in told, told)
        check(service.head == service.home and service.serving(), "a dry run moves")
    last = [event for event in events(by, "--vnfs", service.name) if event["kind"] == "move"][-1]
    check(last["blackout_ms"] == history(bench, service)[-1]["blackout_ms"], str(last))
    told = kinds(by, "--vnfs", service.name)
    check("move-ordered" in told, f"no order among {told}")
    print(f"     blackout {last['blackout_ms']} ms with the question for its VIPs")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def drills_measure_what_clients_notice(bench):
    """`symnas drill` on a third head: a move there and back, then a kill; with clients at work."""
    service = victim(bench)
    to, by = heads_from(service)[:2]
    at_head = bench.lab.symnas(by)

    def symnas(*words, **options):
        """From where that head's probes would come."""
        with netns.entered(bench.lab.head(by)["netns"]):
            return at_head(*words, **options)

    told = bench.refused(USAGE, "drill", "kill", bench.services[0].name, "--yes")
    check("cannot probe a VIP that it serves itself" in told, told)
    report = f"{bench.lab.directory}/drill-report"
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(BETWEEN_S)
        moved = json.loads(symnas("-o", "json", "drill", "move", service.name, to,
                                  "--budget-ms", "60000", "--report", report, timeout_s=120))
        check(moved["passed"], moved["why"])
        check(moved["heads"] == [service.home, to, service.home], str(moved["heads"]))
        check([entry["cause"] for entry in moved["history"]] == ["move", "move"], str(moved))
        check(moved["clients"] and not moved["clients_not_back"], str(moved))
        before = service.serving()["pid"]
        try:
            symnas("drill", "kill", service.name)
            raise AssertionError("it was killed under clients without consent")
        except product.CommandFailed as failed:
            check(failed.status == CONFLICT and "--yes" in failed.output, failed.output)
        check(service.serving()["pid"] == before, "it was killed all the same")
        killed = json.loads(symnas("-o", "json", "drill", "kill", service.name, "--yes",
                                   "--budget-ms", "60000", timeout_s=120))
        check(killed["passed"] and killed["history"][0]["cause"] == "restart", str(killed))
        check(service.wait_serving()["pid"] != before, "it was not killed")
        for drill in (moved, killed):
            print(f"     {drill['kind']}: longest gap {drill['longest_gap_ms']} ms, "
                  f"{drill['connections']} connections, {drill['answers']} answers")
        check(killed["longest_gap_ms"] > 0 and killed["connections"] > 1, str(killed))
    with open(report, encoding="utf-8") as file:
        check("passed: within the budget" in file.read(), "the report does not say it")
