"""The cases: a cluster on a SAN, what goes wrong there; each begins where the former has ended."""

import json
import re
import subprocess
import time

import pacemaker_case
from cases import check, eventually, head_of, load, owner
from place import program
from san_site import HEADS, SAN_B, per_host
from symlab import netns

VIP, EXPORT, VNFS = "10.98.0.101", "data", "vnfs1"
DISKS = "/dev/disk/by-id/dm-uuid-mpath-*"
LUNS, PATHS = 2, 4          # of a head
WELL_S = 3.0                # after an import
# What a client may wait for, on an idle machine of two cores less than half of it.
PATH_MS, ARRAY_MS, CRASH_MS = 15_000.0, 40_000.0, 60_000.0
PAUSE_MS = 50               # a system call of these machines takes long: their one CPU is not full
BACK_S = 90.0               # a head that boots, until it serves again


def san_load(site, what, limit_ms):
    return load(site, what, limit_ms, VIP, pause_ms=PAUSE_MS)


def status(site, head):
    return json.loads(site.machines[head].run("symnas -o json status"))


def keys(site, asked):
    """[(holder, {key: registrations})], one for each LUN."""
    found = []
    for line in site.machines[asked].run(f"symnas-fence keys {DISKS}").splitlines():
        line = re.search(r"by (0x\w+) +keys: (.*)", line)
        if line:
            words = line[2].split()
            found.append((line[1], {key: words.count(key) for key in words}))
    return found


def other(head):
    return HEADS[1 - HEADS.index(head)]


def move_to(site, head):
    """The VNFS is served there, and by nobody else."""
    if owner(site, VNFS, head) != head:
        site.machines[head].run(f"symnas vnfs rehost {VNFS} {head}")
    check(owner(site, VNFS, head) == head, f"{VNFS} is not on {head}")


def instances(site, head):
    return site.machines[head].run("pgrep -fc bin/[g]anesha.nfsd", check=False).strip()


def paths(site, head):
    return len(re.findall(r"active ready +running", site.machines[head].run("multipath -ll")))


def is_a_head(site, name, former):
    """Whether a later boot of it is, with its keys on all LUNs."""
    seen = head_of(site, name, other(name))
    return (seen["state"] == "serving" and seen["incarnation"] != former
            and not status(site, name)["reservations"]["error"])


def boots_again(site, name):
    """It has been off or is cut off; afterwards it is a head as before."""
    former = head_of(site, name, other(name))["incarnation"]
    machine = site.machines[name]
    machine.power_off()
    machine.boot()
    eventually(BACK_S, f"{name} is a head again", lambda: is_a_head(site, name, former))
    for _, registered in keys(site, other(name)):
        check(list(registered.values()) == [2, 2], f"registered are {registered}")


def machines_boot(site):
    """Three kernels, Debian's systemd, our packages; nothing of ours runs yet."""
    site.boot_all()
    for name, machine in site.machines.items():
        state = machine.run("systemctl is-active vnfsd symnas-etcd", check=False).split()
        check(state == ["inactive"] * 2, f"{name}: {state}")


def luns_have_two_paths(site):
    site.at_once(per_host(site.page.commands("Paths to the LUNs")))
    for head in HEADS:
        eventually(20, f"{head} has two paths to each LUN",
                   lambda head=head: paths(site, head) == PATHS)


def cluster_is_made(site):
    """A head, the witness, the second head."""
    members = 1
    for section in ("The first head", "The witness", "The second head"):
        site.carry_out(site.page.commands(section))
        eventually(60, f"{members} members of etcd vote", lambda wanted=members: [
            one["role"] for one in json.loads(site.machines["c1n1"].run(
                "symnas -o json etcd ls"))["members"]] == ["voter"] * wanted)
        members += 1
        time.sleep(6.0)  # etcd: connected for five seconds, before the next one


def imported_luns_are_well(site):
    """Both heads register at once; neither calls a LUN unreadable because the other was first."""
    site.carry_out(site.page.commands("LUNs"))
    begin = time.monotonic()
    bad_s, why = 0.0, ""
    while time.monotonic() < begin + max(2 * WELL_S, bad_s + WELL_S) and bad_s < BACK_S:
        for head in HEADS:
            asked_s = time.monotonic() - begin
            seen = status(site, head)
            errors = [one["error"] for one in (*seen["luns"], seen["reservations"])
                      if one["error"] and "registering" not in one["error"]]
            if errors:
                bad_s, why = asked_s, f"{head}: {errors[0]}"
    print(f"     LUNs imported: no head complains {bad_s:.1f} s later")
    check(bad_s <= WELL_S, f"for {bad_s:.0f} s, {why}")


def filesystem_is_served(site):
    site.carry_out(site.page.commands("A filesystem"))
    with netns.entered(site.client_netns):
        seen = subprocess.run([program("nfs_io"), "throughput", "--url", f"nfs://{VIP}/{EXPORT}",
                               "--size", "16M"], capture_output=True, text=True)
    check(seen.returncode == 0, seen.stderr)
    site.carry_out(site.page.commands("Who is registered"))
    found = keys(site, "c1n1")
    check(len(found) == LUNS, f"reserved are {found}")
    for _, registered in found:
        check(list(registered.values()) == [2, 2], f"registered are {registered}")


def path_is_lost_and_back(site):
    """The owner's cable to one SAN is pulled, and plugged in again: no operation fails."""
    move_to(site, "c1n1")
    machine = site.machines["c1n1"]
    with san_load(site, "a path lost and back", PATH_MS):
        machine.connect(SAN_B, False)
        eventually(60, "multipath has given the path up",
                   lambda: paths(site, "c1n1") == PATHS - LUNS)
        time.sleep(2.0)
        machine.connect(SAN_B, True)
        eventually(60, "the path is back", lambda: paths(site, "c1n1") == PATHS)


def array_restarts(site):
    """All paths of all heads go; the array knows registrations and reservations afterwards."""
    move_to(site, "c1n1")
    before = keys(site, "c1n1")
    with san_load(site, "the array restarted", ARRAY_MS):
        site.machines["witness"].run("systemctl restart san-array")
        for head in HEADS:
            eventually(60, f"{head} has its paths again",
                       lambda head=head: paths(site, head) == PATHS)
    check(keys(site, "c1n2") == before, f"was {before}, is {keys(site, 'c1n2')}")
    check(owner(site, VNFS) == "c1n1", "its VNFS has gone elsewhere")


def key_is_gone(site, victim, key):
    """The fence of the victim has proved that on every LUN, and the LUNs say so."""
    head = other(victim)
    fence = head_of(site, victim, head).get("fence", {})
    check(f"preempted and absent on {LUNS} LUNs" in fence.get("proof", ""), f"its fence: {fence}")
    for _, registered in keys(site, head):
        check(key not in registered, f"{key} is registered: {registered}")


def own_key(site, head):
    """The key of a head: the one on the LUNs that its fence tool computes of its boot."""
    boot = site.machines[head].run("cat /proc/sys/kernel/random/boot_id").strip()
    told = site.machines[head].run(f"symnas-fence -o json verify --own {head}/{boot} {DISKS}")
    return json.loads(told)["own"]


def owner_is_killed(site):
    """Under load: its key goes from every LUN, the other head serves; it boots and registers."""
    move_to(site, "c1n1")
    key = own_key(site, "c1n1")
    with san_load(site, "the owner killed", CRASH_MS):
        site.machines["c1n1"].power_off()
        eventually(CRASH_MS / 1e3, "the other head serves",
                   lambda: owner(site, VNFS, "c1n2") == "c1n2")
    key_is_gone(site, "c1n1", key)
    boots_again(site, "c1n1")


def paused_head_does_nothing_more(site):
    """A head stands still, is fenced, and goes on: it reads and writes no LUN, ends its instances,
    does not register again; its next boot does."""
    move_to(site, "c1n2")
    key = own_key(site, "c1n2")
    machine = site.machines["c1n2"]
    with san_load(site, "the owner paused", CRASH_MS):
        machine.pause(True)
        eventually(CRASH_MS / 1e3, "the other head serves",
                   lambda: owner(site, VNFS, "c1n1") == "c1n1")
        machine.pause(False)
        eventually(60, "its instances have ended", lambda: instances(site, "c1n2") == "0")
        eventually(30, "it says what to do",
                   lambda: "reboot this head" in machine.run("symnas status"))
        refused = machine.run(f"for disk in {DISKS}; do dd if=$disk of=/dev/null bs=4096 count=1 "
                              "iflag=direct 2>/dev/null && echo read; done", check=False)
        check("read" not in refused, "it reads a LUN")
    key_is_gone(site, "c1n2", key)
    boots_again(site, "c1n2")


def both_preempt_at_once(site):
    """The heads hear nothing of each other, each is told to fence the other: one goes on."""
    move_to(site, "c1n1")
    site.part_heads(True)
    for head in HEADS:
        status(site, head)  # its vnfsd answers
    told = site.at_once({head: [f"symnas head fence {other(head)} --yes"] for head in HEADS})
    print("     " + "; ".join(f"{head}: {text.strip()[-160:]}" for head, text in told.items()))
    left = []

    def one_is_left():
        left[:] = [head for head in HEADS if instances(site, head) != "0"]
        return len(left) == 1 and owner(site, VNFS, left[0]) == left[0]

    eventually(CRASH_MS / 1e3, "one head serves", one_is_left)
    with san_load(site, "after both have preempted", CRASH_MS):
        pass
    for _, registered in keys(site, left[0]):
        check(list(registered.values()) == [2], f"registered are {registered}")
    check(instances(site, other(left[0])) == "0", "both serve")
    site.part_heads(False)
    boots_again(site, other(left[0]))


def pacemaker_fences_by_reservations(site):
    """pacemaker decides, fence_symnas is its only device: a head stands still, its keys are
    preempted, and the other one serves. It goes on: its instances end, it is given nothing; its
    next boot takes part again. Clients come afterwards: with a load, too, these machines are too
    slow for pacemaker's own watchdogs."""
    move_to(site, "c1n1")
    key = own_key(site, "c1n1")
    machine = site.machines["c1n1"]
    pacemaker_case.pacemaker_starts(site)
    machine.pause(True)
    pacemaker_case.takes_over_from(site, "c1n1", "c1n2")
    machine.pause(False)
    eventually(60, "its instances have ended", lambda: instances(site, "c1n1") == "0")
    pacemaker_case.it_gets_nothing(site, "c1n1", "c1n2")
    key_is_gone(site, "c1n1", key)
    pacemaker_case.pacemaker_is_taken_away(site, "c1n2")
    with san_load(site, "after pacemaker has fenced", CRASH_MS):
        pass
    boots_again(site, "c1n1")


def whole_page_was_run(site):
    """No section of the page has commands that no case has carried out."""
    site.page.commands("A head that was cut off")  # both heads have been told so at once
    left = site.page.unread()
    check(not left, f"{site.page.path}: not run: {', '.join(left)}")


ALL = (machines_boot, luns_have_two_paths, cluster_is_made, imported_luns_are_well,
       filesystem_is_served, path_is_lost_and_back, array_restarts, owner_is_killed,
       paused_head_does_nothing_more, both_preempt_at_once, pacemaker_fences_by_reservations,
       whole_page_was_run)
SET_UP = ALL[:5]
