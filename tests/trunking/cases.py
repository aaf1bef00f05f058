"""The cases of `run`: what one client gets over several links, VIPs and heads. Each returns what it
has measured, as text."""

import os
import time

from lab_case import check
from nfs4_wire import EXCHANGE_ID, Connection, expect_ok, opaque, u32
from symlab import netns
from two_links import LINK_MBPS, NETWORKS

# What two links must give at least, of one, on a busy machine; and what one can give at most.
TWO = 1.3
ONE = 1.15
CUT_S = 10.0
MOVED_S = 5.0
# A lock through one mount, asked for through another one by the same host.
LOCKED = """
touch /mnt/{one}/trunking/lock
guest_file hold /mnt/{one}/trunking/lock /tmp/flag locked &
sleep 3
guest_file try /mnt/{other}/trunking/lock
touch /tmp/flag
wait
rm /tmp/flag
"""


def one_vip(links):
    """One VIP: what the link gives, whatever nconnect says."""
    service = links.services[0]
    told = []
    for name, options, count in (("one", "vers=4.1", 1), ("four", "vers=4.1,nconnect=4", 4)):
        vip = links.vips(service)[0]
        with links.mounted(**{name: (service, vip, options)}):
            speed = links.speed(name)
            seen = links.transports()
            check(seen == {vip: count}, f"{options}: connections {seen}")
            check(speed.second < 0.05 and speed.write < ONE * LINK_MBPS, f"{options}: {speed}")
            told.append(f"{options}: {speed}")
    return "; ".join(told)


def exchange_ids(links, service):
    """(client id, minor id, owner, scope) that each VIP says to the same client."""
    verifier, name = os.urandom(8), f"trunking {os.urandom(6).hex()}"
    answers = []
    for vip in links.vips(service):
        with netns.entered(links.bench.lab.client_netns):
            connection = Connection(vip)
        answer = connection.compound(1, [(EXCHANGE_ID, verifier + opaque(name) + u32(0, 0, 0))])
        expect_ok(answer)
        client_id = answer.u64()
        answer.take(4 + 4 + 4)  # sequence, flags, no state protection
        minor = answer.u64()
        answers.append((client_id, minor, answer.opaque(), answer.opaque()))
    return answers


def two_vips(links):
    """Two VIPs of one VNFS, NFSv4.1: two servers to the client, whatever trunking options say."""
    service = links.services[0]
    first, second = exchange_ids(links, service)
    check(first[1:] == second[1:], f"owner or scope differ: {first}, {second}")
    check(first[0] != second[0], "one client id for both VIPs: trunking would work now")
    vips = links.vips(service)
    told = []
    for options in ("vers=4.1", "vers=4.1,max_connect=2"):
        with links.mounted(one=(service, vips[0], options), two=(service, vips[1], options)):
            alone, other = links.speed("one"), links.speed("two")
            both = links.speed("one", "two")
            seen = links.transports()
            check(seen == dict.fromkeys(vips, 1), f"{options}: connections {seen}")
            check(alone.second < 0.05 and other.second > 0.95, f"{options}: {alone}, {other}")
            check(min(both.write, both.read) > TWO * LINK_MBPS * 0.85, f"{options}: {both}")
            told.append(f"{options}: one mount {alone}; both at once {both}")
            lock = links.client.run(LOCKED.format(one="one", other="two"))
            check("refused" in lock.split(), f"a lock through the other mount: {lock}")
    with links.mounted(one=(service, vips[0], "vers=4.1,max_connect=4,trunkdiscovery")):
        seen = links.transports()
        check(seen == {vips[0]: 1}, f"trunkdiscovery: connections {seen}")
    return "; ".join(told)


def two_vips_v3(links):
    """Two VIPs of one VNFS, NFSv3: a link for each mount."""
    service = links.services[0]
    vips = links.vips(service)
    with links.mounted(one=(service, vips[0], "vers=3"),
                       two=(service, vips[1], "vers=3,nosharecache")):
        both = links.speed("one", "two")
        check(min(both.write, both.read) > TWO * LINK_MBPS * 0.85, str(both))
    return f"both at once {both}"


def two_heads(links):
    """Two VNFSs of one filesystem on two heads, in one network: each head's link, one content."""
    one, two = links.services[:2]
    with links.mounted(one=(one, links.vips(one)[0], "vers=4.1"),
                       two=(two, links.vips(two)[0], "vers=4.1")):
        both = links.speed("one", "two")
        check(min(both.write, both.read) > TWO * LINK_MBPS * 0.85, str(both))
        links.client.run("cmp /mnt/one/trunking/two /mnt/two/trunking/two && "
                         "cmp /mnt/one/trunking/one /mnt/two/trunking/one")
    return f"both at once {both}"


def two_vips_move(links):
    """A move of the VNFS under mounts of both of its VIPs, and a network of it that is cut off."""
    service = links.services[0]
    vips = links.vips(service)
    with links.mounted(one=(service, vips[0], "vers=4.1"), two=(service, vips[1], "vers=4.1")):
        with links.ticking("one", "two") as moved:
            time.sleep(3)
            service.rehost("c1n2")
            time.sleep(3)
            service.rehost("c1n1")
            time.sleep(3)
        check(max(moved.values()) < MOVED_S, f"longest waits {moved}")
        with links.ticking("one", "two") as cut:
            time.sleep(2)
            with links.cut(NETWORKS[1]):
                time.sleep(CUT_S)
            time.sleep(5)
        check(cut["one"] < MOVED_S and cut["two"] > CUT_S / 2, f"longest waits {cut}")
    return f"longest waits: moves {told(moved)}; second network away for {CUT_S:.0f} s {told(cut)}"


def told(waits):
    return f"{waits['one']:.1f} s through the first VIP, {waits['two']:.1f} s through the second"


CASES = (one_vip, two_vips, two_vips_v3, two_heads, two_vips_move)
