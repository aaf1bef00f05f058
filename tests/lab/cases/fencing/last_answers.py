"""A fence by LUNs leaves processes alive: what they answer before their mounts end, and after."""

import contextlib
import socket
import threading
import time

import labs
import nfs_null
from lab_case import check, eventually, lab_test
from steps.cluster import (check_nobody_fenced, fence_state, history, leader, owner, victim,
                           vips)
from steps.deadlines import BACK_S, HEARD_S, TAKEN_OVER_S
from steps.faults import automatic_fencing, bring_home, cut_off, paused, take_over
from steps.load import MEASURED, check_gaps, coherent_clients
from symlab import netns
from symlab.faults import Faults

# Clients of a crash wait for that in `make bench-failover`: 2.5 s. Also on a busy machine:
SHORT_MS = 5_000.0
# From the end of the proof to the end records: half a second of answers from memory at most.
ENDED_MS = 1_500.0
ELECTION_S = 2.5
KNOCK_S, BETWEEN_S = 3.0, 0.05


class Knocker(threading.Thread):
    """A client that connects again and again. `refused`: when somebody sent a RST."""

    def __init__(self, bench, vip):
        super().__init__(daemon=True)
        self.space, self.vip = bench.lab.client_netns, vip
        self.taken, self.refused = 0, []
        self.ends = threading.Event()

    def run(self):
        with netns.entered(self.space):
            while not self.ends.wait(BETWEEN_S):
                try:
                    socket.create_connection((self.vip, nfs_null.PORT), KNOCK_S).close()
                    self.taken += 1
                except ConnectionRefusedError:
                    self.refused.append(time.monotonic())
                except OSError:
                    pass


@contextlib.contextmanager
def knocking(bench, service):
    """Nobody who connects to the VNFS meets a closed port."""
    knocker = Knocker(bench, service.vip)
    knocker.start()
    try:
        yield
    finally:
        knocker.ends.set()
        knocker.join()
    check(knocker.taken > 0 and not knocker.refused,
          f"{len(knocker.refused)} connections were refused, {knocker.taken} taken")


def steps_of(bench, service):
    """{step: ms since the transition began} of the last one."""
    last = history(bench, service)[-1]
    check(last["cause"] == "failover", str(last))
    return {step["name"]: (step["at_ns"] - last["began_ns"]) / 1e6 for step in last["steps"]}


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def crash_fenced_from_its_luns(bench):
    """A head dies and is cut off from its LUNs only: clients wait hardly longer than for power."""
    service = victim(bench)
    home = service.head
    bench.lab.set_fence_kind("lun")
    with automatic_fencing(bench, "luns"):
        with coherent_clients(bench, "--stable", "1"), \
                bench.load(*MEASURED, "read,write,create", service=service) as load:
            bench.let_run(HEARD_S)
            Faults(bench.lab).kill(home)
            take_over(bench, service, home)
            bench.let_run(HEARD_S)
        steps = steps_of(bench, service)
        print("     " + ", ".join(f"{name} {at:.0f}" for name, at in steps.items()))
        bring_home(bench, service, home)
    check_gaps(load.seen, ("read", "write", "create"), SHORT_MS)
    check(steps["end proved"] - steps["fence proved"] < ENDED_MS, f"the pause is long: {steps}")


@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS)
def paused_head_says_nothing_when_it_goes_on(bench):
    """A head stands still, is fenced from its LUNs, goes on: it answers nothing, its VIPs go."""
    service = victim(bench)
    home = service.head
    before = service.serving()
    bench.lab.set_fence_kind("lun")
    with automatic_fencing(bench, "luns"):
        with coherent_clients(bench, "--stable", "1"):
            bench.let_run(HEARD_S)
            Faults(bench.lab).pause(home)
            try:
                eventually(TAKEN_OVER_S, f"{home} is fenced",
                           lambda: fence_state(bench, home) == "done")
                bench.let_run(2.0)
            finally:
                Faults(bench.lab).resume(home)
            eventually(TAKEN_OVER_S, "the old instance has no VIP",
                       lambda: service.vip not in vips(before["pid"]))
            take_over(bench, service, home)
            bench.let_run(2.0)
            check(service.vip not in vips(before["pid"]), "the VIP is up on two heads")
        bring_home(bench, service, home)


@lab_test("INV-8", "architecture/gate.md", lab=labs.BACKUPS)
def cut_off_head_finds_that_its_luns_refuse_it(bench):
    """No etcd, no peers, then a fence from the LUNs: its VIPs are away before its instance ends."""
    service = victim(bench)
    home = service.head
    before = service.serving()
    bench.lab.set_fence_kind("lun")
    with coherent_clients(bench, "--stable", "1"), knocking(bench, service):
        bench.let_run(2.0)
        with cut_off(bench, home, "etcd", "peers"):
            bench.let_run(1.0)
            check(service.vip in vips(before["pid"]), "the VIP went before its time")
            since = time.monotonic()
            bench.lab.fence(home, "lun")
            fenced_s = time.monotonic() - since
            eventually(BACK_S, "the VIP is down", lambda: service.vip not in vips(before["pid"]))
            print(f"     fenced in {fenced_s:.1f} s, the VIP down {time.monotonic() - since:.1f} s "
                  "after the order")
            take_over(bench, service, home)
            print(f"     served elsewhere {time.monotonic() - since:.1f} s after the order")
            bench.let_run(2.0)
    bring_home(bench, service, home)


@lab_test("INV-8", "architecture/gate.md", lab=labs.BACKUPS)
def election_hides_no_vip(bench):
    """etcd's leader stands still for an election: no VIP goes, no instance ends."""
    before = {service.name: service.serving()["pid"] for service in bench.services}
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        with paused(bench, f"etcd.{leader(bench)}"):
            since = time.monotonic()
            while time.monotonic() - since < ELECTION_S:
                for service in bench.services:
                    check(service.vip in vips(before[service.name]), f"{service.vip} went")
                time.sleep(0.05)
        bench.let_run(2.0)
    for service in bench.services:
        check(service.serving()["pid"] == before[service.name], f"{service.name} was restarted")
        check(owner(bench, service) == service.home, f"{service.name} has moved")
    check_nobody_fenced(bench)
