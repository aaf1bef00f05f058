"""The cases: a cluster made and changed by playbooks, each begun where the former has ended."""

import json
import subprocess

from cases import EXPORT, MOVE_MS, VIP, check, eventually, load
from place import program
from reached import SECRET
from symlab import netns
from upgrades import versions

BOOK = "cluster.yml"


def listed(site, noun, key):
    """Objects of the cluster by name."""
    text = site.machines["c1n1"].run(f"symnas -o json {noun} ls")
    return {one["name"]: one for one in json.loads(text)[key]}


def use(site, vip=VIP, export=EXPORT):
    """A client writes and reads."""
    with netns.entered(site.client_netns):
        seen = subprocess.run([program("nfs_io"), "throughput", "--url", f"nfs://{vip}/{export}",
                               "--size", "8M"], capture_output=True, text=True, timeout=60)
    check(seen.returncode == 0, seen.stderr)


def nothing_to_change(site):
    played = site.play(BOOK).succeeded()
    check(played.changed == 0, f"{played.changed} tasks have changed something: {played.text}")


def machines_boot(site):
    """They have sshd, and nothing of symnas."""
    for machine in site.machines.values():
        machine.boot()
        check(not machine.run("command -v symnas", check=False), "symnas is there")


def wrong_variable_is_refused(site):
    """With words, before anything is done."""
    right = site.variables
    site.variables = {**right, "symnas_vnfs": [{**right["symnas_vnfs"][0], "exports": ["dta"]}]}
    site.play(BOOK).refused("exports 'dta' is not in symnas_exports: add it there")
    site.variables = {**right, "symnas_exports": [{**right["symnas_exports"][0],
                                                   "squash": "some"}]}
    site.play(BOOK).refused("squash 'some': write one of root, none, all")
    site.variables = {**right, "symnas_repository_trusted": False}
    site.play(BOOK).refused("symnas_repository has no key")
    site.variables = right
    check(not site.machines["c1n1"].run("ls /etc/apt/sources.list.d"), "something was done")


def check_mode_changes_nothing(site):
    """It says what would be done."""
    played = site.play(BOOK, "--check").succeeded()
    for words in ("would install symnas", "would make cluster prod", "c1n2 would join",
                  "would run symnas vnfs create vnfs1"):
        check(words in played.text, f"did not say '{words}': {played.text}")
    check(not site.machines["c1n1"].run("command -v symnas", check=False), "symnas is there")


def cluster_of_two_heads_is_made(site):
    """From machines without a package to a client that writes and reads."""
    site.play(BOOK).succeeded()
    use(site)
    for name in site.heads:
        check(not site.machines[name].run("ls /run/*.bundle", check=False).startswith("/run"),
              f"{name}: an invitation is left")
    check(listed(site, "vnfs", "vnfs")["vnfs1"]["heads"] == site.heads, "heads of vnfs1")


def second_run_changes_nothing(site):
    nothing_to_change(site)


def third_head_joins(site):
    """One more host of the inventory joins, becomes a member of etcd and a backup."""
    site.heads = ["c1n1", "c1n2", "c1n3"]
    with load(site, "a head joins", MOVE_MS):
        played = site.play(BOOK, "-vvv").succeeded()
    journal = site.machines["c1n3"].run("journalctl --no-pager")
    for secret in ("PRIVATE KEY", SECRET):
        check(secret not in played.text and secret not in journal, f"{secret} was shown")
    check(SECRET in site.machines["c1n3"].run("cat /etc/symnas/vnfsd.toml"), "no fence options")
    check(listed(site, "vnfs", "vnfs")["vnfs1"]["heads"] == site.heads, "heads of vnfs1")
    members = listed(site, "etcd", "members")
    check({one["role"] for one in members.values()} == {"voter"} and len(members) == 3,
          f"etcd: {members}")


def vnfs_is_added_and_export_changed(site):
    """Said by --check, then done; the second VNFS has another order of heads."""
    site.variables["symnas_vnfs"].append(
        {"name": "vnfs2", "vips": ["10.99.0.102/24"], "networks": ["nfs0"], "exports": ["more"],
         "heads": ["c1n2", "c1n3"], "failback": "auto"})
    site.variables["symnas_volumes"].append({"name": "v2", "luns": ["LUN3"]})
    site.variables["symnas_filesystems"].append({"name": "more", "volume": "v2", "mode": "1777"})
    site.variables["symnas_exports"].append(
        {"name": "more", "filesystem": "more", "clients": ["10.99.0.0/24"]})
    site.variables["symnas_exports"][0].update(rules=["10.99.0.7:ro,all_squash,anonuid=99"])
    said = site.play(BOOK, "--check").succeeded()
    check("would run symnas export set data" in said.text, said.text)
    check("vnfs2" not in listed(site, "vnfs", "vnfs"), "--check has made it")
    with load(site, "a VNFS and an export's options", MOVE_MS):
        site.play(BOOK).succeeded()
    use(site, "10.99.0.102", "more")
    rule = listed(site, "export", "exports")["data"]["rules"][0]  # the most specific one
    check(rule["who"].startswith("10.99.0.7") and rule["access"] == "ro" and
          rule["squash"] == "all" and rule["anon"] == "99:65534", f"its first rule: {rule}")
    site.variables["symnas_vnfs"][1]["heads"] = ["c1n3", "c1n2"]
    site.variables["symnas_volumes"][0]["luns"].append("LUN2")
    site.play(BOOK).succeeded()
    check(listed(site, "vnfs", "vnfs")["vnfs2"]["heads"] == ["c1n3", "c1n2"], "heads of vnfs2")
    check(len(listed(site, "volume", "volumes")["v1"]["luns"]) == 3, "LUNs of v1")
    nothing_to_change(site)


def lasting_difference_is_refused(site):
    """What cannot be changed in place is said; nothing else is changed then."""
    right = site.variables["symnas_vnfs"][1]
    site.variables["symnas_vnfs"][1] = {**right, "vips": ["10.99.0.103/24"], "failback": "manual"}
    site.play(BOOK).refused("vnfs vnfs2: vips is 10.99.0.102/24, 10.99.0.103/24 is wanted")
    check(listed(site, "vnfs", "vnfs")["vnfs2"]["failback"] == "auto", "changed all the same")
    site.variables["symnas_vnfs"][1] = right
    site.variables["symnas_fence_cuts"] = "luns"
    site.play(BOOK).refused("fence.cuts in /etc/symnas/vnfsd.toml and the variables differ")
    site.variables["symnas_fence_cuts"] = "power"


def all_heads_are_upgraded(site):
    """upgrade.yml brings a later version to one head after the other, under load."""
    before = versions(site)
    site.bring("next")
    with load(site, "upgrade of all heads", MOVE_MS):
        site.play("upgrade.yml").succeeded()
    eventually(30, "all is of the later version",
               lambda: len(versions(site)) == 1 and versions(site) != before)
    played = site.play("upgrade.yml").succeeded()
    check(played.changed == 0, f"again: {played.text}")


ALL = (machines_boot, wrong_variable_is_refused, check_mode_changes_nothing,
       cluster_of_two_heads_is_made, second_run_changes_nothing, third_head_joins,
       vnfs_is_added_and_export_changed, lasting_difference_is_refused, all_heads_are_upgraded)
