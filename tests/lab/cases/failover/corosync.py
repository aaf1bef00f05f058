"""Corosync's membership is one more witness of silent heads (decisions/0015)."""

import contextlib
import os
import signal
import subprocess
import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import check_nobody_fenced, fence_state, history, others, owner, victim
from steps.corosync import corosync
from steps.deadlines import HEARD_S, TAKEN_OVER_S
from steps.faults import automatic_fencing, bring_home
from steps.load import coherent_clients
from symlab import netns
from symlab.faults import Faults

PROBE_PORT = 20491
UNMISSED_S = 10.0  # far less than the 5 min after which a head is missed that was never heard
LOST_S = 15.0


def told(bench, head, words):
    """The lines of the head's log that have these words."""
    with open(os.path.join(bench.lab.head(head)["dir"], "vnfsd.log"), encoding="utf-8") as file:
        return [line for line in file if words in line]


def kill_and_wait(bench, service):
    """Kills the service's head; returns how many seconds until it is fenced, and served."""
    home = service.head
    since = time.monotonic()
    Faults(bench.lab).kill(home)
    eventually(TAKEN_OVER_S, f"{home} is fenced", lambda: fence_state(bench, home) == "done")
    fenced_s = time.monotonic() - since
    service.head = eventually(TAKEN_OVER_S, f"{service.name} is served elsewhere",
                              lambda: owner(bench, service) not in (home, "", None) and
                              owner(bench, service))
    service.wait_serving()
    return fenced_s, time.monotonic() - since


def measured(bench, service, what):
    home = service.home
    bench.let_run(HEARD_S)
    fenced_s, served_s = kill_and_wait(bench, service)
    last = history(bench, service)[-1]
    print(f"     {what}: fenced {fenced_s:.1f} s, served {served_s:.1f} s after the kill; "
          + ", ".join(f"{step['name']} {(step['at_ns'] - last['began_ns']) // 1000000}"
                      for step in last["steps"]))
    bring_home(bench, service, home)


@contextlib.contextmanager
def unheard(bench, head):
    """Nobody hears the head's probes; all else of it goes on."""
    space = bench.lab.head(head)["netns"]

    def nft(text):
        with netns.entered(space):
            subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)
    nft("table inet lab_probes { chain out { type filter hook output priority 0; "
        f"udp dport {PROBE_PORT} drop; }}; }}\n")
    try:
        yield
    finally:
        nft("delete table inet lab_probes")


@lab_test("INV-8", "decisions/0015-what-corosync-witnesses.md", lab=labs.THREE_HEADS)
def killed_head_is_fenced_as_soon_with_corosync(bench):
    """A head dies: with corosync as a witness, which has it for seconds more, it is fenced as soon
    as without."""
    service = victim(bench)
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), coherent_clients(bench, "--stable", "1"):
        measured(bench, service, "without corosync")
        with corosync(bench) as witness:
            measured(bench, service, "with corosync")
            said = [line for one in others(bench)
                    for line in told(bench, one.head, f"head {service.home}: not heard for")]
            check(any("corosync still has it" in line for line in said), f"no doubt: {said}")
            witness.start(service.home)


@lab_test("INV-8", "decisions/0015-what-corosync-witnesses.md", lab=labs.THREE_HEADS)
def head_that_was_never_heard_is_fenced_when_corosync_has_lost_it(bench):
    """The other heads' agents have just started and have not heard a head when it dies: they wait
    for 5 min, unless corosync had it and has lost it."""
    service = victim(bench)
    home = service.home
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), corosync(bench) as witness:
        with unheard(bench, home):
            for one in others(bench):  # they have not heard it in their lives
                bench.kill_process(f"vnfsd.{one.head}")
                bench.lab.start_vnfsd(one.head)
            for one in others(bench):
                eventually(LOST_S, f"corosync answers on {one.head}",
                           lambda by=one.head: witness.state(by, home) == "member")
            bench.let_run(UNMISSED_S)
            check_nobody_fenced(bench)
            fenced_s, served_s = kill_and_wait(bench, service)
        print(f"     fenced {fenced_s:.1f} s, served {served_s:.1f} s after the kill")
        bring_home(bench, service, home)


@lab_test("INV-8", "decisions/0015-what-corosync-witnesses.md", lab=labs.THREE_HEADS)
def corosync_alone_fences_nobody(bench):
    """Corosync is stopped on a head that serves, also while its agent is away, and hangs on one
    that watches: status says so, nobody is fenced, and vnfsd answers."""
    service = victim(bench)
    observer = others(bench)[0].head
    status = bench.lab.symnas(observer)
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), corosync(bench) as witness, \
            coherent_clients(bench, "--stable", "1"):
        bench.let_run(HEARD_S)
        bench.signal_process(witness.process(observer), signal.SIGSTOP)
        try:
            eventually(LOST_S, "status says that corosync hangs",
                       lambda: "corosync: does not answer: it is no witness" in status("status"))
        finally:
            bench.signal_process(witness.process(observer), signal.SIGCONT)
        eventually(LOST_S, "it answers again",
                   lambda: witness.state(observer, service.head) == "member")
        witness.stop(service.head)
        eventually(LOST_S, "corosync has lost the head",
                   lambda: witness.state(observer, service.head) == "lost")
        check(f"head {service.head}: is no member of corosync, and" in status("status"),
              status("status"))
        bench.kill_process(f"vnfsd.{service.head}")
        try:
            bench.let_run(HEARD_S)
            check(f"head {service.head}: corosync has lost it, too" in status("status"),
                  status("status"))
            check_nobody_fenced(bench)
        finally:
            bench.lab.start_vnfsd(service.head)
        check_nobody_fenced(bench)
