"""The cases of a cluster that the previous release has made: it is upgraded under load, each begun
where the former has ended."""

import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import time

from cases import (EXPORT, MOVE_MS, VIP, check, cluster_is_made, eventually, head_of, load, owner,
                   packages_are_installed, rehost)
from pages import Page
from place import OPERATIONS, TOP
from symlab import netns

UPGRADES = Page(os.path.join(OPERATIONS, "upgrades.md"))
PACKAGES = Page(os.path.join(OPERATIONS, "packages.md"))
# What stands for dpkg-deb: dpkg is killed when it has half of the package's files.
KILLER = r"""mkdir -p /usr/local/stand-in; cat >/usr/local/stand-in/dpkg-deb <<'EOS'
#!/bin/sh
case "$*" in
  *--fsys-tarfile*/symnas_*)
    /usr/bin/dpkg-deb "$@" | head -c 3000000
    sleep 1; kill -KILL "$PPID" ;;
  *) exec /usr/bin/dpkg-deb "$@" ;;
esac
EOS
chmod +x /usr/local/stand-in/dpkg-deb"""


class Locker:
    """An NFSv4.1 client that locks ranges of a file. What it holds stays for a while."""

    def __init__(self, site, name):
        with netns.entered(site.client_netns):
            self.process = subprocess.Popen(
                [sys.executable, os.path.join(TOP, "tests", "client", "nfs4_locks"),
                 "--url", f"nfs://{VIP}/{EXPORT}", "--file", name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check(self.process.stdout.readline() == "ready\n", "the file of locks cannot be opened")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def held_lock(site):
    """A client holds a lock all the time; yields what checks that it does."""
    name = f"locked-{time.monotonic_ns()}"
    with contextlib.closing(Locker(site, name)) as holder, \
            contextlib.closing(Locker(site, name)) as other:
        check(holder.ask("hold 0 100") == "granted", "no lock is granted")

        def is_held():
            check(holder.ask("hold 200 100") == "granted", "the holder gets no further lock")
            check(other.ask("hold 0 100") == "denied", "the lock was lost")

        is_held()
        yield is_held
        is_held()


def versions(site):
    """Of all vnfsds, and of the VNFS's instance."""
    heads = json.loads(site.machines["c1n1"].run("symnas -o json head ls"))["heads"]
    vnfses = json.loads(site.machines["c1n1"].run("symnas -o json vnfs ls"))["vnfs"]
    return {one["version"] for one in heads} | {one["version"] for one in vnfses}


def version_of(site, repository):
    """What vnfsds of these packages call themselves."""
    with open(os.path.join(site.repositories[repository], "Packages"), encoding="utf-8") as file:
        found = [line.split()[1] for line in file if line.startswith("Version: ")]
    return found[0].rpartition("-")[0]


def upgrade(site, name, repository):
    """As the page says. The version of a repository comes to a head and to its instance."""
    site.take(name, repository)
    install, instances = (command for _, command in UPGRADES.commands("A head"))
    site.machines[name].run(install)
    eventually(60, f"{name} has the version",
               lambda: head_of(site, name)["version"] == version_of(site, repository))
    # Refused while somebody else has the VNFS on its way.
    eventually(60, f"the instance of {name} is upgraded",
               lambda: site.machines[name].run(instances) is not None)


def instances_on(site, name):
    return site.machines[name].run("pgrep -f bin/ganesha.nfsd").split()


def previous_release_serves(site):
    """The packages of the previous release are installed, and make a cluster, by its own page."""
    packages_are_installed(site)
    cluster_is_made(site)
    check(versions(site) == {version_of(site, "previous")}, f"its version: {versions(site)}")


def heads_of_two_versions(site):
    """One head is upgraded; the VNFS moves between both versions under load and with a lock."""
    with load(site, "two versions", MOVE_MS), held_lock(site) as is_held:
        upgrade(site, "c1n1", "this")
        for head in ("c1n2", "c1n1", "c1n3", "c1n1", "c1n2"):
            rehost(site, head)
            is_held()
        check(versions(site) == {version_of(site, one) for one in ("previous", "this")},
              f"versions: {versions(site)}")


def two_heads_are_upgraded_at_once(site):
    """While one of them serves. etcd goes on: it is the same."""
    others = ("c1n2", "c1n3")
    check(owner(site) == "c1n2", "another head serves")

    def members():
        return [site.machines[name].run("systemctl show -P MainPID symnas-etcd") for name in others]

    before = members()
    with load(site, "two heads upgraded at once", MOVE_MS), held_lock(site), \
            concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(upgrade, site, name, "this") for name in others]:
            done.result()
    check(versions(site) == {version_of(site, "this")}, f"versions: {versions(site)}")
    check(members() == before, "a member of etcd was restarted")


def finish(site, name):
    """What the page says for an interrupted upgrade, then the instance."""
    for _, command in PACKAGES.commands("Upgrading"):
        site.machines[name].run(command)
    upgrade(site, name, "next")


def dpkg_is_killed(site):
    """In the middle of an upgrade: the VNFS serves on, and the commands of the page finish it."""
    rehost(site, "c1n1")
    head = site.machines["c1n1"]
    before = instances_on(site, "c1n1")
    site.take("c1n1", "next")
    with load(site, "dpkg killed", MOVE_MS):
        head.run(KILLER)
        said = head.run("apt-get -q update; apt-get -q -y -o DPkg::Path=/usr/local/stand-in:$PATH "
                        "install symnas", check=False)
        check("exited unexpectedly" in said, said[-1000:])
        check(instances_on(site, "c1n1") == before, "the instance was replaced")
        finish(site, "c1n1")
    check(owner(site) == "c1n1", "the VNFS has not come back")


def var_is_full(site):
    """During an upgrade: it ends in words, and the head's etcd ends, too. The VNFS serves on, with
    the other members; then there is room."""
    rehost(site, "c1n2")
    head = site.machines["c1n2"]
    before = instances_on(site, "c1n2")
    site.take("c1n2", "next")
    with load(site, "/var full", MOVE_MS):
        head.run("apt-get -q update; cat /dev/zero >/var/full", check=False)
        said = head.run("apt-get -q -y install symnas", check=False)
        check("No space left on device" in said, said[-1000:])
        eventually(60, "etcd cannot write", lambda: head.run(
            "systemctl is-active symnas-etcd", check=False).strip() != "active")
        check(instances_on(site, "c1n2") == before, "the instance was replaced")
        head.run("rm /var/full")
        finish(site, "c1n2")
    eventually(60, "all members of etcd are well",
               lambda: "unreachable" not in site.machines["c1n1"].run("symnas status"))


def downgrade(site, name):
    """Of one head by the page; what it printed."""
    site.take(name, "this")
    said = ""
    for host, command in PACKAGES.commands("Downgrading"):
        check(host == name, f"the page downgrades {host}")
        # Whatever is the earlier version of the page.
        command = command.replace("=0.2.0-", f"={version_of(site, 'this')}-")
        said += site.machines[name].run(command, check=False)
    return said


def level_is_raised(site):
    """When all heads could. Until then a head goes back to the version before, then no more."""
    first = site.machines["c1n1"]
    with load(site, "level and downgrade", MOVE_MS), held_lock(site) as is_held:
        refused = first.run("symnas cluster raise-level", check=False)
        check("head c1n3: has run" in refused, refused)
        upgrade(site, "c1n3", "next")
        check("symnas cluster raise-level" in first.run("symnas status"), "status names no level")

        downgrade(site, "c1n3")
        eventually(60, "c1n3 has the earlier version",
                   lambda: head_of(site, "c1n3")["version"] == version_of(site, "this"))
        rehost(site, "c1n3")
        is_held()
        refused = first.run("symnas cluster raise-level", check=False)
        check("head c1n3: has run" in refused, refused)

        upgrade(site, "c1n3", "next")
        first.run("symnas cluster raise-level")
        rehost(site, "c1n3")
        before = instances_on(site, "c1n3")
        said = downgrade(site, "c1n3")
        check("this cluster has records of level" in said, said[-1000:])
        check(instances_on(site, "c1n3") == before, "the instance was replaced")
        check("serving" in site.machines["c1n3"].run("symnas vnfs status"), "it does not serve")
    check(versions(site) == {version_of(site, "next")}, f"versions: {versions(site)}")


def lower_level_stays_out(site):
    """Packages do not know the level while vnfsd is off; then vnfsd says it, and does nothing."""
    head = site.machines["c1n3"]
    with load(site, "a vnfsd of a lower level", MOVE_MS):
        site.machines["c1n1"].run("symnas head drain c1n3 --wait")
        head.run("systemctl stop vnfsd")
        downgrade(site, "c1n3")
        eventually(30, "it says why", lambda: "has records of level" in head.run(
            "symnas vnfs ls", check=False))
        before = head_of(site, "c1n3")
        check(before["version"] == version_of(site, "next"), "it has registered")
        upgrade(site, "c1n3", "next")
        eventually(60, "c1n3 is a head again", lambda: head_of(site, "c1n3")["agent_started_ns"] >
                   before["agent_started_ns"])
        site.machines["c1n1"].run("symnas head undrain c1n3")


ALL = (previous_release_serves, heads_of_two_versions, two_heads_are_upgraded_at_once,
       dpkg_is_killed, var_is_full, level_is_raised, lower_level_stays_out)
