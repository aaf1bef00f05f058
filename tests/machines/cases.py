"""The cases: an administrator's days with three heads, each begun where the former has ended."""

import contextlib
import json
import os
import subprocess
import time

from pages import Page
from place import OPERATIONS, program
from symlab import netns
from symlab.errors import LabError

VIP, EXPORT = "10.99.0.101", "data"
FIRST = Page(os.path.join(OPERATIONS, "three_heads.md"))
UPGRADES = Page(os.path.join(OPERATIONS, "upgrades.md"))
# What a client may wait for. A move and a crash are measured here on loop devices and nspawn.
RESTART_MS, MOVE_MS, CRASH_MS = 1000.0, 2000.0, 5_000.0
KINDS = "read,write,create"


def check(condition, message):
    if not condition:
        raise LabError(message)


def eventually(seconds, what, condition):
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(LabError):
            if condition():
                return
        if time.monotonic() > deadline:
            raise LabError(f"{what}: not within {seconds:g} s")
        time.sleep(0.2)


@contextlib.contextmanager
def load(site, what, limit_ms):
    """A client that reads, writes and creates; prints and checks its longest gap."""
    with netns.entered(site.client_netns):
        process = subprocess.Popen(
            [program("nfs_io"), "gaps", "--url", f"nfs://{VIP}/{EXPORT}", "--seconds", "600",
             "--kinds", KINDS, "--pause-us", "5000"], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        check("running" in line, f"the client says {line!r}")
        time.sleep(1.0)
        yield
        time.sleep(1.0)
        process.terminate()
        seen = json.loads(process.communicate(timeout=90)[0].splitlines()[-1])
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    gaps = {kind: seen[kind]["longest_gap_ms"] for kind in KINDS.split(",")}
    print(f"     {what}: longest gap of the client {max(gaps.values()):.0f} ms "
          f"({', '.join(f'{kind} {gap:.0f}' for kind, gap in gaps.items())})")
    check(all(seen[kind]["errors"] == 0 for kind in gaps), f"operations failed: {seen}")
    check(max(gaps.values()) < limit_ms, f"{what}: more than {limit_ms:g} ms")


def owner(site, vnfs="vnfs1", asked="c1n1"):
    listed = json.loads(site.machines[asked].run("symnas -o json vnfs ls"))["vnfs"]
    return next((one["owner"] for one in listed if one["name"] == vnfs), "")


def packages_are_installed(site):
    """apt installs the packages in booted machines; nothing starts before there is a cluster."""
    for machine in site.machines.values():
        machine.boot()
    site.carry_out(FIRST.commands("Install"))
    for machine in site.machines.values():
        state = machine.run("systemctl is-active vnfsd symnas-etcd", check=False).split()
        check(state == ["inactive"] * 2, f"{machine.name}: {state}")
    print(site.machines["c1n1"].run("systemd-analyze security --no-pager vnfsd symnas-etcd "
                                    "| grep -i 'overall' || true").rstrip())


def join(site, name):
    site.carry_out(FIRST.commands(f"A further head: {name}"))
    eventually(60, f"{name} is an etcd member", lambda: any(
        one["name"] == name and one["role"] == "voter" for one in json.loads(
            site.machines["c1n1"].run("symnas -o json etcd ls"))["members"]))


def cluster_is_made(site):
    """First head, two more with etcd members, LUNs, a filesystem, a VNFS."""
    site.carry_out(FIRST.commands("The first head"))
    for name in ("c1n2", "c1n3"):
        join(site, name)
        time.sleep(5.0)  # etcd: connected for five seconds, before the next one
    site.carry_out(FIRST.commands("Storage and service"))
    with netns.entered(site.client_netns):
        seen = subprocess.run([program("nfs_io"), "throughput", "--url", f"nfs://{VIP}/{EXPORT}",
                               "--size", "16M"], capture_output=True, text=True)
    check(seen.returncode == 0, seen.stderr)


def agent_restarts_unnoticed(site):
    """systemctl restart vnfsd under load: no client notices, the instance is the same."""
    head = site.machines[owner(site)]
    pid = head.run("pgrep -f bin/ganesha.nfsd").split()
    with load(site, "vnfsd restart", RESTART_MS):
        head.run("systemctl restart vnfsd")
        eventually(30, "vnfsd answers", lambda: "serving" in head.run("symnas status"))
    check(head.run("pgrep -f bin/ganesha.nfsd").split() == pid, "the instance was replaced")


def vnfs_moves(site):
    """A planned move to another head and back."""
    with load(site, "move", MOVE_MS):
        for to in ("c1n2", "c1n1"):
            site.machines["c1n1"].run(f"symnas vnfs rehost vnfs1 {to}")
            time.sleep(1.0)


def head_is_upgraded(site):
    """vnfs restart and head upgrade in place: what follows the installation of a new version."""
    with load(site, "restart of an instance", MOVE_MS):
        site.machines["c1n1"].run("symnas vnfs restart vnfs1")
        site.machines["c1n1"].run("symnas head upgrade c1n1")


def incarnation(site, head):
    listed = json.loads(site.machines["c1n1"].run("symnas -o json head ls"))["heads"]
    return next(one["incarnation"] for one in listed if one["name"] == head)


def head_reboots(site):
    """A head is drained, booted again and takes part again, as its page says, under load."""
    site.machines["c1n1"].run("symnas vnfs rehost vnfs1 c1n2 || true")
    former = incarnation(site, "c1n2")
    before, after = FIRST.commands("Reboot a head"), FIRST.commands("After the reboot")
    with load(site, "a head rebooted", MOVE_MS):
        site.carry_out(before)
        check(owner(site) != "c1n2", "it still serves")
        site.machines["c1n2"].wait_off()
        site.machines["c1n2"].boot()
        eventually(60, "it is a head again", lambda: incarnation(site, "c1n2") != former)
        site.carry_out(after)
    eventually(60, "its etcd is a member again",
               lambda: "unreachable" not in site.machines["c1n1"].run("symnas status"))


def crashed_head_is_fenced_and_rejoins(site):
    """A head loses its power under load: it is fenced by the agent, its VNFS goes on elsewhere; it
    boots, and is a head again."""
    with load(site, "crash", CRASH_MS):
        site.machines["c1n1"].power_off()
        eventually(60, "another head serves", lambda: owner(site, asked="c1n2") != "c1n1")
    site.machines["c1n1"].boot()
    eventually(60, "it is a head again", lambda: any(
        one["name"] == "c1n1" and one["state"] == "serving" for one in json.loads(
            site.machines["c1n2"].run("symnas -o json head ls"))["heads"]))
    eventually(60, "its etcd is a member again",
               lambda: "unreachable" not in site.machines["c1n2"].run("symnas status"))


def head_is_replaced(site):
    """A head is drained and removed, another machine joins under its name, all under load."""
    with load(site, "a head replaced", MOVE_MS):
        site.machines["c1n1"].run("symnas vnfs rehost vnfs1 c1n3 || true")
        time.sleep(6.0)  # etcd: all members connected for five seconds, or none is removed
        site.carry_out(FIRST.commands("Replace a head"))
        check(owner(site) != "c1n3", "it still serves")
        site.renew("c1n3")
        site.machines["c1n3"].boot()
        site.carry_out([one for one in FIRST.commands("Install") if one[0] == "c1n3"])
        join(site, "c1n3")
        site.machines["c1n1"].run("symnas vnfs set vnfs1 --heads c1n1,c1n2,c1n3")


def versions(site):
    """Of all vnfsds, and of the VNFS's instance."""
    heads = json.loads(site.machines["c1n1"].run("symnas -o json head ls"))["heads"]
    vnfses = json.loads(site.machines["c1n1"].run("symnas -o json vnfs ls"))["vnfs"]
    return {one["version"] for one in heads} | {one["version"] for one in vnfses}


def all_heads_are_upgraded(site):
    """A later version comes to one head after the other, by apt, under load."""
    if not site.has_next():
        print("     not run: there is no later version (make packages-test makes one)")
        return
    before = versions(site)
    with load(site, "upgrade of all heads", MOVE_MS):
        for name in site.machines:
            site.take_next(name)
            for _, command in UPGRADES.commands("A head"):
                site.machines[name].run(command)
            eventually(60, f"{name} is a head", lambda head=name: "serving" in json.dumps([
                one for one in json.loads(site.machines["c1n1"].run("symnas -o json head ls"))[
                    "heads"] if one["name"] == head]))
    eventually(30, "all is of the later version",
               lambda: len(versions(site)) == 1 and versions(site) != before)


def removal_waits_for_a_drain(site):
    """dpkg removes nothing while the head serves; a drained head is removed from the cluster."""
    head = owner(site, asked="c1n2")
    refused = site.machines[head].run("apt-get -q -y remove symnas", check=False)
    check("symnas head drain" in refused, refused[-500:])
    check("serving" in site.machines[head].run("symnas status"), "it does not serve any more")


SHORT = (packages_are_installed, cluster_is_made, agent_restarts_unnoticed, vnfs_moves)
ALL = (*SHORT, head_reboots, head_is_upgraded, crashed_head_is_fenced_and_rejoins,
       head_is_replaced, all_heads_are_upgraded, removal_waits_for_a_drain)
