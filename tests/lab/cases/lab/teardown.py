"""The lab itself: it leaves nothing behind, whenever it was interrupted."""

import os
import signal
import subprocess
import time

import labs
from lab_case import check, lab_test
from symlab import product
from symlab.cluster import Lab

LAB = os.path.join(product.REPO, "deploy", "lab", "lab")
INTERRUPTED_AFTER_S = (0.1, 0.4, 0.8, 1.5, 3.0)


def leftovers(prefix):
    """What on this machine bears the lab's name, and loop devices on its files."""
    lab = Lab(prefix)
    found = [n for n in os.listdir("/run/netns") if n.startswith(prefix + "-")] \
        if os.path.isdir("/run/netns") else []
    found += [lab.directory] if os.path.exists(lab.directory) else []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace")
        except OSError:
            continue
        if lab.directory + "/" in words:
            found.append(f"pid {pid}: {words[:80]}")
    losetup = subprocess.run(["losetup", "-a"], capture_output=True, text=True)
    found += [line for line in losetup.stdout.splitlines() if lab.directory in line]
    with open("/proc/self/mountinfo") as mounts:
        found += [line for line in mounts if lab.directory in line]
    return found


@lab_test("deploy/lab/README.md", ends_lab=True)
def lab_down_leaves_nothing(bench):
    """After `lab down` no process, namespace, loop device, mount or file is left."""
    bench.lab.down()
    bench.made = False
    check(not leftovers(bench.prefix), f"left: {leftovers(bench.prefix)}")
    check(not bench.lab.down(), "a second `lab down` found something")


@lab_test("deploy/lab/README.md", lab=labs.OWN_LAB)
def interrupted_lab_up_leaves_nothing(bench):
    """`lab up` killed at any moment: `lab down` removes what there is."""
    prefix = bench.prefix[:6] + "c"
    for after_s in INTERRUPTED_AFTER_S:
        up = subprocess.Popen([LAB, "--prefix", prefix, "up", "N=1", "--luns", "2",
                               "--lun-size", "64M", "--loop"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
        try:
            up.wait(after_s)
        except subprocess.TimeoutExpired:
            up.send_signal(signal.SIGKILL)
            up.wait()
        for _ in range(2):
            subprocess.run([LAB, "--prefix", prefix, "down"], check=True, timeout=60,
                           stdout=subprocess.DEVNULL)
        check(not leftovers(prefix), f"killed after {after_s} s, left: {leftovers(prefix)}")


@lab_test("deploy/lab/README.md", lab=labs.OWN_LAB)
def two_labs_beside_each_other(bench):
    """Labs with different prefixes share nothing."""
    labs = [Lab(bench.prefix[:6] + suffix) for suffix in ("d", "e")]
    try:
        for lab in labs:
            lab.down()
            lab.up(1, 1, "64M")
        for lab in labs:
            lab.symnas()("lun", "import", f"LUN0={lab.state.data['luns'][0]['path']}")
        labs[0].down()
        since = time.monotonic()
        labs[1].symnas()("status")
        check(time.monotonic() - since < 10, "the second lab suffers from the first one's end")
    finally:
        for lab in labs:
            lab.down()


@lab_test("deploy/lab/README.md", lab=labs.OWN_LAB)
def two_heads_have_a_witness(bench):
    """A lab of two heads has a third etcd member, on the management network only."""
    lab = Lab(bench.prefix[:6] + "w")
    lab.down()
    try:
        lab.up(2, 1, "64M")
        members = lab.running_symnas().json("status")["etcd"]
        check(len(members) == 3 and all(member["reachable"] for member in members), str(members))
    finally:
        lab.down()
