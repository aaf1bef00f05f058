"""Pacemaker decides, and a network is lost: corosync's without etcd's, etcd's without corosync's,
all of it. At no time have two heads the VNFS."""

import time

import cases
import parted
from cases import check, eventually
from clients import load
from ha_place import HEADS
from owners import holders, one_owner, stays_owned
from pacemaker_cases import (FENCED_S, ORDER_S, PACEMAKER_UP_S, UNNOTICED_MS, VNFS, both_say,
                             check_soon_after_proof, comes_back, failures, online, other_than, run,
                             serving_at)

WITHOUT_QUORUM_S = 10.0
# Its VIPs answered until it was off: they are asked four times, half a second apart, after that.
AFTER_PROOF_MS = 5000.0
ETCD_LOST_S = 20.0   # longer than the gate's window, and than a monitor


def says(site, head):
    """crm_mon of that head."""
    return site.machines[head].run("crm_mon -1rf", check=False)


def all_online(site):
    eventually(PACEMAKER_UP_S, "all nodes are online", lambda: online(site) == set(HEADS))


def is_taken_from(site, victim):
    """Another head serves, with pacemaker's proof; that one is off."""
    asked = other_than(victim)
    eventually(FENCED_S, "another head serves",
               lambda: cases.owner(site, asked=asked) not in ("", victim))
    check(not site.machines[victim].is_on(), f"{victim} is on")
    fence = cases.head_of(site, victim, asked=asked).get("fence", {})
    check("pacemaker: off of" in fence.get("proof", ""), f"its fence: {fence}")


def corosync_of_the_head_that_serves_is_cut_off(site):
    """etcd, NFS and its pacemaker are well; the others do not hear it in corosync's network. It
    serves on without quorum, is turned off, and another head goes on with that proof."""
    victim = serving_at(site)
    with load(site, "corosync's network lost to the head that serves", cases.CRASH_MS), \
            one_owner(site), parted.alone(site, [victim], parted.COROSYNC):
        eventually(ORDER_S, "it has no quorum",
                   lambda: "WITHOUT quorum" in says(site, victim))
        stays_owned(site, victim, victim)
        is_taken_from(site, victim)
    comes_back(site, victim)


def corosync_is_cut_off_and_fencing_fails(site):
    """As before, with a broken switch: no proof, no move, no client notices. When the nodes hear
    each other again all is as it was."""
    victim = serving_at(site)
    other = other_than(victim)
    site.switch.works = False
    with load(site, "corosync's network lost, fencing fails", UNNOTICED_MS), one_owner(site):
        with parted.alone(site, [victim], parted.COROSYNC):
            eventually(FENCED_S, "pacemaker says that fencing failed",
                       lambda: f"turning off of {victim}" in says(site, other)
                       and "UNCLEAN" in says(site, other))
            time.sleep(5.0)
            stays_owned(site, victim, other)
        print(says(site, other))
        all_online(site)
        time.sleep(5.0)
        both_say(site, victim)
        print(says(site, other))
    site.switch.works = True
    print(run(site, "crm_mon -1rf; stonith_admin --history '*'"))


def without_quorum_a_frozen_vnfs_goes_on(site):
    """No node hears another one in corosync's network: no-quorum-policy=freeze, as `ha pacemaker
    apply` sets it. Nothing stops, nobody is fenced, no client notices."""
    head = serving_at(site)
    check("freeze" in run(site, "crm_attribute -n no-quorum-policy -G -q"), "another policy")
    with load(site, "no quorum, freeze", UNNOTICED_MS), one_owner(site):
        with parted.alone(site, HEADS, parted.COROSYNC):
            eventually(ORDER_S, "no node has quorum", lambda: all(
                "WITHOUT quorum" in says(site, one) for one in HEADS))
            time.sleep(WITHOUT_QUORUM_S)
            stays_owned(site, head, head)
            print(says(site, head))
        all_online(site)
        both_say(site, head)
    check(not failures(site), f"{failures(site)}")
    check(all(one.is_on() for one in site.machines.values()), "a head was fenced")


def without_quorum_a_vnfs_is_stopped(site):
    """no-quorum-policy=stop: nobody serves it, clients wait; it is started when there is quorum
    again, and no lock is lost."""
    head = serving_at(site)
    run(site, "pcs property set no-quorum-policy=stop")
    with load(site, "no quorum, stop"), one_owner(site):
        with parted.alone(site, HEADS, parted.COROSYNC):
            eventually(ORDER_S, "nobody serves it", lambda: not holders(site))
            stopped = time.monotonic()
            print(says(site, head), site.machines[head].run(f"symnas ha standing {VNFS}"))
            check(cases.owner(site, asked=head) == "", "somebody owns it")
            time.sleep(WITHOUT_QUORUM_S)
            check(not holders(site), "somebody serves it")
        eventually(PACEMAKER_UP_S, "it is served again", lambda: serving_at(site) != "")
        print(f"     served again {time.monotonic() - stopped - WITHOUT_QUORUM_S:.1f} s "
              "after the network was back")
        all_online(site)
        both_say(site, serving_at(site))
    run(site, "pcs property set no-quorum-policy=freeze")
    check(not failures(site), f"{failures(site)}")
    check(all(one.is_on() for one in site.machines.values()), "a head was fenced")


def etcd_is_cut_off_where_it_is_served(site):
    """corosync's and NFS networks are whole, the head does not reach etcd: it can prove nothing
    any more and answers nobody. pacemaker takes that for etcd's fault and does nothing; a head
    that an administrator has fenced is replaced."""
    victim = serving_at(site)
    other = other_than(victim)
    with load(site, "etcd lost to the head that serves"), one_owner(site), \
            parted.alone(site, [victim], *parted.ETCD):
        eventually(ETCD_LOST_S, "it answers nobody", lambda: not holders(site))
        time.sleep(ETCD_LOST_S)
        check(cases.owner(site, asked=other) == victim, "somebody took it without a proof")
        check(online(site) == set(HEADS) and not failures(site), says(site, other))
        run(site, f"pcs stonith fence {victim} --off", but=victim)
        is_taken_from(site, victim)
    comes_back(site, victim)


def all_networks_between_heads_are_cut_off(site):
    """The head that serves hears no other one; clients and the switch reach all. Metadata waits
    from then on, data only until it is turned off and replaced."""
    victim = serving_at(site)
    with load(site, "all between heads lost") as seen, one_owner(site), \
            parted.alone(site, [victim], parted.HEADS):
        since_ns = time.time_ns()
        is_taken_from(site, victim)
    check_soon_after_proof(site, victim, since_ns, seen, AFTER_PROOF_MS)
    comes_back(site, victim)


ALL = (corosync_of_the_head_that_serves_is_cut_off, corosync_is_cut_off_and_fencing_fails,
       without_quorum_a_frozen_vnfs_goes_on, without_quorum_a_vnfs_is_stopped,
       etcd_is_cut_off_where_it_is_served, all_networks_between_heads_are_cut_off)
