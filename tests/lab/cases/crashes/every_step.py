"""vnfsd is killed at every step of a move or a fence: the VNFS is served, clients go on."""

import contextlib
import os
import re
import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, heads_from, others, owner, victim
from steps.faults import serves
from steps.load import coherent_clients
from steps.nfs4_locks import locks
from symlab import processes, product
from symlab.faults import Faults

# The crash points in vnfsd, in the order in which they are passed.
SOURCE = ("retiring", "drained", "silenced", "retired", "reaped", "fenced", "released")
TARGET = ("standby launched", "prepared", "answered", "claimed", "recorded", "called", "listening",
          "announced")
FENCER = ("fencing", "cut off", "fence proven", "mounts ended", "fence done")
RESTART = SOURCE[:5]  # of an instance, in place: up to the start of the next one
REACHED_S = 30.0
SERVED_S = 60.0
UNWOKEN_S = 50.0  # less than what a client waits for an answer to what was lost with its server


@contextlib.contextmanager
def dying_agent(bench, head, step, name):
    """The agent of `head` is to die at that step of `name` in the body, and is started again."""
    bench.kill_process(f"vnfsd.{head}")
    bench.lab.start_vnfsd(head, env={"SYMNAS_CRASH_AT": f"{step} {name}"})
    with contextlib.suppress(product.CommandFailed):
        yield
    check(processes.wait_gone(bench.lab.process(f"vnfsd.{head}"), REACHED_S),
          f"the agent of {head} did not come to '{step}'")
    bench.lab.start_vnfsd(head)


def crash(bench, service, head, step, to):
    """Orders the move to `to`; the agent of `head` dies at the step."""
    with dying_agent(bench, head, step, service.name):
        service.wait_serving()
        bench.symnas("vnfs", "rehost", service.name, to, "--timeout", "3")
    eventually(SERVED_S, f"{service.name} is served after a crash at '{step}'",
               lambda: serves(bench, service))


def named_steps():
    """The crash points in vnfsd's sources."""
    found = set()
    for folder, _, files in os.walk(os.path.join(product.REPO, "vnfsd")):
        for name in files:
            if name.endswith(".cc"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    found |= set(re.findall(r'crash_point\("([^"]+)"', file.read()))
    return found


@lab_test("INV-8", "architecture/moves.md", lab=labs.BACKUPS)
def agent_killed_at_every_step_of_a_move(bench):
    """Never two owners, never none for good; no operation fails, no old data is read."""
    check(named_steps() == {*SOURCE, *TARGET, *FENCER},
          f"steps that are not killed at: {named_steps()}")
    service = victim(bench)
    home = service.head
    to = heads_from(service)[1]
    with coherent_clients(bench, "--stable", "1"):
        for step in (*SOURCE, *TARGET):
            crash(bench, service, home if step in SOURCE else to, step, to)
            print(f"     {step}: then served by {service.head}")
            if service.head != home:
                service.rehost(home)


# In every run the simulation `service` kills agents at every step of a fence.
@lab_test("INV-8", "architecture/fencing.md", lab=labs.BACKUPS, soak=True)
def agent_killed_at_every_step_of_a_fence(bench):
    """The head that fences another one dies at each step, comes back and goes on."""
    service = victim(bench)
    home = service.home
    fencer = others(bench)[-1].head
    with coherent_clients(bench, "--stable", "1", limit_s=UNWOKEN_S):
        for step in FENCER:
            # Whoever connects in the last 50 ms is in no record, and waits for its own time-out.
            bench.let_run(1.0)
            with dying_agent(bench, fencer, step, home):
                since = time.monotonic()
                Faults(bench.lab).kill(home)
                bench.lab.fence(home, "power", by=fencer)
            eventually(SERVED_S, f"{service.name} leaves {home}",
                       lambda: owner(bench, service) not in (None, home))
            eventually(SERVED_S, f"{service.name} is served after a crash at '{step}'",
                       lambda: serves(bench, service))
            check(fence_state(bench, home) == "done", f"{home} is not fenced")
            print(f"     {step}: served by {service.head} after {time.monotonic() - since:.1f} s")
            bench.lab.unfence(home)
            eventually(SERVED_S, f"{home} is back", lambda: fence_state(bench, home) is None)
            service.rehost(home)
    bench.lab.wait_members()


@lab_test("INV-7", "INV-8", "architecture/moves.md")
def agent_killed_at_every_step_of_a_restart(bench):
    """`vnfs restart`, and vnfsd dies at each step: the next one ends what was begun, another
    instance serves, no lock is given up and nothing acknowledged is lost."""
    service = bench.service
    with locks(bench, "steps") as holder, locks(bench, "steps") as other, \
            bench.load("nfs_crash", "--workers", "2"):
        holder.expect("granted", "hold", 0, 10)
        for step in RESTART:
            before = service.serving()["epoch"]
            with dying_agent(bench, "c1n1", step, "vnfs1"):
                service.wait_serving()
                bench.symnas("vnfs", "restart", "vnfs1", "--timeout", "3")
            eventually(SERVED_S, f"another instance serves after a crash at '{step}'",
                       lambda epoch=before: service.serving()["epoch"] > epoch)
            other.expect("denied", "hold", 5, 1)
        holder.expect("done", "release", 0, 10)
