"""Pacemaker decides: an administrator's and a bad day's orders under load."""

import re
import time
import xml.etree.ElementTree

import cases
from cases import check, eventually, head_of, owner
from clients import load
from ha_place import HEADS
from symlab.wait import SLOWER

VNFS = "vnfs1"
# What a client may wait for: a planned move; nothing at all; and after pacemaker has proved a head
# off.
MOVE_MS, UNNOTICED_MS, AFTER_PROOF_MS = 2000.0, 1000.0, 1000.0
PACEMAKER_UP_S, ORDER_S, FENCED_S = 120, 60, 120
AGENT = "/usr/lib/ocf/resource.d/symnas/vnfs"


def run(site, command, but="", check=True):
    """On some machine that is on."""
    return site.somebody(but).run(command, check=check)


def crm_mon(site):
    return xml.etree.ElementTree.fromstring(run(site, "crm_mon --output-as=xml 2>/dev/null"))


def online(site):
    return {one.get("name") for one in crm_mon(site).iter("node")
            if one.get("online") == "true" and one.get("pending") == "false"}


def where(site):
    """The node on which pacemaker has the VNFS, or ""."""
    for one in crm_mon(site).iter("resource"):
        if one.get("id") == VNFS and one.get("active") == "true":
            return next((node.get("name") for node in one.iter("node")), "")
    return ""


def failures(site):
    """Failed operations that pacemaker knows of."""
    return [f"{one.get('op_key') or one.get('task')} on {one.get('node')}: {one.get('exitreason')}"
            for one in crm_mon(site).iter("failure")]


def both_say(site, head, seconds=ORDER_S):
    eventually(seconds, f"pacemaker and the records say {head}",
               lambda: where(site) == head and serving_at(site) == head)


def serving_at(site):
    return owner(site, asked=site.somebody().name)


def other_than(head):
    return next(one for one in HEADS if one != head)


def packages_are_installed(site):
    """apt installs symnas-pacemaker in booted machines; pacemaker is up only after vnfsd."""
    for machine in site.machines.values():
        machine.boot()
        machine.run("apt-get -q update && apt-get -q -y install symnas symnas-pacemaker")
        after = machine.run("systemctl show -p After resource-agents-deps.target")
        check("vnfsd.service" in after, after)


def pacemaker_starts(site):
    """Three nodes are online, and have a stonith device."""
    for machine in site.machines.values():
        machine.run("systemctl enable -q corosync pacemaker; systemctl start pacemaker")
    eventually(PACEMAKER_UP_S, "all nodes are online", lambda: online(site) == set(HEADS))
    run(site, "pcs stonith create switch fence_switch op monitor interval=60s")


def pacemaker_becomes_the_decider(site):
    """decider and apply under load: no client notices, and the VNFS stays."""
    before = serving_at(site)
    with load(site, "pacemaker becomes the decider", UNNOTICED_MS):
        run(site, "symnas ha decider pacemaker")
        run(site, "symnas ha pacemaker apply")
        both_say(site, before)
    check(run(site, "symnas ha decider").strip() == "pacemaker", "another decider")
    eventually(ORDER_S, "check finds nothing", lambda: "is configured as" in run(
        site, "symnas ha pacemaker check", check=False))
    check(not failures(site), f"{failures(site)}")
    print(run(site, "crm_mon -1rf"))


def ocf_tester_is_content(site):
    """In maintenance mode, on the head that serves."""
    head = serving_at(site)
    run(site, "pcs property set maintenance-mode=true")
    said = site.machines[head].run(f"ocf-tester -n {VNFS} -o vnfs={VNFS} {AGENT}")
    check("passed all tests" in said, said)
    site.machines[head].run(f"symnas ha take {VNFS} --by pacemaker")
    run(site, "pcs property set maintenance-mode=false")
    both_say(site, head)


def pcs_moves_it(site):
    """pcs resource move is a planned move: locks are kept."""
    target = other_than(serving_at(site))
    with load(site, "pcs resource move", MOVE_MS):
        run(site, f"pcs resource move {VNFS} {target}")
        both_say(site, target)


def crm_resource_moves_it(site):
    """crm_resource --move and --ban, and clearing what they leave, are planned moves as well."""
    target = other_than(serving_at(site))
    with load(site, "crm_resource --move", MOVE_MS):
        run(site, f"crm_resource --move -r {VNFS} -N {target}")
        both_say(site, target)
    check("stands beside the order" in run(site, "symnas ha pacemaker check", check=False),
          "check does not see what --move has left")
    run(site, f"crm_resource --clear -r {VNFS}")
    with load(site, "crm_resource --ban", MOVE_MS):
        run(site, f"crm_resource --ban -r {VNFS} -N {target}")
        eventually(ORDER_S, "it is elsewhere", lambda: serving_at(site) not in ("", target))
    run(site, f"crm_resource --clear -r {VNFS}")
    both_say(site, serving_at(site))


def node_goes_to_standby(site):
    """pcs node standby moves it away; the node comes back and it stays."""
    head = serving_at(site)
    with load(site, "node standby", MOVE_MS):
        run(site, f"pcs node standby {head}")
        eventually(ORDER_S, "it is elsewhere", lambda: serving_at(site) not in ("", head))
    now = serving_at(site)
    run(site, f"pcs node unstandby {head}")
    time.sleep(5.0)
    both_say(site, now)


def node_reboots(site):
    """systemd ends pacemaker before vnfsd: what is served there moves away first."""
    head = serving_at(site)
    with load(site, "a node reboots", MOVE_MS):
        site.machines[head].run("systemctl --no-block reboot")
        eventually(ORDER_S, "it is elsewhere", lambda: serving_at(site) not in ("", head))
        site.machines[head].wait_off()
        comes_back(site, head)


def others_orders_are_refused(site):
    """An order beside the decider is refused in words, and so is a clone."""
    head = serving_at(site)
    said = run(site, f"symnas vnfs rehost {VNFS} {other_than(head)}", check=False)
    check("pacemaker" in said and "pcs resource move" in said, said)
    said = site.machines[head].run(
        f"OCF_ROOT=/usr/lib/ocf OCF_RESKEY_vnfs={VNFS} OCF_RESKEY_CRM_meta_clone=0 "
        f"{AGENT} validate-all; echo status $?", check=False)
    check("cannot be a clone" in said and "status 6" in said, said)
    said = site.machines[head].run(
        f"OCF_ROOT=/usr/lib/ocf OCF_RESKEY_vnfs=none {AGENT} validate-all; echo status $?",
        check=False)
    check("there is no such VNFS" in said and "status 6" in said, said)
    check(serving_at(site) == head, "it has moved")


def vnfsd_restarts(site):
    """Under pacemaker's eyes: no client notices, nothing has failed."""
    head = serving_at(site)
    with load(site, "vnfsd restarts", UNNOTICED_MS):
        site.machines[head].run("systemctl stop vnfsd")
        said = site.machines[head].run(
            f"OCF_ROOT=/usr/lib/ocf OCF_RESKEY_vnfs={VNFS} OCF_RESKEY_vnfsd_grace=1 "
            f"OCF_RESKEY_CRM_meta_interval=0 {AGENT} monitor; echo status $?", check=False)
        check("vnfsd has not answered" in said and "status 1" in said, said)
        time.sleep(3.0)
        site.machines[head].run(f"crm_resource --refresh -r {VNFS} >/dev/null 2>&1 & sleep 1")
        site.machines[head].run("systemctl start vnfsd")
        time.sleep(12.0)  # more than one monitor
    both_say(site, head)
    check(not failures(site), f"{failures(site)}")


def decider_changes_in_maintenance_mode(site):
    """To the builtin one and back, under load; meanwhile pacemaker orders nothing."""
    head = serving_at(site)
    with load(site, "the decider changes", UNNOTICED_MS):
        run(site, "pcs property set maintenance-mode=true")
        run(site, "symnas ha decider builtin")
        said = site.machines[head].run(f"symnas ha leave {VNFS} --by pacemaker", check=False)
        check("builtin" in said, said)
        run(site, "symnas ha decider pacemaker")
        run(site, "pcs property set maintenance-mode=false")
        both_say(site, head)


def proved_off_ns(site, head, since_ns):
    """When pacemaker's fencer first said so after that, by its log."""
    for machine in site.machines.values():
        if not machine.is_on():
            continue
        said = machine.run("journalctl --no-pager -o short-unix --since=-5min", check=False)
        found = re.findall(rf"(?m)^(\d+\.\d+) .*Operation 'off' .*targeting {head} .*: OK\b|"
                           rf"^(\d+\.\d+) .*Operation 'off' .*targeting {head} .*returned 0",
                           said)
        found = [int(float(one or other) * 1e9) for one, other in found]
        if found := [at_ns for at_ns in found if at_ns > since_ns]:
            return min(found)
    raise cases.LabError(f"no log of pacemaker says that {head} is off")


def check_soon_after_proof(site, victim, since_ns, seen, limit_ms=AFTER_PROOF_MS):
    """A client of NFSv3 is served again that soon after pacemaker's proof."""
    off_ms = (proved_off_ns(site, victim, since_ns) - since_ns) / 1e6
    print(f"     pacemaker proved {victim} off after {off_ms:.0f} ms")
    v3 = max(float(gap) for gap in re.findall(r"NFSv3 \w+ (\d+)", seen.text))
    limit_ms *= SLOWER
    check(v3 < off_ms + limit_ms, f"{v3:.0f} ms: more than {limit_ms:g} ms after it")


def killed_head_is_fenced(site):
    """Pacemaker has a head turned off that has died, and that is the proof for symnas."""
    victim = serving_at(site)
    with load(site, "a head is killed") as seen:
        killed_ns = time.time_ns()
        site.machines[victim].power_off()
        eventually(FENCED_S, "another head serves",
                   lambda: serving_at(site) not in ("", victim))
    check_soon_after_proof(site, victim, killed_ns, seen)
    fence = head_of(site, victim, asked=site.somebody().name).get("fence", {})
    print(f"     its proof: {fence.get('proof')}")
    print(run(site, "crm_mon -1rf"))
    print(run(site, f"stonith_admin --history {victim} --output-as=xml"))
    check("pacemaker: off of" in fence.get("proof", ""), f"its fence: {fence}")
    comes_back(site, victim)


def fence_symnas_has_symnas_fence(site):
    """With fence_symnas as the stonith device, both know of the same fence."""
    victim = other_than(serving_at(site))
    other = site.somebody(but=victim)
    other.run("pcs stonith create symnas-fence fence_symnas op monitor interval=60s")
    other.run("pcs stonith delete switch")
    eventually(ORDER_S, "it can fence", lambda: "symnas-fence" in other.run(
        f"stonith_admin --list {victim}", check=False))
    with load(site, "a head that serves nothing is fenced", MOVE_MS):
        other.run(f"stonith_admin --fence {victim} --timeout 120")
    check(not site.machines[victim].is_on(), f"{victim} is on")
    check(head_of(site, victim, asked=other.name)["state"] == "fenced", "symnas does not know")
    said = other.run(f"printf 'action=status\\nplug={victim}\\nsince=1\\n' | "
                     "/usr/lib/symnas/symnas-stonith; echo status $?")
    check("status 2" in said, said)
    other.run("pcs stonith create switch fence_switch op monitor interval=60s")
    other.run("pcs stonith delete symnas-fence")
    comes_back(site, victim)


def corosync_hangs_where_it_is_served(site):
    """etcd and vnfsd are well, corosync has lost the node: it serves until it is turned off, and
    another head goes on with that proof."""
    victim = serving_at(site)
    with load(site, "corosync hangs", cases.CRASH_MS):
        site.machines[victim].run("systemctl kill -s STOP corosync")
        eventually(FENCED_S, "another head serves",
                   lambda: serving_at(site) not in ("", victim))
    check(not site.machines[victim].is_on(), f"{victim} is on")
    comes_back(site, victim)


def etcd_member_stops_where_it_is_served(site):
    """corosync is whole, and so is etcd without that member: nothing moves, nothing fails."""
    head = serving_at(site)
    with load(site, "the head's member of etcd stops", MOVE_MS):
        site.machines[head].run("systemctl stop symnas-etcd")
        time.sleep(15.0)  # more than one monitor
        site.machines[head].run("systemctl start symnas-etcd")
        eventually(60, "its etcd is a member again",
                   lambda: "unreachable" not in run(site, "symnas status"))
    both_say(site, head)
    check(not failures(site), f"{failures(site)}")
    time.sleep(6.0)  # etcd: connected for five seconds


def comes_back(site, name):
    now = serving_at(site)
    site.restore_power()
    eventually(PACEMAKER_UP_S, f"{name} is a node and a head again", lambda: name in online(site)
               and head_of(site, name, asked=site.somebody().name)["state"] == "serving")
    both_say(site, now)
    eventually(60, "its etcd is a member again",
               lambda: "unreachable" not in run(site, "symnas status"))
    time.sleep(6.0)  # etcd: connected for five seconds


def fencing_that_fails_moves_nothing(site):
    """The switch is broken: no proof, no move; both say so. It is mended: the VNFS goes on."""
    victim = serving_at(site)
    site.switch.works = False
    with load(site, "a head is killed whose fencing fails"):
        site.machines[victim].power_off()
        eventually(FENCED_S, "pacemaker says that fencing failed", lambda: re.search(
            rf"turning off of {victim} .*failed", run(site, "crm_mon -1rf", check=False)))
        time.sleep(5.0)
        check(serving_at(site) == victim, "somebody took it without a proof")
        said = run(site, "symnas status")
        check(f"head {victim}: is not heard" in said, said)
        check("UNCLEAN" in run(site, "crm_mon -1rf", check=False), "pacemaker calls it clean")
        site.switch.works = True
        run(site, f"stonith_admin --fence {victim} --timeout 30", check=False)
        eventually(FENCED_S, "another head serves",
                   lambda: serving_at(site) not in ("", victim))
    comes_back(site, victim)


def pacemaker_is_taken_away(site):
    """Back to the builtin decider, and pacemaker off: as keepalived's cases find the machines."""
    head = serving_at(site)
    run(site, "pcs property set maintenance-mode=true")
    run(site, "symnas ha decider builtin")
    for machine in site.machines.values():
        machine.run("systemctl disable -q pacemaker corosync; systemctl stop pacemaker corosync")
    check(serving_at(site) == head, "it has moved")


MADE = (packages_are_installed, cases.cluster_is_made)
# What leads to a cluster under pacemaker, and what clients wait for there: a move, a crash.
SET_UP = (pacemaker_starts, pacemaker_becomes_the_decider)
MOVED, CRASHED = pcs_moves_it, killed_head_is_fenced

ALL = (*SET_UP, ocf_tester_is_content, pcs_moves_it, crm_resource_moves_it,
       node_goes_to_standby, node_reboots, others_orders_are_refused, vnfsd_restarts,
       etcd_member_stops_where_it_is_served, decider_changes_in_maintenance_mode,
       killed_head_is_fenced, corosync_hangs_where_it_is_served, fence_symnas_has_symnas_fence,
       fencing_that_fails_moves_nothing, pacemaker_is_taken_away)
SHORT = (*SET_UP, ocf_tester_is_content, pcs_moves_it, crm_resource_moves_it,
         node_goes_to_standby, vnfsd_restarts, killed_head_is_fenced,
         fence_symnas_has_symnas_fence, pacemaker_is_taken_away)
