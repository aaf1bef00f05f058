"""Links of a lab that are limited to a rate, and what has passed them.

A head's NFS device and the bridge's end of its cable have a token bucket each (tc, tbf), so both
directions carry so much. All clients live in one namespace whose own links are not limited.
"""

import contextlib
import json

from symlab import client_networks, netns
from symlab.faults import Faults


@contextlib.contextmanager
def limited(lab, rate, networks=(1,), heads=None):
    """While the body runs, the heads' links of these networks carry `rate` each (tc's words)."""
    faults = Faults(lab)
    names = heads or [head["name"] for head in lab.state.data["heads"]]
    links = [(name, network) for name in names for network in networks]
    for name, network in links:
        faults.rate(name, rate, network)
    try:
        yield
    finally:
        for name, network in links:
            faults.rate(name, "off", network)


def carried(lab, networks=(1,)):
    """{(head, network): bytes that its link has carried (to clients, from clients)}."""
    shown = json.loads(netns.ip("-s", "-j", "link", "show", netns=lab.hub_netns))
    stats = {link["ifname"]: link["stats64"] for link in shown}
    found = {}
    for head in lab.state.data["heads"]:
        for network in networks:
            seen = stats[client_networks.port(head["name"], network)]
            found[head["name"], network] = (seen["rx"]["bytes"], seen["tx"]["bytes"])
    return found


def unevenness(loads):
    """How far the load that is farthest from the mean of all is from it, as a share of it."""
    middle = sum(loads) / len(loads)
    return max(abs(load - middle) for load in loads) / middle
