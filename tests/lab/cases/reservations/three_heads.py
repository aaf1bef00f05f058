"""Three heads that fence each other by persistent reservations (symlab/reservations.py)."""

import contextlib
import os
import signal
import threading
import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, mounts_of, owner, victim
from steps.exit_status import CONFLICT, UNREACHABLE
from steps.faults import automatic_fencing, breaking, check_unproven
from steps.load import coherent_clients
from symlab import processes, product
from symlab.errors import LabError
from symlab.faults import Faults
from symlab.reservations import Array, key_of

FENCED_S = 60.0
MOVED_S = 30.0
TOLD_S = 20.0
UNREGISTERED_S = 12.0
TIMEOUT_S = 3  # of the program, where it hangs


def registered(bench, head):
    """On how many LUNs the head's boot is registered, of how many."""
    names = [lun["name"] for lun in bench.symnas.json("lun", "ls")["luns"]]
    return sum(has_key(bench, head, name) for name in names), len(names)


def has_key(bench, head, lun):
    with Array(bench.lab).changing() as state:
        return key_of(bench.lab.incarnation(head)) in state["luns"].get(lun, {})


def all_registered(bench, head):
    have, want = registered(bench, head)
    if have != want or want == 0:
        raise LabError(f"{head} is registered on {have} of {want} LUNs")
    return True


def all_ready(bench):
    """Every VNFS serves, and every vnfsd that was started anew knows that it is registered."""
    for serving in bench.services:
        serving.wait_serving()
        symnas = bench.lab.symnas(serving.head)
        eventually(TOLD_S, f"{serving.head} is registered", lambda symnas=symnas: symnas.json(
            "status")["reservations"] == {"error": ""})


def moved(bench, service):
    """Its owner, once that is another head."""
    now = owner(bench, service)
    return now if now not in (None, service.home) else None


def boot(bench, head):
    """Its agent may be ready later only."""
    with contextlib.suppress(LabError):
        bench.lab.unfence(head)


def goes_home(bench, service):
    """The victim boots again, registers, and takes its VNFS back."""
    away = owner(bench, service)
    bench.lab.unfence(service.home)
    bench.lab.wait_members()
    eventually(TOLD_S, "the next boot is registered", lambda: all_registered(bench, service.home))
    eventually(TOLD_S, "its fence is over", lambda: fence_state(bench, service.home) is None)
    service.head = away
    eventually(MOVED_S, "it can go home", lambda: [service.rehost(service.home)])
    service.wait_serving()


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def heads_register_before_they_serve(bench):
    """Records know the LUNs' identifications; every head is registered on all of them."""
    luns = bench.symnas.json("lun", "ls")["luns"]
    check(all(lun["identification"] == f"lab.{lun['name']}" for lun in luns), str(luns))
    for service in bench.services:
        all_registered(bench, service.head)
        told = bench.lab.symnas(service.head).json("status")["reservations"]
        check(told == {"error": ""}, f"{service.head}: {told}")


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def reservations_fence_a_head(bench):
    """A head is cut off from every LUN under load: its VNFS moves; it boots again."""
    service = victim(bench)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        said = bench.symnas("head", "fence", service.home, "--yes", timeout_s=FENCED_S)
        check("preempted and absent on 4 LUNs: lab.LUN0" in said, f"no proof is named: {said}")
        eventually(MOVED_S, "its VNFS is served elsewhere", lambda: moved(bench, service))
        check(registered(bench, service.home)[0] == 0, "its key is there")
        eventually(TOLD_S, "somebody is told to reboot it",
                   lambda: "reboot" in bench.lab.symnas(service.home)("status"))
        bench.let_run(3.0)
        goes_home(bench, service)
        bench.let_run(2.0)


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def unproven_reservations_end_nothing(bench):
    """The program fails, hangs or lies: nothing is claimed, files stay blocked."""
    service = victim(bench)
    faults = Faults(bench.lab)
    bench.lab.set_fence_timeout(TIMEOUT_S)
    try:
        all_ready(bench)
        faults.pause(service.home)
        check_unproven(bench, service, breaking)
        bench.symnas("head", "fence", service.home, "--yes", timeout_s=FENCED_S)
        eventually(MOVED_S, "its VNFS is served elsewhere", lambda: moved(bench, service))
        goes_home(bench, service)
    finally:
        with contextlib.suppress(LabError):
            faults.resume(service.home)
        bench.lab.set_fence_timeout(60)


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def luns_cannot_change_while_a_head_is_fenced(bench):
    """No LUN is imported between a fence record and the end records."""
    service = victim(bench)
    path = bench.lab.add_lun("LATE", "64M")
    refused = []

    def fence():
        with contextlib.suppress(product.CommandFailed):
            bench.lab.symnas()("head", "fence", service.home, "--yes", timeout_s=FENCED_S)
    bench.lab.set_fence_timeout(TIMEOUT_S)
    try:
        all_ready(bench)
        with breaking(bench, "hangs"):
            fencing = threading.Thread(target=fence)
            fencing.start()
            eventually(TOLD_S, "the fence runs",
                       lambda: fence_state(bench, service.home) == "running")
            refused.append(bench.refused(CONFLICT, "lun", "import", f"LATE={path}"))
            fencing.join()
    finally:
        bench.lab.set_fence_timeout(60)
    check(f"symnas head fence {service.home} --yes" in refused[0], refused[0])
    for serving in bench.services:
        serving.wait_serving()
    bench.symnas("lun", "import", f"LATE={path}")
    for serving in bench.services:
        eventually(TOLD_S, "registered on the new LUN",
                   lambda head=serving.head: all_registered(bench, head))
    bench.symnas("lun", "release", "LATE")


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def dead_unused_lun_stops_no_head(bench):
    """A LUN that no volume uses dies: a starting vnfsd serves; the LUN can be forgotten."""
    service = victim(bench)
    path = bench.lab.add_lun("DEAD", "64M")
    for serving in bench.services:
        serving.wait_serving()
    bench.symnas("lun", "import", f"DEAD={path}")
    for serving in bench.services:
        eventually(TOLD_S, "registered on the new LUN",
                   lambda head=serving.head: all_registered(bench, head))
    Array(bench.lab).lose("DEAD")
    bench.kill_process(f"vnfsd.{service.home}")
    bench.lab.start_vnfsd(service.home)
    there = bench.lab.symnas(service.home)
    eventually(TOLD_S, "a person is told what to do",
               lambda: "symnas lun release DEAD --forget" in there("status"))
    killed = eventually(TOLD_S, "it is supervised again", service.serving)
    bench.kill_recorded(killed)
    service.wait_serving(other_than=killed["pid"])
    told = bench.refused(UNREACHABLE, "head", "fence", service.home, "--yes")
    check("lun DEAD" in told, told)
    check(False in mounts_of(bench, service).values(), "a mount was ended")
    bench.symnas("lun", "release", "DEAD", "--forget")
    all_ready(bench)


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def restarted_vnfsd_removes_vips_of_a_frozen_instance(bench):
    """vnfsd restarts on a head that is being fenced, with a frozen instance."""
    service = victim(bench)
    for serving in bench.services:
        serving.wait_serving()
    pid = service.serving()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        bench.kill_process(f"vnfsd.{service.home}")
        bench.symnas("head", "fence", service.home, "--yes", timeout_s=FENCED_S)
        with contextlib.suppress(LabError):  # this boot does not register any more
            bench.lab.start_vnfsd(service.home)
        eventually(TOLD_S, "what an earlier vnfsd has left is ended",
                   lambda: not os.path.exists(f"/proc/{pid}"))
        eventually(MOVED_S, "its VNFS is served elsewhere", lambda: moved(bench, service))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    goes_home(bench, service)


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def dead_head_is_fenced_by_its_luns(bench):
    """A dead head is missed and cut off from the LUNs; its VNFS is served elsewhere."""
    service = victim(bench)
    with automatic_fencing(bench), coherent_clients(bench, "--stable", "1"):
        bench.let_run(5.0)
        Faults(bench.lab).kill(service.home)
        eventually(FENCED_S, "the head is fenced",
                   lambda: fence_state(bench, service.home) == "done")
        eventually(MOVED_S, "its VNFS is served elsewhere", lambda: moved(bench, service))
        goes_home(bench, service)


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def preemption_by_a_stranger_ends_the_instance(bench):
    """A key goes without a fence record: the instance ends, status says what to do."""
    service = victim(bench)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        Array(bench.lab).preempt_by_hand(bench.lab.incarnation(service.home))
        eventually(TOLD_S, "the head says that it must be rebooted",
                   lambda: "reboot this head" in bench.lab.symnas(service.home)("status"))
        check(service.vnfs()["state"] != "serving", "a head without its key serves")
        check(registered(bench, service.home)[0] == 0, "it has registered again")
        # Nobody else may take it before it is proved that its mounts are over.
        check(owner(bench, service) == service.home, "its VNFS was claimed without a proof")
        bench.symnas("head", "fence", service.home, "--yes", timeout_s=FENCED_S)
        eventually(MOVED_S, "its VNFS is served elsewhere", lambda: moved(bench, service))
        goes_home(bench, service)


@lab_test("INV-1", "INV-8", "architecture/fencing.md", lab=labs.RESERVATIONS)
def boot_without_quorum_registers_nothing(bench):
    """A head that boots without quorum registers its key only when quorum is back."""
    service = victim(bench)
    faults = Faults(bench.lab)
    members = [serving.home for serving in bench.services if serving is not service]
    luns = [lun["name"] for lun in bench.symnas.json("lun", "ls")["luns"]]
    former = bench.lab.incarnation(service.home)
    bench.let_run(2.0)
    faults.kill(service.home)
    for name in members:
        faults.kill(f"etcd-{name}")
    booting = threading.Thread(target=boot, args=(bench, service.home))
    try:
        booting.start()
        until = time.monotonic() + UNREGISTERED_S
        while time.monotonic() < until:
            check(bench.lab.incarnation(service.home) == former
                  or not any(has_key(bench, service.home, lun) for lun in luns),
                  "it has registered without quorum")
            bench.let_run(0.2)
        check(bench.lab.incarnation(service.home) != former, "it has not booted")
        vnfsd = bench.lab.process(f"vnfsd.{service.home}")
        check(vnfsd and processes.is_alive(vnfsd), "its vnfsd has not waited for quorum")
    finally:
        for name in members:
            bench.lab.start_etcd(name)
        booting.join()
    eventually(FENCED_S, "it is registered", lambda: all_registered(bench, service.home))
    all_ready(bench)
    bench.lab.wait_members()
