"""Freezes the threads of a process that wait in epoll, and nothing else of it, by ptrace(2).

    frozen_threads.py PID THREAD-NAME

Of an instance: whoever takes requests off its connections, while its heartbeats and its pulse go
on. Prints how many threads are frozen, and holds them until PID dies or it dies itself.
"""

import contextlib
import ctypes
import os
import sys

_SEIZE, _INTERRUPT = 0x4206, 0x4207
_ANY_THREAD = 0x40000000  # __WALL
# epoll_wait and epoll_pwait of x86_64, epoll_pwait of arm64.
_EPOLL = {"x86_64": ("232", "281"), "aarch64": ("22",)}[os.uname().machine]


def waits_in_epoll(pid, thread, name):
    """Also false for a thread that has ended."""
    with contextlib.suppress(OSError):
        directory = f"/proc/{pid}/task/{thread}"
        with open(f"{directory}/comm", encoding="utf-8") as file:
            if file.read().strip() != name:
                return False
        with open(f"{directory}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in _EPOLL
    return False


def main():
    pid, name = int(sys.argv[1]), sys.argv[2]
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = (ctypes.c_long,) * 4
    frozen = 0
    for thread in map(int, os.listdir(f"/proc/{pid}/task")):
        if waits_in_epoll(pid, thread, name):
            for request in (_SEIZE, _INTERRUPT):
                if ptrace(request, thread, 0, 0) != 0:
                    raise SystemExit(f"ptrace of {thread}: {os.strerror(ctypes.get_errno())}")
            frozen += 1
    print(frozen, flush=True)
    # A thread that dies is to be waited for by its tracer, too, or its process never ends.
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, _ANY_THREAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
