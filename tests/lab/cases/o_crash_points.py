"""vnfsd is killed at every step of a move, on both heads: the VNFS is served, its clients go on."""

import contextlib
import os
import re

from lab_case import check, eventually, lab_test
from symlab import processes, product

from .h_heads import victim
from .i_shared import HEADS, coherent_clients
from .m_moves import heads_from, owner

# The names of vnfsd/crash_point.h, in the order in which they are passed.
SOURCE = ("retiring", "drained", "silenced", "retired", "reaped", "fenced", "released")
TARGET = ("standby launched", "prepared", "answered", "claimed", "recorded", "called", "listening",
          "announced")
REACHED_S = 30.0
SERVED_S = 60.0


def serves(bench, service):
    """Its owner, when that head says that it serves and no order is left."""
    for vnfs in bench.symnas.json("vnfs", "ls")["vnfs"]:
        if vnfs["name"] == service.name and (vnfs.get("move") or not vnfs["owner"]):
            return None
    service.head = owner(bench, service)
    return service.head and service.serving() and service.head


def crash(bench, service, head, step, to):
    """Orders the move to `to`; the agent of `head` dies at the step and is started again."""
    bench.kill_process(f"vnfsd.{head}")
    bench.lab.start_vnfsd(head, env={"SYMNAS_CRASH_AT": f"{step} {service.name}"})
    service.wait_serving()
    with contextlib.suppress(product.CommandFailed):
        bench.symnas("vnfs", "rehost", service.name, to, "--timeout", "3")
    check(processes.wait_gone(bench.lab.process(f"vnfsd.{head}"), REACHED_S),
          f"the agent of {head} did not come to '{step}'")
    bench.lab.start_vnfsd(head)
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


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def agent_killed_at_every_step(bench):
    """Never two owners, never nobody for good; no operation fails and nothing old is read."""
    check(named_steps() == {*SOURCE, *TARGET}, f"steps that are not killed at: {named_steps()}")
    service = victim(bench)
    home = service.head
    to = heads_from(service)[1]
    with coherent_clients(bench, "--stable", "1"):
        for step in (*SOURCE, *TARGET):
            crash(bench, service, home if step in SOURCE else to, step, to)
            print(f"     {step}: then served by {service.head}")
            if service.head != home:
                service.rehost(home)
