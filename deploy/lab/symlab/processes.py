"""Processes that outlive the program that started them: start, recognise, stop.

A process is recorded as pid + start time (field 22 of /proc/PID/stat): a pid that the kernel has
given to another process is never signalled. Everything a lab starts is also put into one cgroup
(version 2, where the machine has it writable), in which daemonised offspring is found.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import time

from . import netns as netns_module
from .errors import LabError

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_MS_BIND = 0x1000
_MS_REC_PRIVATE = 0x4000 | 0x40000
_POLL_S = 0.02
_KILL_WAIT_S = 10.0


def start_time(pid):
    """Clock ticks after boot at which `pid` started, or None when there is no such process.

    A process whose first thread is a zombie exists as long as another thread does not end.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
        if fields[0] == b"Z" and len(os.listdir(f"/proc/{pid}/task")) == 1:
            return None
    except OSError:
        return None
    return int(fields[19])


def is_alive(record):
    if record is None or record["start_time"] is None:
        return False
    return start_time(record["pid"]) == record["start_time"]


def _bind_mounts(libc, binds):
    """Gives the calling process a mount namespace of its own, in which it sees `binds`."""
    if libc.unshare(_CLONE_NEWNS) != 0:
        raise OSError("unshare(CLONE_NEWNS) failed")
    if libc.mount(None, b"/", None, _MS_REC_PRIVATE, None) != 0:
        raise OSError("mount(MS_PRIVATE) failed")
    for source, target in binds:
        if libc.mount(source.encode(), target.encode(), None, _MS_BIND, None) != 0:
            raise OSError(f"bind mount of {source} on {target} failed")


def spawn(argv, log_path, netns=None, hostname=None, cgroup=None, env=None, pass_fds=(),
          binds=()):
    """Starts argv detached, with its output appended to log_path; returns its record.

    netns: name of a network namespace; hostname: gives the process a UTS namespace of its own;
    binds: [(source, target)]: bind mounts that only the process and its offspring see.
    """
    net_fd = os.open(f"{netns_module.RUN_DIR}/{netns}", os.O_RDONLY) if netns else None
    libc = ctypes.CDLL(None, use_errno=True)

    def enter():
        os.setsid()
        if cgroup:
            with contextlib.suppress(OSError), open(f"{cgroup}/cgroup.procs", "w") as file:
                file.write("0")
        if hostname:
            if libc.unshare(_CLONE_NEWUTS) != 0:
                raise OSError("unshare(CLONE_NEWUTS) failed")
            libc.sethostname(hostname.encode(), len(hostname))
        if binds:
            _bind_mounts(libc, binds)
        if net_fd is not None:
            netns_module.setns(net_fd)

    try:
        with open(log_path, "ab") as log:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=enter,
                env=env, pass_fds=pass_fds, close_fds=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise LabError(f"cannot start {argv[0]}: {error}") from error
    finally:
        if net_fd is not None:
            os.close(net_fd)
    return {"pid": process.pid, "start_time": start_time(process.pid), "argv": list(argv)}


def _reap(pid):
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def send_signal(record, number):
    """Signals exactly the recorded process; returns False when that has ended."""
    try:
        handle = os.pidfd_open(record["pid"])
    except OSError:
        return False
    try:
        if not is_alive(record):
            return False
        signal.pidfd_send_signal(handle, number)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)


def wait_gone(record, timeout_s):
    deadline = time.monotonic() + timeout_s
    while True:
        _reap(record["pid"])
        if not is_alive(record):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)


def stop(record, grace_s):
    """Ends the recorded process: SIGTERM, then SIGKILL after grace_s seconds (0: at once)."""
    if record is None:
        return
    if grace_s > 0 and send_signal(record, signal.SIGTERM) and wait_gone(record, grace_s):
        return
    if send_signal(record, signal.SIGKILL) and not wait_gone(record, _KILL_WAIT_S):
        raise LabError(f"pid {record['pid']} ({record['argv'][0]}) survives SIGKILL")
    _reap(record["pid"])


def kill_pids(pids):
    """SIGKILLs processes found by namespace or cgroup (not by record), and waits for their end."""
    records = []
    for pid in pids:
        started = start_time(pid)
        if started is not None and pid != os.getpid():
            records.append({"pid": pid, "start_time": started, "argv": [f"pid {pid}"]})
    for record in records:
        send_signal(record, signal.SIGKILL)
    for record in records:
        if not wait_gone(record, _KILL_WAIT_S):
            raise LabError(f"pid {record['pid']} survives SIGKILL")


def cgroup_places(name):
    """Where a version-2 cgroup of that name can be made."""
    with open("/proc/mounts", encoding="ascii", errors="replace") as mounts:
        return [os.path.join(line.split()[1], name) for line in mounts
                if line.split()[2] == "cgroup2"]


def cgroup_members(path):
    found = []
    if path:
        for directory, _, _ in os.walk(path):
            with contextlib.suppress(OSError), open(f"{directory}/cgroup.procs") as file:
                found += [int(line) for line in file]
    return found


def remove_cgroup(path):
    if path and os.path.isdir(path):
        for directory, _, _ in os.walk(path, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
