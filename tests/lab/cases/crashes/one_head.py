"""SIGKILL of instance, agent and a whole head under load, on a cluster of one head."""

import signal

from lab_case import check, eventually, lab_test
from symlab.processes import is_alive
from symlab.wait import SLOWER

WRITERS = ("nfs_crash", "--workers", "3")
# READ and in-place WRITE go on: far below the stop, far above a busy machine's hiccups.
UNDISTURBED_MS = 2000.0 * SLOWER
KILLS = 3


@lab_test("INV-2", "INV-8")
def instance_killed_under_load(bench):
    """kill -9 of the instance, three times: restarted in place, nothing acknowledged is lost."""
    with bench.load(*WRITERS) as load:
        for _ in range(KILLS):
            bench.let_run(2.0)
            before = bench.kill_instance()
            after = bench.service.wait_serving(other_than=before["pid"])
            check(after["epoch"] > before["epoch"],
                  f"epoch {before['epoch']} -> {after['epoch']}: it must grow")
        bench.let_run(1.0)
    check(load.seen["reconnects"] >= KILLS, f"the clients saw too few kills: {load.seen}")
    print(f"     {load.seen}")


@lab_test("INV-8", "architecture/plugin.md")
def agent_killed_under_load(bench):
    """kill -9 of vnfsd: the instance goes on and is adopted; then it is supervised as before."""
    before = bench.service.serving()
    with bench.load("nfs_io", "gaps", "--kinds", "read,write,create") as load:
        bench.kill_process("vnfsd.c1n1")
        bench.let_run(2.0)
        bench.lab.start_vnfsd("c1n1")
        adopted = bench.service.wait_serving()
        bench.let_run(1.0)
    check(adopted["pid"] == before["pid"], "the instance was restarted, not adopted")
    check(adopted["epoch"] == before["epoch"], "the adopted instance has another epoch")
    for kind, seen in load.seen.items():
        check(seen["reconnects"] == 0 and seen["longest_gap_ms"] < UNDISTURBED_MS,
              f"{kind} was disturbed: {seen}")
    killed = bench.kill_instance()
    bench.service.wait_serving(other_than=killed["pid"])


@lab_test("INV-8", "architecture/plugin.md")
def agent_stopped_and_started(bench):
    """SIGTERM of vnfsd leaves the instance running; the next vnfsd adopts it."""
    before = bench.service.serving()
    bench.signal_process("vnfsd.c1n1", signal.SIGTERM)
    record = bench.lab.process("vnfsd.c1n1")
    eventually(10.0, "vnfsd ends after SIGTERM", lambda: not is_alive(record))
    bench.lab.start_vnfsd("c1n1")
    check(bench.service.wait_serving()["pid"] == before["pid"], "the instance was restarted")


@lab_test("INV-8")
def instance_killed_without_agent(bench):
    """An instance that died while vnfsd was away is fenced and restarted by the next vnfsd."""
    with bench.load(*WRITERS) as load:
        bench.let_run(1.0)
        bench.kill_process("vnfsd.c1n1")
        # Its agent is gone, so the record of the instance comes from before.
        instance = bench.last_instance()
        bench.kill_recorded(instance)
        bench.lab.start_vnfsd("c1n1")
        bench.service.wait_serving(other_than=instance["pid"])
        bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"the clients saw no kill: {load.seen}")


@lab_test("INV-2", "INV-8")
def whole_head_killed_under_load(bench):
    """Instance, agent and etcd killed at once and started again: nothing acknowledged is lost."""
    with bench.load(*WRITERS) as load:
        bench.let_run(2.0)
        bench.kill_process("vnfsd.c1n1")
        instance = bench.last_instance()
        bench.kill_recorded(instance)
        bench.kill_process("etcd.c1n1")
        bench.lab.start_etcd("c1n1")
        bench.lab.start_vnfsd("c1n1")
        bench.service.wait_serving(other_than=instance["pid"])
        bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"the clients saw no kill: {load.seen}")


@lab_test("operations/commands.md")
def vnfs_stopped_and_started(bench):
    """`vnfs stop` ends the instance, `vnfs start` brings the same data back."""
    with bench.load(*WRITERS) as load:
        bench.let_run(1.0)
        bench.symnas("vnfs", "stop", "vnfs1")
        eventually(30.0, "vnfs1 is stopped", lambda: bench.service.vnfs()["state"] == "stopped")
        bench.symnas("vnfs", "start", "vnfs1")
        bench.service.wait_serving()
        bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"the clients saw no stop: {load.seen}")
