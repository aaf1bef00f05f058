"""keepalived decides, under load: each case begins where the former ended.

What is run is what docs/operations/keepalived.md says. vnfs1 has the heads c1n1, c1n2 and c1n3 in
this order, and fails back by hand.
"""

import json
import re
import time

import parted
from cases import CRASH_MS, MOVE_MS, check, eventually, owner
from clients import load
from ha_place import HEADS
from owners import holders, stays_owned
from symlab.wait import SLOWER

# Three adverts of 0.2 s, less the part of one that had passed; and what a client of NFSv3 may wait
# beyond that and the fence. One of NFSv4.1 with locks also waits until they are claimed.
MISSED_MS, BEYOND_MS = 550.0, 1000.0
SETTLED_S = 3.0  # in which whatever is on its way would have moved
NOTIFIED = "journalctl -q -o cat -t symnas-keepalived"


def comes_to(site, head, seconds=30, asked="c1n1"):
    """Waits until the head serves vnfs1; checks meanwhile that nobody else has its VIP, too."""
    def is_there():
        return holders(site) == [head] and owner(site, asked=asked) == head

    eventually(seconds, f"{head} serves it", is_there)


def stays_at(site, head, asked="c1n1"):
    end = time.monotonic() + SETTLED_S
    while time.monotonic() < end:
        stays_owned(site, head, asked)


def is_master(machine):
    """By the address that keepalived has on lo (docs/operations/keepalived.md)."""
    return "127.0.66." in machine.run("ip -o addr show dev lo")


def masters(site):
    return [one.name for one in site.machines.values() if one.is_on() and is_master(one)]


def has_masters(site, *names):
    eventually(20, f"MASTER is {' and '.join(names)}", lambda: masters(site) == list(names))


def other_of(head):
    """The other one of the first two."""
    return HEADS[1 - HEADS.index(head)]


def set_priority(machine, value):
    machine.run(f"echo {value} >/run/symnas-keepalived/vnfs1.priority")


def keepalived_is_installed(site):
    """It has no configuration, and does not run; vnfs1 is on the first of its heads."""
    site.restore_power()
    for machine in site.machines.values():
        machine.run("apt-get -q update && apt-get -q -y install symnas-keepalived")
        machine.run("systemctl enable -q keepalived; systemctl start keepalived")
        state = machine.run("systemctl is-active keepalived", check=False).strip()
        check(state == "inactive", f"{machine.name}: keepalived is {state} without configuration")
    site.on("c1n1").run(f"symnas vnfs set vnfs1 --heads {','.join(HEADS)}")
    if owner(site) != "c1n1":
        site.on("c1n1").run("symnas vnfs rehost vnfs1 c1n1")


def decider_is_changed(site):
    """Under load: nothing moves, not even when keepalived starts on all heads."""
    with load(site, "decider changed", MOVE_MS):
        site.on("c1n1").run("symnas ha decider keepalived")
        for machine in site.machines.values():
            machine.run("symnas ha keepalived generate >/etc/keepalived/keepalived.conf\n"
                        "systemctl restart keepalived")
            machine.run("keepalived --config-test")
            has_masters(site, "c1n1")
        stays_at(site, "c1n1")
    refused = site.on("c1n1").run("symnas vnfs rehost vnfs1 c1n2", check=False)
    check("keepalived" in refused, refused)
    print(site.on("c1n1").run("symnas ha decider; symnas ha standing vnfs1; "
                                    "symnas ha standing vnfs1 --head c1n2").rstrip())


def master_is_moved_by_priority(site):
    """FAULT by the file: a planned move to the next head; back as BACKUP it takes nothing."""
    with load(site, "moved by priority", MOVE_MS):
        set_priority(site.on("c1n1"), -254)
        comes_to(site, "c1n2")
        set_priority(site.on("c1n1"), 0)
        stays_at(site, "c1n2")
    check(masters(site) == ["c1n2"], f"MASTER is {masters(site)}")


def keepalived_is_stopped(site):
    """The MASTER's: a planned move to the head of the next priority; started again: none."""
    with load(site, "keepalived stopped", MOVE_MS):
        site.on("c1n2").run("systemctl stop keepalived")
        comes_to(site, "c1n1")
        site.on("c1n2").run("systemctl start keepalived")
        stays_at(site, "c1n1")
    check(masters(site) == ["c1n1"], f"MASTER is {masters(site)}")
    print(site.on("c1n1").run(NOTIFIED).rstrip())


def agent_is_restarted(site):
    """systemctl restart vnfsd on the MASTER: no other takes it."""
    with load(site, "vnfsd restarted", MOVE_MS):
        site.on("c1n1").run("systemctl restart vnfsd")
        stays_at(site, "c1n1", asked="c1n2")
    check(masters(site) == ["c1n1"], f"MASTER is {masters(site)}")


def vrrp_is_lost_both_ways(site):
    """Two MASTERs: one serves. When packets pass again, the one of higher priority."""
    with load(site, "VRRP lost both ways", MOVE_MS):
        with parted.lost_to(site, HEADS, parted.VRRP):
            has_masters(site, *HEADS)
            eventually(20, "one of them serves it", lambda: len(holders(site)) == 1)
            time.sleep(SETTLED_S)
            stays_at(site, owner(site))
        has_masters(site, "c1n1")
        comes_to(site, "c1n1")
        stays_at(site, "c1n1")


def vrrp_is_lost_one_way(site):
    """One MASTER hears the other, which is deaf: no endless moves."""
    with load(site, "VRRP lost one way", MOVE_MS):
        with parted.lost_to(site, ["c1n2"], parted.VRRP):
            has_masters(site, "c1n1", "c1n2")
            time.sleep(SETTLED_S)  # c1n2 takes it, c1n1 takes it back
            comes_to(site, "c1n1")
            stays_at(site, "c1n1")
        has_masters(site, "c1n1")
        stays_at(site, "c1n1")


def keepalived_is_paused(site):
    """SIGSTOP: it is MASTER still, another one, too; one serves. SIGCONT: one MASTER."""
    with load(site, "keepalived paused", MOVE_MS):
        site.on("c1n1").run("kill -STOP $(pidof keepalived)")
        try:
            comes_to(site, "c1n2")
            check(masters(site) == ["c1n1", "c1n2"], f"MASTERs are {masters(site)}")
            stays_at(site, "c1n2")
        finally:
            site.on("c1n1").run("kill -CONT $(pidof keepalived)")
        eventually(20, "one is MASTER", lambda: len(masters(site)) == 1)
        comes_to(site, masters(site)[0])
        stays_at(site, owner(site))


def steps_of_the_last(machine):
    """When the last instance of vnfs1 began, and its steps: ns."""
    history = json.loads(machine.run("symnas -o json vnfs history vnfs1"))["history"][-1]
    return history["began_ns"], {step["name"]: step["at_ns"] for step in history["steps"]}


def head_is_lost(site):
    """Its power: fenced by the switch's agent and taken over; back, it is a BACKUP."""
    lost = owner(site, asked=site.somebody().name)
    other = other_of(lost)
    with load(site, "head lost", CRASH_MS) as seen:
        site.on(lost).power_off()
        comes_to(site, other, asked=other)
        began, steps = steps_of_the_last(site.on(other))
    fence_ms = (steps["end proved"] - began) / 1e6
    limit_ms = MISSED_MS + fence_ms + BEYOND_MS * SLOWER
    print(f"     head lost: the fence took {fence_ms:.0f} ms")
    print(site.on(other).run("symnas vnfs history vnfs1 --steps | tail -n 9; journalctl -q -n 3 "
                             "-o short-precise -t symnas-keepalived").rstrip())
    v3_ms = max(float(gap) for gap in re.findall(r"NFSv3 \w+ (\d+)", seen.text))
    check(v3_ms < limit_ms, f"head lost: {v3_ms:.0f} ms: more than {limit_ms:.0f} ms")
    heads = json.loads(site.on(other).run("symnas -o json head ls"))["heads"]
    fence = next(one for one in heads if one["name"] == lost).get("fence", {})
    check(f"the switch has turned {lost} off" in fence.get("proof", ""), f"its fence: {fence}")
    with load(site, "head is back", MOVE_MS):
        site.on(lost).boot()
        eventually(60, "keepalived is there", lambda: site.on(lost).run(
            "systemctl is-active keepalived", check=False) == "active\n")
        time.sleep(SETTLED_S)
        stays_at(site, other, asked=other)
    check(masters(site) == [other], f"MASTER is {masters(site)}")


def decider_is_given_back(site):
    """Under load, while keepalived runs: its orders are refused, nothing moves."""
    serves = masters(site)[0]
    with load(site, "decider given back", MOVE_MS):
        site.on(serves).run("symnas ha decider builtin")
        site.on(serves).run("systemctl stop keepalived")
        stays_at(site, serves, asked=serves)
        eventually(10, "the orders are refused", lambda: any(
            "not taken" in one.run(f"{NOTIFIED} -n 1")
            for one in site.machines.values()))
    site.on(serves).run("systemctl start keepalived")


ALL = (keepalived_is_installed, decider_is_changed, master_is_moved_by_priority,
       keepalived_is_stopped, agent_is_restarted, vrrp_is_lost_both_ways, vrrp_is_lost_one_way,
       keepalived_is_paused, head_is_lost, decider_is_given_back)

# As in pacemaker_cases.
SET_UP = ALL[:2]
MOVED, CRASHED = master_is_moved_by_priority, head_is_lost
SHORT = (*SET_UP, master_is_moved_by_priority, keepalived_is_stopped, keepalived_is_paused,
         head_is_lost, decider_is_given_back)
