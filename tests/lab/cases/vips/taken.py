"""VIPs that another machine on the network has."""

import contextlib
import json
import socket

import arp
import labs
from lab_case import check, eventually, lab_test
from steps.cluster import events, fence_state, heads_from, kinds, victim
from steps.deadlines import BETWEEN_S, TAKEN_OVER_S
from steps.exit_status import CONFLICT, UNREACHABLE
from steps.second_vnfs import NFS_PORT, SECOND, SECOND_VIPS, second_vnfs
from symlab import netns, product
from symlab.cluster import NFS_BRIDGE
from symlab.service import EXPORT, VIP, VNFS

NOTICED_S = 20.0
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


@lab_test("architecture/moves.md", "operations/networks.md")
def vip_in_use_is_given_to_no_vnfs(bench):
    """`vnfs create` with an address that somebody answers for is refused and names the MAC."""
    with squatter(bench, "10.0.0.177") as mac:
        words = ("--exports", EXPORT, "--heads", "c1n1")
        alone = ("vnfs", "create", "vnfs7", "--vip", "10.0.0.177/24", "--network", "nfs0", *words)
        for command in (alone, (*alone, "--dry-run"),
                        ("vnfs", "create-set", "v", "--vip-range", "10.0.0.177/24@nfs0", *words)):
            told = bench.refused(CONFLICT, *command)
            check(mac in told and "10.0.0.177" in told, told)
    names = [vnfs["name"] for vnfs in bench.symnas.json("vnfs", "ls")["vnfs"]]
    check(names == [VNFS], f"there are {names}")


@lab_test("architecture/moves.md", "operations/networks.md")
def vip_in_use_is_not_fought_over(bench):
    """A VNFS whose VIP was taken meanwhile waits for it and reports it; then it serves."""
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


@lab_test("architecture/moves.md", "operations/networks.md")
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


@lab_test("architecture/moves.md", "operations/networks.md", lab=labs.BACKUPS)
def move_is_refused_where_a_vip_is_taken(bench):
    """A stranger has the VIP of a serving VNFS: it is not moved, and serves on."""
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


@lab_test("architecture/moves.md", "operations/networks.md", lab=labs.BACKUPS)
def vip_taken_when_its_head_dies(bench):
    """A stranger has the VIP at a failover: the backup reports it and waits, then serves."""
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
