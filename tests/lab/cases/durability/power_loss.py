"""Acknowledged operations over power losses of the LUNs and kill -9 of everything."""

import os
import random
import subprocess

import labs
from lab_case import check, eventually, lab_test
from symlab.service import finish_tool, wait_for_line

# Each line is acknowledged, then the power goes, then the reads must hold. A LUN's cache is empty
# after its power loss, so each line stands alone.
STRIPE = 256 << 10
LINES = (
    ("a stable write that makes the file grow",
     [("create", "p"), ("write", "p", 0, 4 * STRIPE, "a", "stable")],
     [("read", "p", 0, 4 * STRIPE, "a")]),
    ("a stable write in place",
     [("write", "p", 0, 4 * STRIPE, "b", "stable")],
     [("read", "p", 0, 4 * STRIPE, "b")]),
    ("a stable write in place of parts of blocks",
     [("write", "p", STRIPE - 1000, 2001, "c", "stable")],
     [("read", "p", 0, STRIPE - 1000, "b"), ("read", "p", STRIPE - 1000, 2001, "c"),
      ("read", "p", STRIPE + 1001, STRIPE, "b")]),
    ("unstable writes in place and a COMMIT",
     [("write", "p", 0, 4 * STRIPE, "d", "unstable"), ("commit", "p")],
     [("read", "p", 0, 4 * STRIPE, "d")]),
    ("unstable writes that make a file grow, and a COMMIT",
     [("create", "q"), ("write", "q", 0, 8 * STRIPE, "e", "unstable"), ("commit", "q")],
     [("read", "q", 0, 8 * STRIPE, "e")]),
    ("zeros behind a cut that a new size shows",
     [("truncate", "p", 1000), ("truncate", "p", 9000)],
     [("read", "p", 0, 1000, "d"), ("read", "p", 1000, 8000, "nul")]),
    ("zeros between a cut and a stable write behind it",
     [("truncate", "q", 1000), ("write", "q", 3000, 500, "f", "stable")],
     [("read", "q", 0, 1000, "e"), ("read", "q", 1000, 2000, "nul"),
      ("read", "q", 3000, 500, "f")]),
    ("the zeros around a first write, committed",
     [("create", "r"), ("write", "r", 70_000, 100, "g", "unstable"), ("commit", "r")],
     [("read", "r", 65_536, 4464, "nul"), ("read", "r", 70_000, 100, "g")]),
    ("a stable write over an unstable one",
     [("write", "r", 0, 8192, "h", "unstable"), ("write", "r", 2048, 4096, "i", "stable")],
     [("read", "r", 2048, 4096, "i"), ("read", "r", 70_000, 100, "g")]),
)
OPERATIONS = 10_000
SOAK_OPERATIONS = int(os.environ.get("SYMNAS_SOAK_OPS", "300000"))
PATIENCE_S = 90  # of the model client with an outage
END_S = 600.0
# What breaks while the model runs, in turn; each comes back before the next.
FAULTS = ("power", "instance", "power", "agent", "power", "etcd", "power", "head")
OUTAGES_MIN = 8
# The power fails before one of so many writes and flushes: any point of a commit.
POWER_AFTER_MAX = 60
POWER_OFF_S = 10.0
BETWEEN_S = (0.2, 1.5)


class Outages:
    """Breaks things under a running model client, reproducibly from a seed."""

    def __init__(self, bench, seed):
        self.bench = bench
        self.random = random.Random(seed)
        self.lost = self.kept = 0

    def strike(self, kind):
        before = self.bench.last_instance()
        if kind == "power":
            self.fail_power()
        if kind in ("agent", "head"):
            self.bench.kill_process("vnfsd.c1n1")
        if kind in ("etcd", "head"):
            self.bench.kill_process("etcd.c1n1")
        if kind in ("instance", "power", "head"):
            self.bench.kill_recorded(before)
        if kind == "power":
            self.restore_power()
        if kind in ("etcd", "head"):
            self.bench.lab.start_etcd("c1n1")
        if kind in ("agent", "head"):
            self.bench.lab.start_vnfsd("c1n1")
        killed = kind in ("instance", "power", "head")
        self.bench.service.wait_serving(other_than=before["pid"] if killed else 0)

    def fail_power(self):
        """At an exact request, or now when none comes."""
        self.bench.lab.fault("power-off", "all", self.random.randint(1, POWER_AFTER_MAX))
        eventually(POWER_OFF_S, "the power goes",
                   lambda: not any(lun["power"] for lun in self.bench.lun_stats()))

    def restore_power(self):
        """Half of the times all of the cache is lost, else any part of it."""
        seed = [] if self.random.random() < 0.5 else [self.random.randrange(1 << 30)]
        for line in self.bench.lab.fault("power-on", "all", *seed).splitlines():
            words = line.split()
            self.lost += int(words[1])
            self.kept += int(words[4])


def model_over_outages(bench, operations, seed):
    """Runs the model client to its end, breaking things as long as it runs."""
    model = bench.service.start_tool("nfs_model", "--ops", str(operations), "--seed", str(seed),
                                     "--outages", str(PATIENCE_S))
    outages = Outages(bench, seed)
    struck = 0
    try:
        wait_for_line(model, "running")
        while model.poll() is None:
            try:
                model.wait(outages.random.uniform(*BETWEEN_S))
                break
            except subprocess.TimeoutExpired:
                pass
            kind = FAULTS[struck % len(FAULTS)]
            try:
                outages.strike(kind)
            except Exception:
                if kind == "power" and model.poll() is not None:
                    bench.lab.fault("power-on", "all")  # it ended before the power went
                    break
                raise
            struck += 1
            if struck == OUTAGES_MIN:
                model.terminate()  # it ends once its operations are done
        output = finish_tool(model, END_S)
    finally:
        if model.poll() is None:
            model.kill()
            model.wait()
        bench.lab.fault("power-on", "all")
    print("     " + output.strip().replace("\n", "\n     "))
    print(f"     {struck} faults, {outages.lost} sectors lost, {outages.kept} kept")
    check(struck >= OUTAGES_MIN, f"the model has ended after {struck} faults")
    check(outages.lost > 0, "the power losses have lost nothing: they prove nothing")


@lab_test("INV-5", "architecture/data_path.md", lab=labs.FAULTY_LUNS)
def acknowledged_operations_survive_a_power_loss(bench):
    """A power loss that empties every cache directly after each kind of stable operation."""
    with bench.shell() as shell:
        for what, calls, reads in LINES:
            for call in calls:
                shell.expect("NFS3_OK", *call)
            bench.lose_power()
            shell.expect("NFS3_OK", "reconnect")
            for call in reads:
                answer = shell(*call)
                check(answer.startswith("NFS3_OK ") and "differs" not in answer,
                      f"{what} is lost: `{' '.join(map(str, call))}` is answered {answer}")
        for name in "pqr":
            shell.expect("NFS3_OK", "remove", name)


@lab_test("INV-5", "architecture/data_path.md", lab=labs.FAULTY_LUNS)
def random_operations_survive_kills_and_power_losses(bench):
    """10,000 random operations over kill -9 of everything and power losses: nothing is lost."""
    model_over_outages(bench, OPERATIONS, random.randrange(1 << 30))


@lab_test("INV-5", "architecture/data_path.md", lab=labs.FAULTY_LUNS, soak=True)
def random_operations_survive_kills_and_power_losses_for_long(bench):
    """The same with SYMNAS_SOAK_OPS (300,000) operations."""
    for seed in range(max(1, SOAK_OPERATIONS // OPERATIONS)):
        model_over_outages(bench, OPERATIONS, 1000 + seed)
