"""What a VNFS's log says, and how large it becomes."""

import contextlib
import os
import subprocess

from lab_case import check, eventually, lab_test
from steps.load import MEASURED
from symlab.service import VNFS
from uml_client import uml_client

CHOWNS = 50
LINES_MAX = 20       # of work without faults
LOG_MAX = 64 << 20   # bytes, of vnfsd/instance/limits.h
BOUNDED_S = 30.0
SMALL_BYTES = 256 << 10
BLOCK = 4096


def log_of(bench):
    return os.path.join(bench.lab.head("c1n1")["log_dir"], f"{VNFS}.log")


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return log.read().splitlines()


@lab_test("operations/errors.md")
def work_without_faults_says_little(bench):
    """Tens of thousands of operations, and chowns by number over NFSv4: some lines, no CRIT."""
    path = log_of(bench)
    earlier = len(lines_of(path))
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    started = lines_of(path)
    with bench.load(*MEASURED, "read,write,create") as load, uml_client(bench) as client:
        for place in client.mount_all(("v40", "v41")).values():
            client.run(f"touch {place}/owned; for i in $(seq {CHOWNS}); "
                       f"do chown $((1000 + i)):$((2000 + i)) {place}/owned; done")
            seen = client.run(f"stat -c %u:%g {place}/owned")
            check(seen == f"{1000 + CHOWNS}:{2000 + CHOWNS}", f"the owner is {seen}")
    operations = sum(load.seen[kind]["operations"] for kind in ("read", "write", "create"))
    more = lines_of(path)[len(started):]
    print(f"     {len(more)} lines of {operations} operations")
    check(len(more) < LINES_MAX, "\n".join(more[:LINES_MAX]))
    loud = [line for line in lines_of(path)[earlier:] if ":CRIT" in line or "ID MAPPER" in line]
    check(not loud, "\n".join(loud))


@lab_test("operations/sizes.md")
def log_is_bounded(bench):
    """A log that has grown too large is kept once and begins anew; the instance goes on."""
    path = log_of(bench)
    pid = bench.service.serving()["pid"]
    with open(path, "ab") as log:
        log.write(b"a line of a flood\n" * (LOG_MAX // 16))
    eventually(BOUNDED_S, "the log is bounded", lambda: os.path.getsize(path) < LOG_MAX)
    check(os.path.getsize(f"{path}.former") > LOG_MAX, "what was in it is not kept")
    os.unlink(f"{path}.former")
    check(bench.service.serving()["pid"] == pid, "the instance was restarted")


@contextlib.contextmanager
def full_partition(bench, folder):
    """The folder of the logs is on a partition of its own, on which there is no room."""
    inside = ["nsenter", "-m", "-t", str(bench.lab.process("vnfsd.c1n1")["pid"])]
    subprocess.run([*inside, "mount", "-t", "tmpfs", "-o", f"size={SMALL_BYTES}", "small", folder],
                   check=True)
    try:
        subprocess.run([*inside, "dd", "if=/dev/zero", f"of={folder}/filler", f"bs={BLOCK}"],
                       check=False, capture_output=True)
        yield
    finally:
        subprocess.run([*inside, "umount", "-l", folder], check=True)
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])


@lab_test("operations/errors.md")
def full_log_partition_stops_nobody(bench):
    """Without room for a line of log an instance starts, serves, and serves again after a kill."""
    with full_partition(bench, os.path.dirname(log_of(bench))):
        for _ in range(2):
            before = bench.kill_instance()
            bench.service.wait_serving(other_than=before["pid"])
        bench.service.run_tool(*MEASURED, "read,write,create", "--seconds", "2")
