"""Mounts of a lab in the machine's own mount namespace."""

import os
import subprocess

from .errors import LabError


def mount_run_dir(directory):
    """Mounts what is /run on a head: memory, where a sync costs nothing."""
    os.makedirs(directory, exist_ok=True)
    argv = ["mount", "-t", "tmpfs", "-o", "mode=0755", "symlab", directory]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv)}: {done.stderr.strip()}")


def unmount(directories):
    """Unmounts the directories. May be repeated, and done while somebody uses them."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        mounted = {line.split()[4] for line in table}
    for directory in directories:
        if directory in mounted:
            subprocess.run(["umount", "--lazy", directory], capture_output=True)
