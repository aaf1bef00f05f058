"""Sixteen heads with 32 VNFSs and 64 exports; five heads die at once."""

import collections
import concurrent.futures
import math
import time

import labs
import nfs_null
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state
from steps.faults import automatic_fencing
from symlab import head_processes, processes
from symlab.faults import Faults

HEADS = 16
VNFSS = 32
EXPORTS = 64
FILESYSTEMS = 8
# One of the three with an etcd member among them.
DYING = ("c1n3", "c1n6", "c1n9", "c1n12", "c1n15")
STARTED_S = 60.0
HEARD_S = 6.0  # long enough for every head to be missed
SERVED_S = 10.0
PATIENCE_S = 60.0


def vip(number):
    return f"10.0.0.{100 + number}"


def make_services(lab):
    """VNFS n is at home on head n modulo 16; the heads after it are its backups, in turn."""
    symnas = lab.symnas()
    luns = lab.state.data["luns"]
    heads = [head["name"] for head in lab.state.data["heads"]]
    symnas("network", "create", "nfs0", "--device", "eth1")
    symnas("lun", "import", *(f"{lun['name']}={lun['path']}" for lun in luns))
    for n, lun in enumerate(luns):
        symnas("volume", "create", f"v{n}", "--luns", lun["name"], "--stripe-unit", "256K")
        symnas("fs", "create", f"u{n}", "--volume", f"v{n}")
    for n in range(EXPORTS):
        symnas("export", "create", f"e{n}", "--fs", f"u{n % FILESYSTEMS}",
               "--clients", "10.0.0.0/24", "--squash", "none")
    for n in range(VNFSS):
        at = n % HEADS
        symnas("vnfs", "create", f"n{n}", "--vip", f"{vip(n)}/24", "--network", "nfs0",
               "--exports", f"e{n},e{n + VNFSS}", "--heads", ",".join(heads[at:] + heads[:at]),
               "--no-wait")


def rows(lab):
    return {row["name"]: row for row in lab.symnas().json("vnfs", "status")["vnfs"]}


def all_serving(lab):
    """Every VNFS's row, once all serve."""
    found = rows(lab)
    return all(row["state"] == "serving" for row in found.values()) and found


def running(lab):
    """{VNFS: heads on which an instance of it runs}."""
    where = collections.defaultdict(list)
    for head in lab.state.data["heads"]:
        for vnfs, (record, _) in head_processes.instances(head).items():
            if processes.is_alive(record):
                where[vnfs].append(head["name"])
    return where


def once_each(lab):
    where = running(lab)
    return len(where) == VNFSS and all(len(heads) == 1 for heads in where.values())


def check_shares(found, heads, most):
    """Each has an owner among `heads`, and none of these has more than its share."""
    owned = collections.Counter(row["owner"] for row in found.values())
    check(set(owned) <= set(heads), f"owners: {owned}")
    check(max(owned.values()) <= most, f"one head has more than {most} of {VNFSS}: {owned}")


@lab_test("INV-8", "architecture/moves.md", lab=labs.OWN_LAB_OF_SEVERAL)
def five_of_sixteen_heads_die(bench):
    """16 heads, 32 VNFSs, 64 exports: five heads die at once; all is served within 10 s."""
    bench.discard()
    lab = bench.lab
    try:
        since = time.monotonic()
        lab.up(HEADS, FILESYSTEMS, "256M")
        up_s = time.monotonic() - since
        make_services(lab)
        found = eventually(STARTED_S, "all VNFSs serve", lambda: all_serving(lab))
        print(f"     {HEADS} heads are up after {up_s:.1f} s, {VNFSS} VNFSs with {EXPORTS} exports "
              f"serve after {time.monotonic() - since:.1f} s")
        heads = [head["name"] for head in lab.state.data["heads"]]
        check_shares(found, heads, math.ceil(VNFSS / HEADS))
        lab.set_fence_kind("power")
        with automatic_fencing(bench, "power"):
            lab.wait_members()
            bench.let_run(HEARD_S)
            lose_heads(bench, heads)
            come_back(bench)
    finally:
        bench.discard()


def lose_heads(bench, heads):
    lab = bench.lab
    faults = Faults(lab)
    before = rows(lab)
    since = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(DYING)) as pool:
        list(pool.map(faults.kill, DYING))
    times = nfs_null.wait_for_all(lab.client_netns, [vip(n) for n in range(VNFSS)], PATIENCE_S,
                                  since)
    check(all(times.values()), f"not served: {[a for a, at in times.items() if not at]}")
    lost = sorted(times[vip(n)] for n in range(VNFSS) if before[f"n{n}"]["owner"] in DYING)
    kept = max(times[vip(n)] for n in range(VNFSS) if before[f"n{n}"]["owner"] not in DYING)
    print(f"     {len(DYING)} heads died: their {len(lost)} VNFSs answered after {lost[0]:.1f} to "
          f"{lost[-1]:.1f} s, the others' slowest after {kept:.1f} s")
    check(lost[-1] < SERVED_S, f"the last one was served after {lost[-1]:.1f} s")
    found = eventually(PATIENCE_S, "all VNFSs are shown as serving", lambda: all_serving(lab))
    alive = [head for head in heads if head not in DYING]
    check_shares(found, alive, math.ceil(VNFSS / len(alive)))
    check(once_each(lab), f"not one instance each: {running(lab)}")
    for name, row in found.items():
        check(before[name]["owner"] in DYING or before[name]["owner"] == row["owner"],
              f"{name} moved from {before[name]['owner']}, which lives, to {row['owner']}")


def come_back(bench):
    """The five boot, wait, and `vnfs distribute` spreads everything again."""
    lab = bench.lab
    for head in DYING:
        lab.unfence(head)
    eventually(PATIENCE_S, "the heads are back",
               lambda: not any(fence_state(bench, head) for head in DYING))
    lab.wait_members()
    check(all(row["owner"] not in DYING for row in rows(lab).values()), "something went back")
    since = time.monotonic()
    lab.symnas()("vnfs", "distribute", timeout_s=300)
    found = eventually(PATIENCE_S, "all serve at home", lambda: all_serving(lab))
    check_shares(found, [head["name"] for head in lab.state.data["heads"]],
                 math.ceil(VNFSS / HEADS))
    check(once_each(lab), f"not one instance each: {running(lab)}")
    print(f"     distributed again after {time.monotonic() - since:.1f} s")
