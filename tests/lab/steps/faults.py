"""Faults that several cases make, and the way back to a healthy lab."""

import contextlib
import os
import signal

from lab_case import check, eventually
from steps.cluster import fence_state, mounts_of, owner
from steps.deadlines import TAKEN_OVER_S
from steps.exit_status import UNREACHABLE
from symlab.faults import Faults
from symlab.reservations import Array


def boot_again(bench, service):
    """A head that was fenced serves again, and some load after it."""
    bench.lab.unfence(service.head)
    service.wait_serving()
    bench.let_run(2.0)


@contextlib.contextmanager
def automatic_fencing(bench, cuts="luns"):
    bench.lab.set_fencing(automatic=True, cuts=cuts)
    try:
        yield
    finally:
        bench.lab.set_fencing(automatic=False)


@contextlib.contextmanager
def paused(bench, *names):
    """Processes of the lab stand still."""
    for name in names:
        bench.signal_process(name, signal.SIGSTOP)
    try:
        yield
    finally:
        for name in names:
            bench.signal_process(name, signal.SIGCONT)


def serves(bench, service):
    """Its owner, when that head says that it serves and no order is left."""
    for vnfs in bench.symnas.json("vnfs", "ls")["vnfs"]:
        if vnfs["name"] == service.name and (vnfs.get("move") or not vnfs["owner"]):
            return None
    service.head = owner(bench, service)
    return service.head and service.serving() and service.head


WELL_S = 100.0  # a minute without a fault
FREEZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "frozen_threads.py")


@contextlib.contextmanager
def cut_off(bench, head, *parts):
    """The head reaches none of these; healed afterwards."""
    faults = Faults(bench.lab)
    try:
        for part in parts:
            faults.partition(head, part)
        yield
    finally:
        faults.heal(head)


def take_over(bench, service, home):
    """Waits until the first backup serves the VNFS; it is where `service` is then."""
    names = [head["name"] for head in bench.lab.state.data["heads"]]
    backup = names[(names.index(home) + 1) % len(names)]
    service.head = eventually(4 * TAKEN_OVER_S, f"{backup} serves {service.name}",
                              lambda: owner(bench, service) == backup and backup)
    check(backup != home, "it did not move")
    return service.wait_serving()


def bring_home(bench, service, home):
    """The fenced head boots, and the VNFS goes back."""
    bench.lab.unfence(home)
    eventually(2 * TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
    service.rehost(home)
    bench.lab.wait_members()


def wait_luns_well(bench):
    """Every head trusts its LUNs again, so that the next test finds them in its record."""
    def well():
        return not [lun for head in bench.lab.state.data["heads"]
                    for lun in bench.lab.symnas(head["name"]).json("status")["luns"]
                    if lun["error"]]
    eventually(WELL_S, "every head reaches its LUNs well", well)


def wait_networks_well(bench):
    """The same of their networks."""
    def well():
        return not [network for head in bench.lab.state.data["heads"]
                    for network in bench.lab.symnas(head["name"]).json("status")["networks"]
                    if network["error"]]
    eventually(WELL_S, "every head reaches its networks well", well)


@contextlib.contextmanager
def breaking(bench, way):
    Array(bench.lab).break_with(way)
    try:
        yield
    finally:
        Array(bench.lab).break_with("")


def check_unproven(bench, service, breaking):
    """The head stands still. Each way to break what fences it leaves all as it was."""
    for way in ("fails", "hangs", "lies"):
        with breaking(bench, way):
            told = bench.refused(UNREACHABLE, "head", "fence", service.home, "--yes")
        print(f"     {way}: {told}")
        check("not fenced" in told, told)
        check(False in mounts_of(bench, service).values(), f"{way}: a mount was ended")
        check(owner(bench, service) == service.home, f"{way}: its VNFS was claimed")
        check(fence_state(bench, service.home) == "failed", f"{way}: it is not recorded")
