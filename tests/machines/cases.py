"""The cases: an administrator's days with three heads, each begun where the former has ended."""

import contextlib
import json
import subprocess
import time

from place import program
from symlab import netns
from symlab.errors import LabError

VIP, EXPORT = "10.99.0.101", "data"
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
def load(site, what, limit_ms, vip=VIP, pause_ms=5):
    """A client that reads, writes and creates; prints and checks its longest gap."""
    with netns.entered(site.client_netns):
        process = subprocess.Popen(
            [program("nfs_io"), "gaps", "--url", f"nfs://{vip}/{EXPORT}", "--seconds", "600",
             "--kinds", KINDS, "--pause-us", str(pause_ms * 1000)],
            stdout=subprocess.PIPE, text=True)
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


def rehost(site, to):
    """Unless it is there."""
    if owner(site) != to:
        site.machines["c1n1"].run(f"symnas vnfs rehost vnfs1 {to}")
    check(owner(site) == to, f"{owner(site)} serves it")


def owner(site, vnfs="vnfs1", asked="c1n1"):
    listed = json.loads(site.machines[asked].run("symnas -o json vnfs ls"))["vnfs"]
    return next((one["owner"] for one in listed if one["name"] == vnfs), "")


def head_of(site, name, asked="c1n1"):
    listed = json.loads(site.machines[asked].run("symnas -o json head ls"))["heads"]
    return next(one for one in listed if one["name"] == name)


def packages_are_installed(site):
    """apt installs the packages in booted machines; nothing starts before there is a cluster."""
    for machine in site.machines.values():
        machine.boot()
    site.carry_out(site.page.commands("Install"))
    for machine in site.machines.values():
        state = machine.run("systemctl is-active vnfsd symnas-etcd", check=False).split()
        check(state == ["inactive"] * 2, f"{machine.name}: {state}")
    print(site.machines["c1n1"].run("systemd-analyze security --no-pager vnfsd symnas-etcd "
                                    "| grep -i 'overall' || true").rstrip())


def join(site, name):
    site.carry_out(site.page.commands(f"A further head: {name}"))
    eventually(60, f"{name} is an etcd member", lambda: any(
        one["name"] == name and one["role"] == "voter" for one in json.loads(
            site.machines["c1n1"].run("symnas -o json etcd ls"))["members"]))


def cluster_is_made(site):
    """First head, two more with etcd members, LUNs, a filesystem, a VNFS."""
    site.carry_out(site.page.commands("The first head"))
    for name in ("c1n2", "c1n3"):
        join(site, name)
        time.sleep(5.0)  # etcd: connected for five seconds, before the next one
    site.carry_out(site.page.commands("Storage and service"))
    with netns.entered(site.client_netns):
        seen = subprocess.run([program("nfs_io"), "throughput", "--url", f"nfs://{VIP}/{EXPORT}",
                               "--size", "16M"], capture_output=True, text=True)
    check(seen.returncode == 0, seen.stderr)


def agent_restarts_unnoticed(site):
    """systemctl restart vnfsd under load: no client notices, the instance is the same."""
    check(owner(site) == "c1n1", "another head than the page's has the VNFS")
    head = site.machines["c1n1"]
    pid = head.run("pgrep -f bin/ganesha.nfsd").split()
    with load(site, "vnfsd restart", RESTART_MS):
        site.carry_out(site.page.commands("Restart the agent"))
        eventually(30, "vnfsd answers", lambda: "serving" in head.run("symnas status"))
    check(head.run("pgrep -f bin/ganesha.nfsd").split() == pid, "the instance was replaced")


def vnfs_moves(site):
    """A planned move to another head and back."""
    with load(site, "move", MOVE_MS):
        for command in site.page.commands("Move a VNFS"):
            site.carry_out([command])
            time.sleep(1.0)
    check(owner(site) == "c1n1", "it has not come back")


def head_is_upgraded(site):
    """vnfs restart and head upgrade in place: what follows the installation of a new version."""
    with load(site, "restart of an instance", MOVE_MS):
        site.carry_out(site.page.commands("Restart an instance"))
        site.machines["c1n1"].run("symnas head upgrade c1n1")


def head_reboots(site):
    """A head is drained, booted again and takes part again, as its page says, under load."""
    rehost(site, "c1n2")
    former = head_of(site, "c1n2")["incarnation"]
    before, after = site.page.commands("Reboot a head"), site.page.commands("After the reboot")
    with load(site, "a head rebooted", MOVE_MS):
        site.carry_out(before)
        check(owner(site) != "c1n2", "it still serves")
        site.machines["c1n2"].wait_off()
        site.machines["c1n2"].boot()
        eventually(60, "it is a head again", lambda: head_of(site, "c1n2")["incarnation"] != former)
        site.carry_out(after)
    eventually(60, "its etcd is a member again",
               lambda: "unreachable" not in site.machines["c1n1"].run("symnas status"))


def crashed_head_is_fenced_and_rejoins(site):
    """A head loses its power under load: it is fenced by the agent, its VNFS goes on elsewhere; it
    boots, and is a head again."""
    rehost(site, "c1n1")
    with load(site, "crash", CRASH_MS):
        site.machines["c1n1"].power_off()
        eventually(60, "another head serves", lambda: owner(site, asked="c1n2") != "c1n1")
    fence = head_of(site, "c1n1", asked="c1n2").get("fence", {})
    check("the switch has turned c1n1 off" in fence.get("proof", ""), f"its fence: {fence}")
    site.machines["c1n1"].boot()
    eventually(60, "it is a head again",
               lambda: head_of(site, "c1n1", asked="c1n2")["state"] == "serving")
    eventually(60, "its etcd is a member again",
               lambda: "unreachable" not in site.machines["c1n2"].run("symnas status"))


def head_is_replaced(site):
    """A head is drained and removed, another machine joins under its name, all under load."""
    with load(site, "a head replaced", MOVE_MS):
        rehost(site, "c1n3")
        time.sleep(6.0)  # etcd: all members connected for five seconds, or none is removed
        site.carry_out(site.page.commands("Replace a head"))
        check(owner(site) != "c1n3", "it still serves")
        site.renew("c1n3")
        site.machines["c1n3"].boot()
        site.carry_out([one for one in site.page.commands("Install") if one[0] == "c1n3"])
        join(site, "c1n3")
        site.carry_out(site.page.commands("The new head as a backup"))


def etcd_data_is_replaced(site):
    """The disk of a member of etcd is lost, its head goes on serving; it is drained and joins anew
    with an empty member, as its page says, under load."""
    rehost(site, "c1n2")
    with load(site, "etcd's data replaced", MOVE_MS):
        site.machines["c1n2"].run("systemctl stop symnas-etcd; rm -r /var/lib/symnas/etcd")
        time.sleep(2.0)
        check(owner(site) == "c1n2", "its VNFS has gone elsewhere")
        site.carry_out(site.page.commands("A head whose etcd has lost its data"))
        check(owner(site) != "c1n2", "it still serves")
        site.machines["c1n2"].wait_off()
        site.machines["c1n2"].boot()
        eventually(30, "all members of etcd are well",
                   lambda: "unreachable" not in site.machines["c1n1"].run("symnas status"))
        time.sleep(6.0)  # connected for five seconds
        join(site, "c1n2")
        site.carry_out(site.page.commands("The new head as a backup"))
    rehost(site, "c1n2")


def removal_waits_for_a_drain(site):
    """dpkg removes nothing while the head serves, and says how to empty it."""
    head = owner(site, asked="c1n2")
    refused = site.machines[head].run("apt-get -q -y remove symnas", check=False)
    check("symnas head drain" in refused, refused[-500:])
    check("serving" in site.machines[head].run("symnas status"), "it does not serve any more")


def whole_page_was_run(site):
    """No section of the page has commands that no case has carried out."""
    check(not site.page.unread(), f"{site.page.path}: not run: {', '.join(site.page.unread())}")


SHORT = (packages_are_installed, cluster_is_made, agent_restarts_unnoticed, vnfs_moves)
ALL = (*SHORT, head_reboots, head_is_upgraded, crashed_head_is_fenced_and_rejoins,
       head_is_replaced, etcd_data_is_replaced, removal_waits_for_a_drain, whole_page_was_run)
