"""Parts of the machines' one network that carry nothing: the bridge drops it.

Everything else passes, as it would if each had cables of its own.
"""

import contextlib

from place import sh
from symlab import netns

VRRP = "ip protocol vrrp"
COROSYNC = "udp dport 5405"  # knet(7)
ETCD = "tcp dport { 2379, 2380 }", "tcp sport { 2379, 2380 }"
HEADS = "ip saddr 10.99.0.1-10.99.0.3 ip daddr 10.99.0.1-10.99.0.3"


def _ports(names):
    return "{ " + ", ".join(f'"vb-{name}"' for name in names) + " }"


@contextlib.contextmanager
def _dropped(site, rules):
    """While the body runs; what was on its way is lost, connections hang."""
    table = "bridge lost"
    with netns.entered(site.netns):
        sh("nft", f"table {table} {{ chain out {{ type filter hook forward priority 0;\n"
           + "".join(f"{rule} drop;\n" for rule in rules) + "}; }")
    try:
        yield
    finally:
        with netns.entered(site.netns):
            sh("nft", f"delete table {table}")


def lost_to(site, names, what):
    """Nothing of this kind comes to these machines; what they send arrives."""
    return _dropped(site, [f"oifname {_ports(names)} {what}"])


def alone(site, names, *kinds):
    """Nothing of these kinds comes to one of these machines or leaves it."""
    return _dropped(site, [f"{way} {_ports(names)} {kind}" for kind in kinds
                           for way in ("iifname", "oifname")])


def from_each_other(site, names, *kinds):
    """Nothing of these kinds passes between two of these machines."""
    ports = _ports(names)
    return _dropped(site, [f"iifname {ports} oifname {ports} {kind}" for kind in kinds])
