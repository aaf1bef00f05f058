"""etcd frozen or killed for less than the gate's window."""

import signal

from lab_case import check, lab_test
from symlab.wait import SLOWER

ETCD_STOP_S = 6.0
# READ and in-place WRITE go on: far below the stop, far above a busy machine's hiccups.
UNDISTURBED_MS = 2000.0 * SLOWER
RECOVERY_AFTER_ETCD_MS = 15_000.0 * SLOWER


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


@lab_test("architecture/gate.md")
def etcd_frozen_under_load(bench):
    """etcd frozen (SIGSTOP) for 6 s: READ and in-place WRITE go on, metadata waits."""
    def freeze():
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            bench.let_run(ETCD_STOP_S)
        finally:
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
    check_etcd_gaps(gaps_while_etcd_is_away(bench, freeze))


@lab_test("architecture/gate.md")
def etcd_killed_under_load(bench):
    """etcd killed and started again 6 s later: READ and in-place WRITE go on, metadata waits."""
    def kill():
        bench.kill_process("etcd.c1n1")
        bench.let_run(ETCD_STOP_S)
        bench.lab.start_etcd("c1n1")
    check_etcd_gaps(gaps_while_etcd_is_away(bench, kill))
