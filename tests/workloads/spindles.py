"""LUNs as slow as disks: the loop devices of a lab, throttled for the processes of its instances.

A disk is modelled by two limits, I/Os and bytes per second, of reads and writes each. There are no
seeks: near and far cost the same, and reads do not disturb writes. Needs the blkio controller of
cgroup version 1, which throttles direct I/O of the processes in a group.
"""

import contextlib
import os

from symlab.errors import LabError

ROOT = "/sys/fs/cgroup/blkio"
# 256 KiB at a time is bounded by the first, 1 MiB by the second.
IOPS = 24
BYTES_PER_S = 10_000_000


def _group(prefix):
    return os.path.join(ROOT, f"symnas-spindles-{prefix}")


def _write(path, text):
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}: LUNs cannot be made slow here; the blkio "
                       "controller of cgroup version 1 has to be mounted and writable") from error


def throttle(prefix, devices, pids, iops=IOPS, bytes_per_s=BYTES_PER_S):
    """From now on these processes' I/O on the devices is as slow as that of disks, which they
    share."""
    group = _group(prefix)
    with contextlib.suppress(OSError):
        os.makedirs(group, exist_ok=True)
    for device in devices:
        number = os.stat(device).st_rdev
        named = f"{os.major(number)}:{os.minor(number)}"
        for way in ("read", "write"):
            _write(f"{group}/blkio.throttle.{way}_iops_device", f"{named} {iops}")
            _write(f"{group}/blkio.throttle.{way}_bps_device", f"{named} {bytes_per_s}")
    for pid in pids:
        _write(f"{group}/cgroup.procs", str(pid))


def release(prefix):
    """Removes the group; its processes have ended or are given back. May be repeated."""
    group = _group(prefix)
    if not os.path.isdir(group):
        return
    with open(f"{group}/cgroup.procs", encoding="ascii") as file:
        for pid in file.read().split():
            with contextlib.suppress(LabError):
                _write(f"{ROOT}/cgroup.procs", pid)
    with contextlib.suppress(OSError):
        os.rmdir(group)
