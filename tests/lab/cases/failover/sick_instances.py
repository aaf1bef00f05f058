"""Instances that stand still, take no requests or get no memory."""

import subprocess
import sys
import time

import labs
from lab_case import check, lab_test
from steps.cluster import others, victim
from steps.faults import FREEZER
from steps.load import MEASURED, PATIENT_WRITERS, check_undisturbed
from symlab.faults import Faults

NOTICED_S = 10.0  # 3 s of stillness, a fence, a start
ANSWERS_S = 8.0  # an instance that answers no NULL for so long has no workers


@lab_test("architecture/fencing.md", lab=labs.BACKUPS)
def paused_instance_is_found(bench):
    """An instance hangs: its head ends it within seconds and starts another one."""
    service = victim(bench)
    before = service.serving()
    other = others(bench)[0]
    with bench.load(*PATIENT_WRITERS, service=service) as load, \
            bench.load(*MEASURED, "read,write", service=other) as beside:
        bench.let_run(1.0)
        since = time.monotonic()
        Faults(bench.lab).pause(service.name)
        after = service.wait_serving(other_than=before["pid"])
        took_s = time.monotonic() - since
        bench.let_run(1.0)
    print(f"     serves again {took_s:.1f} s after it stood still")
    check(took_s < NOTICED_S, f"found after {took_s:.1f} s only")
    check(after["epoch"] > before["epoch"], "it was not claimed anew")
    check(load.seen["reconnects"] > 0, f"the clients saw nothing: {load.seen}")
    check_undisturbed({other.head: beside}, [other], ("read", "write"))


@lab_test("architecture/fencing.md", lab=labs.BACKUPS)
def instance_that_takes_no_requests_is_found(bench):
    """Heartbeats go on but nothing is answered: after 8 s the instance is restarted."""
    service = victim(bench)
    before = service.serving()
    with bench.load(*PATIENT_WRITERS, service=service) as load:
        bench.let_run(1.0)
        freezer = subprocess.Popen([sys.executable, FREEZER, str(before["pid"]), "ganesha.nfsd"],
                                   stdout=subprocess.PIPE, text=True)
        try:
            check(int(freezer.stdout.readline()) > 0, "no thread was frozen")
            since = time.monotonic()
            after = service.wait_serving(other_than=before["pid"])
            took_s = time.monotonic() - since
        finally:
            freezer.kill()
            freezer.wait()
        bench.let_run(1.0)
    print(f"     serves again {took_s:.1f} s after it took no more requests")
    check(ANSWERS_S < took_s < ANSWERS_S + NOTICED_S, f"found after {took_s:.1f} s")
    check(after["epoch"] > before["epoch"], "it was not claimed anew")
    check(load.seen["reconnects"] > 0, f"the clients saw nothing: {load.seen}")


@lab_test("architecture/fencing.md", lab=labs.BACKUPS)
def instance_out_of_memory(bench):
    """An instance without memory ends or is ended, and the next one serves."""
    service = victim(bench)
    before = service.serving()
    with open(f"/proc/{before['pid']}/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * 4096
    with bench.load(*PATIENT_WRITERS, service=service) as load:
        bench.let_run(1.0)
        subprocess.run(["prlimit", "--pid", str(before["pid"]), f"--as={size}"], check=True)
        with bench.load("nfs_crash", "--workers", "16", "--deadline-s", "180", service=service):
            service.wait_serving(other_than=before["pid"])
            bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"the clients saw nothing: {load.seen}")
