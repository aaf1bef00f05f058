"""What makes the command line easy: names from the cluster, --watch through outages, explain."""

import os
import signal
import subprocess

from lab_case import check, lab_test
from steps.exit_status import NOT_FOUND
from symlab import product

AWAY_S = 3.0
LOOKS_S = 4.0


@lab_test("operations/commands.md")
def names_of_the_cluster_are_known(bench):
    """Completion has the names of every kind; a name that is nearly right is answered with it."""
    for kind, listed in (("vnfs", "vnfs"), ("heads", "head"), ("exports", "export"),
                         ("filesystems", "fs"), ("volumes", "volume"), ("luns", "lun"),
                         ("networks", "network"), ("members", "etcd")):
        names = [row["name"] for row in bench.symnas.json(listed, "ls")[kind]]
        check(names and bench.symnas("complete-names", kind).split() == names, f"{kind}: {names}")
    told = bench.refused(NOT_FOUND, "vnfs", "stop", "vnsf1")
    check("did you mean vnfs1?" in told, told)
    told = bench.refused(NOT_FOUND, "vnfs", "stop", "quite-another")
    check("did you mean" not in told, told)
    told = bench.refused(NOT_FOUND, "explain", "not_fond")
    check("did you mean not_found?" in told, told)
    check("exit code 3" in bench.symnas("explain", "not_found"), "not explained")


@lab_test("operations/commands.md")
def watch_goes_on_without_etcd_and_vnfsd(bench):
    """--watch says that etcd or vnfsd is away, goes on when they are back, and ends with 0."""
    argv = [product.program("symnas"), "--socket", bench.symnas.socket_path, "status", "--watch=1"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LANG": "C"}) as process:
        bench.let_run(LOOKS_S)
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            bench.let_run(AWAY_S)
        finally:
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
        bench.service.wait_serving()
        bench.kill_process("vnfsd.c1n1")
        bench.let_run(AWAY_S)
        bench.lab.start_vnfsd("c1n1")
        bench.service.wait_serving()
        bench.let_run(LOOKS_S)
        process.send_signal(signal.SIGINT)
        seen = process.stdout.read()
        check(process.wait(30) == 0, f"it has ended with {process.returncode}")
    looks = seen.split("--- 20")[1:]
    good = [" serving " in look for look in looks]
    away = ["no answer" in look and "asking again every 1 s" in look for look in looks]
    check(good[0] and good[-1] and any(away), seen)
    check(good.index(True) < away.index(True) < len(good) - 1, f"{good} {away}")
