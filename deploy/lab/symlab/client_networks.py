"""The NFS networks of a lab: their names and addresses, and the router between them.

Network n (1 to 4): device eth<n> of every head and of the client, 10.0.<n-1>.0/24 and, in a lab
with several networks, fd00:0:0:<n>::/64. In such a lab the namespace `router` (host 254 of each
network) leads to the other networks and to the namespace `far`, which is in none of them
(10.0.9.0/24, fd00:0:0:9::/64). The router lets a packet pass only on the device to which it would
send the answer: an answer that leaves a VNFS by another network than that of its VIP never arrives.
"""

import itertools

from . import netns

NETWORKS_MAX = 4
FAR = 9
FAR_BRIDGE = "br-far"
ROUTER_HOST = 254
CLIENT_HOST = 200


def device(number):
    return f"eth{number}"


def bridge(number):
    if number == FAR:
        return FAR_BRIDGE
    return "br-nfs" if number == 1 else f"br-nfs{number}"


def port(name, number):
    """The bridge's end of a namespace's device."""
    return f"{name}-nfs" if number == 1 else f"{name}-nfs{number}"


def address(number, host):
    return f"10.0.{FAR if number == FAR else number - 1}.{host}"


def address6(number, host):
    return f"fd00:0:0:{number}::{host}"


def connect(space, name, number, host, hub):
    """Makes a device in that network, with an address of each family, usable at once."""
    netns.connect_to_bridge(space, device(number), f"{address(number, host)}/24", hub,
                            bridge(number), port(name, number))
    add_ipv6(space, number, host)


def add_ipv6(space, number, host):
    netns.ip("addr", "add", f"{address6(number, host)}/64", "dev", device(number), "nodad",
             netns=space)


def route_through_router(space, number):
    """Sends what is in none of its networks to the router, over this network."""
    netns.ip("route", "add", "default", "via", address(number, ROUTER_HOST), netns=space)
    netns.ip("-6", "route", "add", "default", "via", address6(number, ROUTER_HOST), netns=space)


def make_router(space, networks, hub):
    numbers = (*range(1, networks + 1), FAR)
    for number in numbers:
        connect(space, "router", number, ROUTER_HOST, hub)
    netns.sysctl(space, "net/ipv4/ip_forward", 1)
    netns.sysctl(space, "net/ipv6/conf/all/forwarding", 1)
    netns.sysctl(space, "net/ipv4/conf/all/send_redirects", 0)
    netns.sysctl(space, "net/ipv4/conf/all/rp_filter", 1)
    # IPv6 has no rp_filter.
    for number, other in itertools.permutations(numbers, 2):
        netns.ip("-6", "rule", "add", "priority", 100 + number, "iif", device(number),
                 "from", f"{address6(other, '')}/64", "blackhole", netns=space)


def make(lab, networks):
    """Makes the networks of a lab; in one with several, with both families and the router."""
    if networks == 1:
        return
    for number in range(2, networks + 1):
        netns.create_bridge(lab.hub_netns, bridge(number))
    netns.create_bridge(lab.hub_netns, FAR_BRIDGE)
    clients = {lab.client_netns: ("client", CLIENT_HOST)}
    for head in lab.state.data["heads"]:
        clients[head["netns"]] = (head["name"], int(head["name"].removeprefix("c1n")))
    for space, (name, host) in clients.items():
        add_ipv6(space, 1, host)
        for number in range(2, networks + 1):
            connect(space, name, number, host, lab.hub_netns)
    router, far = lab.space_of("router"), lab.space_of("far")
    lab.make_netns(router)
    make_router(router, networks, lab.hub_netns)
    lab.make_netns(far)
    connect(far, "far", FAR, CLIENT_HOST, lab.hub_netns)
    route_through_router(lab.client_netns, 1)
    route_through_router(far, FAR)
