"""Heads that are cut off from etcd, from other heads or from clients."""

import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import check_nobody_fenced, heads_from, history, owner, victim, vips
from steps.deadlines import BACK_S, HEARD_S, ILL_S, SILENT_S, STEADY_S
from steps.exit_status import CONFLICT
from steps.faults import automatic_fencing, bring_home, cut_off, take_over, wait_networks_well
from steps.load import PATIENT_WRITERS


def check_silent(pid, service, seconds):
    """The instance answers for no VIP, at any moment."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        check(service.vip not in vips(pid), f"{service.vip} is up on two heads")
        time.sleep(0.02)


@lab_test("INV-8", "architecture/gate.md", lab=labs.BACKUPS)
def vips_go_while_the_owner_cannot_be_proved(bench):
    """Management cut off, no automatic fencing: the VIPs go, and come back with the proof."""
    service = victim(bench)
    before = service.serving()
    check(service.vip in vips(before["pid"]), "the VIP is not up")
    with bench.load(*PATIENT_WRITERS, service=service) as load:
        bench.let_run(1.0)
        since = time.monotonic()
        with cut_off(bench, service.head, "etcd", "peers"):
            eventually(SILENT_S, "the VIP is down", lambda: service.vip not in vips(before["pid"]))
            print(f"     silent {time.monotonic() - since:.1f} s after the cut")
            check_silent(before["pid"], service, STEADY_S)
        since = time.monotonic()
        eventually(BACK_S, "the VIP is back", lambda: service.vip in vips(before["pid"]))
        print(f"     back {time.monotonic() - since:.1f} s after the end of the cut")
        bench.let_run(2.0)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    after = service.wait_serving()
    check(after["pid"] == before["pid"], "the instance was restarted")
    check("VIPs are down" not in after["error"], after["error"])
    check_nobody_fenced(bench)


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def cut_off_head_stays_silent_after_a_take_over(bench):
    """Management cut off, its LUNs refused: the backup serves, the old VIP never comes back."""
    service = victim(bench)
    home = service.head
    before = service.serving()
    bench.lab.set_fence_kind("lun")
    with automatic_fencing(bench, "luns"):
        with bench.load(*PATIENT_WRITERS, service=service) as load:
            bench.let_run(HEARD_S)
            with cut_off(bench, home, "etcd", "peers"):
                eventually(SILENT_S, "the VIP is down",
                           lambda: service.vip not in vips(before["pid"]))
                take_over(bench, service, home)
                check_silent(before["pid"], service, 3.0)
            check_silent(before["pid"], service, STEADY_S)
        check(load.seen["operations"] > 0, str(load.seen))
        bring_home(bench, service, home)


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def head_cut_off_from_everything(bench):
    """No etcd, no peers, no clients: fenced by power, the backup serves."""
    service = victim(bench)
    home = service.head
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        with bench.load(*PATIENT_WRITERS, service=service):
            bench.let_run(HEARD_S)
            with cut_off(bench, home, "etcd", "peers", "clients"):
                since = time.monotonic()
                take_over(bench, service, home)
                print(f"     served elsewhere {time.monotonic() - since:.1f} s after the cut")
                bench.let_run(2.0)
        bring_home(bench, service, home)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def client_network_of_one_head(bench):
    """Clients do not reach one head: its VNFS moves, nobody is fenced."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    with bench.load(*PATIENT_WRITERS, service=service):
        bench.let_run(HEARD_S)
        since = time.monotonic()
        with cut_off(bench, home, "clients"):
            service.head = eventually(ILL_S, f"{backup} serves {service.name}",
                                      lambda: owner(bench, service) == backup and backup)
            service.wait_serving()
            print(f"     served by {backup} {time.monotonic() - since:.1f} s after the cut")
            networks = bench.lab.symnas(home).json("status")["networks"]
            check("eth1" in networks[0]["error"], str(networks))
            bench.refused(CONFLICT, "vnfs", "rehost", service.name, home)
            with bench.load(*PATIENT_WRITERS, service=service):
                bench.let_run(STEADY_S)
    last = history(bench, service)[-1]
    check((last["from"], last["to"], last["cause"]) == (home, backup, "move"), str(last))
    check_nobody_fenced(bench)

    wait_networks_well(bench)
    service.rehost(home)


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def one_network_of_probes_is_enough(bench):
    """A head is heard on the NFS network alone: nobody is fenced, nothing moves."""
    service = victim(bench)
    before = service.serving()["pid"]
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), bench.load(*PATIENT_WRITERS, service=service) as load:
        bench.let_run(HEARD_S)
        with cut_off(bench, service.head, "peers"):
            bench.let_run(STEADY_S)
        bench.let_run(1.0)
    check_nobody_fenced(bench)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    check(service.serving()["pid"] == before, "its instance was ended")
