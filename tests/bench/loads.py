"""What the benchmarks share: their cases, a server under load, and what that costs it."""

import json
import os
import subprocess
import urllib.parse
from statistics import median

from peer import REPO, netns, product

from symlab.errors import LabError

VIP = "10.0.0.101"
EXPORT = "bench"
LUNS = 4
MIB = 1 << 20
CASES = ["read8k", "write8k", "write8k_sync", "read1m", "write1m", "getattr", "create_remove",
         "lock", "lock41"]
# (name, connections, requests in flight on each)
SHAPES = [("one stream", 1, 1), ("deep", 4, 8)]
# A case is measured in all shapes; with one of these behind its name, in one of them.
SUFFIXES = {"_one": SHAPES[:1], "_deep": SHAPES[1:]}


def case_names():
    """All that chosen() knows."""
    return CASES + [case + suffix for case in CASES for suffix in SUFFIXES]


def chosen(names):
    """[(case, shape)] of names such as read8k, read8k_one, read8k_deep. LabError: no such case."""
    rows = []
    for name in names:
        if name not in case_names():
            raise LabError(f"no case {name}: {' '.join(CASES)}; {name}_one or {name}_deep of them")
        suffix = next((end for end in SUFFIXES if name.endswith(end)), "")
        rows += [(name.removesuffix(suffix), shape) for shape in SUFFIXES.get(suffix, SHAPES)]
    return rows


def rate_of(case):
    """(unit, key of a result) of the case's rate."""
    return ("MiB/s", "mib_per_s") if case.endswith("1m") else ("op/s", "ops_per_s")


def cpu_ticks(pids):
    """User and system time of processes. LabError: one of them has ended."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
        except OSError as error:
            raise LabError(f"process {pid} of the server has ended under load") from error
        total += int(fields[11]) + int(fields[12])
    return total


class Target:
    """A server to load: its URL and the processes whose CPU is its cost.

    processes: a function that answers {role: [pid]}.
    """

    def __init__(self, lab, name, url, processes):
        self.lab, self.name, self.url, self.processes = lab, name, url, processes

    def load(self, case, connections, depth, opts, seed=1, file_mib=None, words=()):
        """nfs_load's result, with cpu_us_per_op and, by role, cpu_us_per_op_of."""
        if case == "lock41":
            # Both servers' name of it in NFSv4's pseudo filesystem.
            url = f"nfs://{urllib.parse.urlsplit(self.url).hostname}/{EXPORT}"
            argv = [os.path.join(REPO, "tests/client/nfs4_lock_load"), "--url", url,
                    "--streams", str(connections * depth), "--seconds", str(opts.seconds)]
        else:
            argv = [product.program("nfs_load"), "--url", self.url, "--case", case, "--connections",
                    str(connections), "--depth", str(depth), "--seconds", str(opts.seconds),
                    "--file-mib", str(file_mib or opts.file_mib), "--seed", str(seed),
                    "--file", f"bench{file_mib or ''}.dat", *words]
        pids = self.processes()
        before = {role: cpu_ticks(pids[role]) for role in pids}
        with netns.entered(self.lab.client_netns):
            done = subprocess.run(argv, capture_output=True, text=True, timeout=opts.seconds + 600)
        if done.returncode != 0:
            raise LabError(f"{self.name}, {case}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        us = 1e6 / os.sysconf("SC_CLK_TCK") / max(result["ops"], 1)
        result["cpu_us_per_op_of"] = {role: (cpu_ticks(pids[role]) - before[role]) * us
                                      for role in pids}
        result["cpu_us_per_op"] = sum(result["cpu_us_per_op_of"].values())
        if result["errors"]:
            raise LabError(f"{self.name}, {case}: {result['errors']} requests failed")
        return result


def start_symnas(lab, lun_size="2G", as_root=True):
    lab.up(heads=1, lun_count=LUNS, lun_size=lun_size)
    return serve(lab, as_root)


def serve(lab, as_root=True):
    """The VNFS to load, on a lab of one head; a Target with roles instance, etcd, vnfsd.

    as_root: what the client does is root's there; else it is nobody's.
    """
    symnas = lab.symnas()
    luns = lab.state.data["luns"]
    symnas("network", "create", "nfs0", "--device", "eth1")
    symnas("lun", "import", *[f"{lun['name']}={lun['path']}" for lun in luns])
    symnas("volume", "create", "v1", "--luns", ",".join(lun["name"] for lun in luns),
           "--stripe-unit", "256K")
    symnas("fs", "create", EXPORT, "--volume", "v1", "--mode", "0755" if as_root else "0777")
    symnas("export", "create", EXPORT, "--fs", EXPORT, "--path", "/", "--clients", "10.0.0.0/24",
           "--access", "rw", "--squash", "none" if as_root else "all")
    symnas("vnfs", "create", "vnfs1", "--vip", f"{VIP}/24", "--network", "nfs0",
           "--exports", EXPORT, "--heads", "c1n1", timeout_s=120)

    def processes():
        """What an operation costs in all. An instance's pid is its ganesha's."""
        instances = symnas.json("status")["instances"].values()
        return {"instance": [i["pid"] for i in instances if i["pid"]],
                "etcd": [lab.process("etcd.c1n1")["pid"]],
                "vnfsd": [lab.process("vnfsd.c1n1")["pid"]]}

    return Target(lab, "symnas", f"nfs://{VIP}/{EXPORT}", processes)


def measure(targets, case, shape, opts, file_mib=None):
    """Interleaved rounds; returns the median figures of both and the median ratio."""
    name, connections, depth = shape
    runs = {target.name: [] for target in targets}
    for number in range(opts.rounds):
        for target in targets:
            runs[target.name].append(
                target.load(case, connections, depth, opts, seed=number + 1, file_mib=file_mib))
    unit, key = rate_of(case)
    ours, theirs = (runs[t.name] for t in targets)
    return {
        "case": f"{case}, {name}" + (", warm cache" if file_mib else ""), "unit": unit,
        "symnas": median([r[key] for r in ours]), "peer": median([r[key] for r in theirs]),
        "ratio": median([a[key] / max(b[key], 1e-9) for a, b in zip(ours, theirs, strict=True)]),
        "cpu_us_per_op": median([r["cpu_us_per_op"] for r in ours]),
        "peer_cpu_us_per_op": median([r["cpu_us_per_op"] for r in theirs]),
        "p50_us": median([r["p50_us"] for r in ours]),
        "peer_p50_us": median([r["p50_us"] for r in theirs]),
    }


HEADINGS = (f"{'case':<34}{'symnas':>11}{'FSAL_VFS':>11} {'unit':<6}{'ratio':>7}{'us/op':>10}"
            f"{'peer us':>10}")


def show(row):
    print(f"{row['case']:<34}{row['symnas']:>11.1f}{row['peer']:>11.1f} {row['unit']:<6}"
          f"{row['ratio']:>7.2f}{row['cpu_us_per_op']:>10.1f}{row['peer_cpu_us_per_op']:>10.1f}",
          flush=True)


def write_json(target, rows):
    out = os.path.join(product.build_dir(), "bench")
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, target + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
    print(f"written: {os.path.relpath(path, REPO)}")


def ended(*_):
    """SIGTERM and SIGINT undo everything, as an error does."""
    raise LabError("interrupted")
