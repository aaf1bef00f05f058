"""Heads join and leave the cluster while clients work."""

import os

import labs
from lab_case import check, eventually, lab_test
from labs import HEADS
from steps.deadlines import BETWEEN_S
from steps.exit_status import CONFLICT
from steps.load import MEASURED, coherent_clients
from symlab.errors import LabError

NOTICED_S = 15.0


def heads(bench):
    return [head["name"] for head in bench.symnas.json("head", "ls")["heads"]]


def is_turned_away(bench, name):
    try:
        bench.lab.symnas(name)("vnfs", "ls")
    except LabError as error:
        return "was removed from the cluster" in str(error)
    return False


@lab_test("operations/commands.md", lab=labs.BACKUPS, ends_lab=True)
def heads_come_and_go_under_load(bench):
    """A head is removed and joins again, another is drained and removed: nothing fails."""
    service = bench.services[0]
    guest, leaving = f"c1n{HEADS}", f"c1n{HEADS - 1}"  # the latter has an etcd member
    with coherent_clients(bench, "--stable", "1"), \
            bench.load(*MEASURED, "read,write", service=service) as load:
        bench.let_run(BETWEEN_S)
        told = bench.refused(CONFLICT, "head", "rm", guest, "--yes")
        check(f"symnas head drain {guest}" in told, told)
        bench.symnas("head", "drain", guest, "--wait", timeout_s=150)
        told = bench.refused(CONFLICT, "head", "rm", guest)
        check("may move to it" in told, told)
        bench.symnas("head", "rm", guest, "--yes")
        check(guest not in heads(bench), f"there are {heads(bench)}")
        eventually(NOTICED_S, "its vnfsd says so", lambda: is_turned_away(bench, guest))
        # Another machine is invited under its name: that does not let this one in again.
        bundle = os.path.join(bench.lab.head(guest)["dir"], "other.bundle")
        bench.symnas("head", "invite", guest, "--address", bench.lab.head(guest)["mgmt"], "--out",
                     bundle)
        os.unlink(bundle)
        bench.let_run(BETWEEN_S)
        check(guest not in heads(bench) and is_turned_away(bench, guest), "it is back")
        bench.lab.join_anew(guest)
        check(guest in heads(bench), f"there are {heads(bench)}")
        bench.symnas("vnfs", "set", service.name, "--heads", f"{service.home},c1n2,{guest}")
        eventually(NOTICED_S, "it takes the VNFS", lambda: [
            bench.symnas("vnfs", "rehost", service.name, guest)])
        service.head = guest
        bench.let_run(BETWEEN_S)
        bench.symnas("head", "drain", leaving, "--wait", timeout_s=150)
        told = bench.symnas("head", "rm", leaving, "--yes")
        check(f"etcd {leaving}: removed" in told, told)
        eventually(NOTICED_S, "its vnfsd says so", lambda: is_turned_away(bench, leaving))
        bench.let_run(BETWEEN_S)
        service.wait_serving()  # the agents begin anew when etcd's members have changed
    for kind in ("read", "write"):
        check(load.seen[kind]["errors"] == 0, f"{kind} failed: {load.seen}")
        print(f"     {kind}: longest gap {load.seen[kind]['longest_gap_ms']:.0f} ms in one rehost")
    bench.discard()  # its heads are not those that the next test expects
