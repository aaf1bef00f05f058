"""`lab up` the command: what it prints works."""

import os
import shlex
import subprocess

import labs
from lab_case import check, lab_test
from symlab import product
from symlab.cluster import Lab

LAB = os.path.join("deploy", "lab", "lab")
TIMEOUT_S = 240


def run(*words):
    done = subprocess.run([LAB, *words], cwd=product.REPO, capture_output=True, text=True,
                          timeout=TIMEOUT_S)
    check(done.returncode == 0, f"`{' '.join(words)}`: {done.stdout}{done.stderr}")
    return done.stdout


@lab_test("deploy/lab/README.md", lab=labs.OWN_LAB)
def lab_up_prints_a_line_that_mounts(bench):
    """The last line that `lab up` prints mounts the filesystem in the lab's client VM."""
    prefix = bench.prefix[:6] + "s"
    Lab(prefix).down()
    try:
        shown = run("--prefix", prefix, "up", "N=2", "--luns", "2", "--lun-size", "256M")
        for vip in ("10.0.0.101", "10.0.0.102"):
            check(f"\n  mount -o vers=4.1 {vip}:/u04 /mnt\n" in shown, shown)
        command = shlex.split(shown.strip().splitlines()[-1])
        check(command[0] == LAB, f"the last line is {command}")
        seen = run(*command[1:])
        check("10.0.0.101:/u04" in seen and "/mnt" in seen, f"`df` in the client: {seen}")
        client = ["--prefix", prefix, "client", "--"]
        run(*client, "echo hello > /mnt/there && umount /mnt")
        seen = run(*client, "mount -o vers=3 10.0.0.102:/u04 /mnt && cat /mnt/there")
        check(seen == "hello\n", f"through the other VNFS, another version: {seen}")
        run("--prefix", prefix, "down")
        run("--prefix", prefix, "up", "N=1", "EMPTY=1", "--luns", "1", "--lun-size", "64M")
        empty = Lab(prefix)
        check(empty.exists(), "there is no lab")
        check(not empty.symnas().json("vnfs", "ls")["vnfs"], "EMPTY=1 serves something")
        check(not empty.symnas().json("lun", "ls")["luns"], "EMPTY=1 has imported something")
    finally:
        Lab(prefix).down()
