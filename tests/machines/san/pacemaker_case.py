"""Pacemaker decides on two heads whose only fence are the reservations of their LUNs."""

import time

from cases import check, eventually, owner
from san_site import HEADS

UP_S, FENCED_S = 300.0, 180.0  # a monitor of its stonith device takes 15 s here


def pacemaker_starts(site):
    """On both heads; the VNFS stays where it is."""
    head = owner(site, asked="c1n1")
    site.machines["c1n1"].run("symnas ha decider pacemaker")
    site.at_once({name: ["cd /var/lib/pacemaker/cib && install -o hacluster -g haclient -m 600 "
                         "/etc/symnas-cib.xml cib.xml && systemctl start corosync pacemaker"]
                  for name in HEADS})
    for name in HEADS:
        eventually(UP_S, f"{name} sees both nodes and the resources", lambda name=name: all(
            words in site.machines[name].run("crm_mon -1r", check=False)
            for words in ("Online: [ c1n1 c1n2 ]", "Started", f"vnfs1\t(ocf:symnas:vnfs):\t "
                          f"Started {head}")))
    check(owner(site, asked="c1n1") == head, "it has moved")


def takes_over_from(site, victim, other):
    """The other one's pacemaker has the victim, which stands still, cut off by fence_symnas."""
    asked = site.machines[other]
    eventually(FENCED_S, "the other head serves", lambda: owner(site, asked=other) == other)
    said = asked.run(f"crm_mon -1r; stonith_admin --history {victim} --verbose")
    print(said)
    check(f"turning off of {victim} successful" in said, said)


def it_gets_nothing(site, victim, other):
    """It goes on, with its pacemaker, which stood still while the others heard of the fence."""
    said = site.machines[victim].run("symnas ha take vnfs1 --by pacemaker --timeout 20; "
                                     "echo status $?", check=False)
    print(said.strip())
    check("status 0" not in said, said)
    check(owner(site, asked=other) == other, "it has been given back")


def pacemaker_is_taken_away(site, head):
    machine = site.machines[head]
    machine.run("crm_attribute -n maintenance-mode -v true")
    machine.run("symnas ha decider builtin")
    machine.run("systemctl stop pacemaker corosync", timeout_s=300)
    time.sleep(1.0)
    check(owner(site, asked=head) == head, "it has moved")
