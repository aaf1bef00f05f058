"""Everybody on its network is told where a VIP is, more than once."""

import arp
import labs
from lab_case import check, eventually, lab_test
from symlab import client_networks
from symlab.service import VIP

TIMES = 3
ANNOUNCED_S = 10.0  # three times within 4 s
ARP_FRAMES = 2      # each time a request and a reply


def check_announced(bench, device, vip, frames, restart):
    """The VIP is announced three times by one MAC after restart()."""
    with arp.announcements(bench.lab.client_netns, device, vip) as announced:
        restart()
        eventually(ANNOUNCED_S, f"{vip} is announced {TIMES} times",
                   lambda: len(announced()) >= TIMES * frames)
        seen = announced()
    check(len(set(seen)) == 1, f"{vip} was announced by {seen}")


@lab_test("operations/networks.md", "architecture/moves.md")
def vip_is_announced_three_times(bench):
    """By ARP over some seconds (RFC 5227 2.3); the VNFS serves before that is over."""
    def restart():
        killed = bench.kill_instance()
        bench.service.wait_serving(other_than=killed["pid"])
    check_announced(bench, "eth1", VIP, ARP_FRAMES, restart)


@lab_test("operations/networks.md", "architecture/moves.md", lab=labs.NETWORKS)
def ipv6_vip_is_announced_three_times(bench):
    """By unsolicited neighbour advertisements over some seconds (RFC 4861 7.2.6)."""
    service = bench.services[1]
    vip = [vip for vip in service.vips if ":" in vip][0]
    _, number = service.vips[vip]

    def restart():
        bench.symnas("vnfs", "stop", service.name)
        bench.symnas("vnfs", "start", service.name)
        service.wait_serving()
    check_announced(bench, client_networks.device(number), vip, 1, restart)
