"""From devices that nobody has labelled to a served filesystem: `lun scan`, `quickstart`."""

import os

import labs
from lab_case import check, eventually, lab_test
from steps.exit_status import CONFLICT, USAGE
from symlab import product
from symlab.cluster import CLIENT_ADDRESS, Lab
from symlab.service import Service

HEADS = ["c1n1", "c1n2", "c1n3"]
VIPS = ["10.0.0.101", "10.0.0.102"]
STEPS = 7
SEEN_S = 20.0


def make_swap(path):
    """Gives a file the header of a swap area."""
    with open(path, "r+b") as file:
        os.pwrite(file.fileno(), b"\1\0\0\0\1\0\0\0", 1024)
        os.pwrite(file.fileno(), b"SWAPSPACE2", 4096 - 10)


def make_blank(path):
    size = os.path.getsize(path)
    os.truncate(path, 0)
    os.truncate(path, size)


def scanned(symnas, *paths):
    """The rows of `lun scan`, by the files' names."""
    return {os.path.basename(row["path"]): row
            for row in symnas.json("lun", "scan", *paths)["devices"]}


def fails(symnas, status, *words):
    """What a command that ends so says."""
    try:
        symnas(*words)
    except product.CommandFailed as failed:
        check(failed.status == status, f"ended with {failed.status}: {failed.output}")
        return failed.output
    raise AssertionError(f"`symnas {' '.join(words)}` was accepted")


def check_nothing_proposed_is_done(symnas, blank):
    """Without --commit, and with it as long as something is missing, nothing is changed."""
    proposal = symnas.json("quickstart")
    imports = [step["words"] for step in proposal["steps"] if step["words"][0] == "lun"]
    check(imports == [["lun", "import", f"LUN0={blank}"]], f"it would import {imports}")
    check(len(proposal["missing"]) == 2, f"missing: {proposal['missing']}")
    told = fails(symnas, USAGE, "quickstart", "--commit")
    check("--vip" in told and "--network" in told, told)
    for noun in ("network", "lun", "volume", "fs", "export", "vnfs"):
        left = [rows for rows in symnas.json(noun, "ls").values() if rows]
        check(not left, f"`symnas {noun} ls` after a proposal: {left}")


@lab_test("operations/commands.md", "operations/first_cluster.md", lab=labs.OWN_LAB_OF_SEVERAL)
def quickstart_serves_an_empty_lab(bench):
    """Three heads, devices with and without something on them: two VNFSs serve one filesystem."""
    lab = Lab(bench.prefix[:6] + "q")
    lab.down()
    try:
        lab.up(len(HEADS), 2, "256M")
        symnas = lab.symnas()
        luns = [lun["path"] for lun in lab.state.data["luns"]]
        swap, blank = lab.add_lun("swap", "64M"), lab.add_lun("blank", "64M")
        make_swap(swap)
        make_blank(blank)
        seen = scanned(symnas)
        states = {name: (row["state"], row["what"]) for name, row in seen.items()}
        check(states == {os.path.basename(luns[0]): ("free", "bytes of no known kind"),
                         os.path.basename(luns[1]): ("free", "bytes of no known kind"),
                         os.path.basename(swap): ("data", "swap filesystem or volume member"),
                         os.path.basename(blank): ("free", "")}, f"`lun scan` shows {states}")
        check_nothing_proposed_is_done(symnas, blank)

        words = ["quickstart", *luns, swap, "--vip", f"{VIPS[0]}/24", "--network", "nfs0=eth1",
                 "--name", "u04", "--squash", "none", "--commit"]
        # The last step fails: somebody has that address.
        told = fails(symnas, CONFLICT, *words, "--vip", f"{CLIENT_ADDRESS}/24")
        check(f"step {STEPS} of {STEPS}" in told and f"{STEPS - 1} steps were done" in told, told)
        output = symnas(*words, "--vip", f"{VIPS[1]}/24")
        check(output.startswith("[1/1] symnas vnfs create vnfs2 "), output)
        for vip in VIPS:
            check(f"mount -o vers=4.1 {vip}:/u04 /mnt" in output, output)
            Service(lab).run_tool("nfs_io", "gaps", "--seconds", "1", "--kinds", "read,write",
                                  url=f"nfs://{vip}/u04")
        rows = {row["name"]: row["heads"] for row in symnas.json("vnfs", "ls")["vnfs"]}
        check(rows == {"vnfs1": ["c1n1", "c1n3", "c1n2"], "vnfs2": ["c1n2", "c1n3", "c1n1"]},
              f"the VNFSs' heads: {rows}")

        def known_to_all():
            row = scanned(symnas, luns[0])[os.path.basename(luns[0])]
            return row["state"] == "imported" and row["volume"] == "v1" and row["heads"] == HEADS
        eventually(SEEN_S, "`lun scan` names the LUN and all heads", known_to_all)
        check(scanned(symnas, swap)[os.path.basename(swap)]["state"] == "data", "swap was touched")
        check("all of it is there" in symnas(*words, "--vip", f"{VIPS[1]}/24"), "not idempotent")
    finally:
        lab.down()
