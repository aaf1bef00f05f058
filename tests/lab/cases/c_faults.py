"""SIGKILL of instance, agent, etcd and all at once; etcd stopped under load."""

import signal

from lab_case import check, eventually, lab_test
from symlab.processes import is_alive
from symlab.wait import SLOWER

WRITERS = ("nfs_crash", "--workers", "3")
ETCD_STOP_S = 6.0
# READ and in-place WRITE go on: far below the stop, far above a busy machine's hiccups.
UNDISTURBED_MS = 2000.0 * SLOWER
RECOVERY_AFTER_ETCD_MS = 15_000.0 * SLOWER
KILLS = 3


@lab_test()
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


@lab_test()
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


@lab_test()
def agent_stopped_and_started(bench):
    """SIGTERM of vnfsd leaves the instance running; the next vnfsd adopts it."""
    before = bench.service.serving()
    bench.signal_process("vnfsd.c1n1", signal.SIGTERM)
    record = bench.lab.process("vnfsd.c1n1")
    eventually(10.0, "vnfsd ends after SIGTERM", lambda: not is_alive(record))
    bench.lab.start_vnfsd("c1n1")
    check(bench.service.wait_serving()["pid"] == before["pid"], "the instance was restarted")


@lab_test()
def instance_dies_while_no_agent_watches(bench):
    """An instance that died unseen is fenced and restarted by the next vnfsd."""
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


def gaps_while_etcd_is_away(bench, away):
    """Runs reads, in-place writes and creates over `away()`; returns what they saw."""
    before = bench.service.serving()
    with bench.load("nfs_io", "gaps", "--kinds", "read,write,create") as load:
        bench.let_run(1.0)
        away()
        bench.let_run(2.0)
    check(bench.service.wait_serving()["pid"] == before["pid"], "the instance was restarted")
    print(f"     {load.seen}")
    return load.seen


def check_etcd_gaps(seen):
    for kind in ("read", "write"):
        check(seen[kind]["longest_gap_ms"] < UNDISTURBED_MS,
              f"{kind} waited for etcd: {seen[kind]}")
    create = seen["create"]
    check(create["errors"] == 0, f"creates failed instead of waiting: {create}")
    check(create["longest_gap_ms"] > ETCD_STOP_S * 800,
          f"a create was acknowledged without etcd: {create}")
    check(create["longest_gap_ms"] < ETCD_STOP_S * 1000 + RECOVERY_AFTER_ETCD_MS,
          f"creates did not come back: {create}")


@lab_test()
def etcd_frozen_under_load(bench):
    """etcd frozen (SIGSTOP) for 6 s: READ and in-place WRITE go on, metadata waits."""
    def freeze():
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            bench.let_run(ETCD_STOP_S)
        finally:
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
    check_etcd_gaps(gaps_while_etcd_is_away(bench, freeze))


@lab_test()
def etcd_killed_under_load(bench):
    """etcd killed and started again 6 s later: READ and in-place WRITE go on, metadata waits."""
    def kill():
        bench.kill_process("etcd.c1n1")
        bench.let_run(ETCD_STOP_S)
        bench.lab.start_etcd("c1n1")
    check_etcd_gaps(gaps_while_etcd_is_away(bench, kill))


@lab_test()
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


@lab_test()
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
