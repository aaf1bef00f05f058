"""The machine and the versions that a figure was measured with."""

import os
import platform
import subprocess

from symlab import product


def _output(argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _named(path, beginning):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(beginning):
                return line.split(":", 1)[1].strip()
    return ""


def commit():
    """The tree's commit, with "+" if it has changes that are not committed."""
    where = ["git", "-C", product.REPO]
    found = _output([*where, "rev-parse", "--short", "HEAD"])
    return found + ("+" if _output([*where, "status", "--porcelain", "--untracked-files=no"])
                    else "")


def described():
    """{what: words}."""
    etcd = _output([product.program("etcd"), "--version"]).splitlines()
    return {
        "processors": f"{os.cpu_count()} x {_named('/proc/cpuinfo', 'model name')}",
        "memory": f"{int(_named('/proc/meminfo', 'MemTotal').split()[0]) >> 20} GiB",
        "kernel": platform.release().split("-")[0],
        "symnas": f"{_output([product.program('symnas'), '--version'])}, commit {commit()}",
        "etcd": etcd[0].removeprefix("etcd Version: ") if etcd else "",
        "python": platform.python_version(),
    }
