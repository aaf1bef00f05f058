"""Two heads and a witness under keepalived: c1n3 runs a member of etcd, and nothing else of ours.

After keepalived_cases: vnfs1 is left with the heads c1n1 and c1n2.
"""

import time

import cases
import keepalived_cases as three
import parted
from cases import CRASH_MS, MOVE_MS, check, eventually, owner
from clients import load
from ha_place import HEADS
from keepalived_cases import comes_to, has_masters, masters, stays_at
from owners import one_owner

TWO, WITNESS = HEADS[:2], HEADS[2]
JOIN = (f"symnas head invite {WITNESS} --address 10.99.0.3 --out w.bundle --etcd-member",
        "symnas head join --bundle w.bundle",
        "systemctl disable -q vnfsd; systemctl start symnas-etcd")


def third_head_becomes_a_witness(site):
    """It is removed, and another machine joins as a member of etcd only; as first_cluster.md."""
    first, witness = site.on(TWO[0]), site.on(WITNESS)
    first.run("symnas ha decider | grep -qx builtin || symnas ha decider builtin")
    if owner(site) not in TWO:
        first.run(f"symnas vnfs rehost vnfs1 {TWO[0]}")
    first.run(f"symnas vnfs set vnfs1 --heads {','.join(TWO)}")
    first.run(f"symnas head drain {WITNESS} --wait && symnas head rm {WITNESS} --yes")
    site.renew(WITNESS)
    witness.boot()
    witness.run("apt-get -q update && apt-get -q -y install symnas")
    first.run(JOIN[0])
    witness.write_file("w.bundle", first.read_file("w.bundle"))
    witness.run(JOIN[1])
    witness.run(JOIN[2])
    eventually(60, "it is a member of etcd", lambda: all(
        name in first.run("symnas etcd ls") for name in HEADS)
        and "unreachable" not in first.run("symnas status"))
    time.sleep(6.0)  # etcd: connected for five seconds


def two_heads_are_under_keepalived(site):
    """generate names two heads; nothing moves."""
    head = owner(site)
    for name in TWO:
        site.on(name).run("systemctl stop keepalived")
    with load(site, "two heads and a witness", MOVE_MS):
        site.on(head).run("symnas ha decider keepalived")
        for name in (head, three.other_of(head)):
            site.on(name).run("symnas ha keepalived generate >/etc/keepalived/keepalived.conf\n"
                              "systemctl start keepalived")
            has_masters(site, head)
        stays_at(site, head)
        check("10.99.0.3" not in site.on(head).run("cat /etc/keepalived/keepalived.conf"),
              "the witness is a head")
        if head != TWO[0]:
            three.set_priority(site.on(head), -254)
            comes_to(site, TWO[0])
            three.set_priority(site.on(head), 0)


def both_are_masters(site):
    """VRRP lost both ways: one serves. When it passes again, the one of higher priority."""
    with load(site, "both masters", MOVE_MS), one_owner(site):
        with parted.lost_to(site, TWO, parted.VRRP):
            has_masters(site, *TWO)
            comes_to(site, TWO[1])  # the later order
            stays_at(site, TWO[1])
        has_masters(site, TWO[0])
        comes_to(site, TWO[0])
        stays_at(site, TWO[0])


def keepalived_is_paused(site):
    """As with three heads."""
    three.keepalived_is_paused(site)


def heads_do_not_hear_each_other(site):
    """All between the heads is lost but NFS; both reach the witness, and so each other's records.
    The new MASTER gets it by a planned move; when they hear each other again there is one."""
    other = three.other_of(owner(site))
    with load(site, "management lost between the heads", MOVE_MS), one_owner(site):
        with parted.from_each_other(site, TWO, parted.HEADS):
            has_masters(site, *TWO)
            comes_to(site, other)
            stays_at(site, other)
        eventually(20, "one is MASTER", lambda: len(masters(site)) == 1)
        comes_to(site, masters(site)[0])


def heads_are_cut_off_from_each_other(site):
    """NFS, too: the one that asks for the VNFS has the other one turned off, as etcd's majority
    lets it; clients reached both."""
    lost = owner(site)
    other = three.other_of(lost)
    with load(site, "all between the heads lost", CRASH_MS), one_owner(site), \
            parted.from_each_other(site, TWO, ""):
        comes_to(site, other, asked=other)
        check(not site.on(lost).is_on(), f"{lost} is on")
    is_back(site, lost)


def head_is_lost(site):
    """As with three heads: one of them and the witness are etcd's majority."""
    three.head_is_lost(site)
    is_back(site, three.other_of(owner(site, asked=site.somebody().name)))


def is_back(site, name):
    """It is a head and a BACKUP, and its member of etcd is well."""
    serves = three.other_of(name)
    site.restore_power()
    eventually(60, "it is a head again",
               lambda: cases.head_of(site, name, asked=serves)["state"] == "serving")
    eventually(60, "its etcd is a member again",
               lambda: "unreachable" not in site.on(serves).run("symnas status"))
    has_masters(site, serves)
    comes_to(site, serves, asked=serves)
    time.sleep(6.0)  # etcd: connected for five seconds


ALL = (third_head_becomes_a_witness, two_heads_are_under_keepalived, both_are_masters,
       keepalived_is_paused, heads_do_not_hear_each_other, heads_are_cut_off_from_each_other,
       head_is_lost)
SET_UP = ALL[:2]
