"""How long the disk under a lab takes for one write: a control for what clients wait for.

Run with a path, writes and syncs a block there five times a second, and prints "AT_S MS" for each
time that took longer than NOTED_MS, until it is killed.
"""

import contextlib
import os
import subprocess
import sys
import time

NOTED_MS = 200.0
_PAUSE_S = 0.2
_BLOCK = bytes(4096)


@contextlib.contextmanager
def stalls(directory):
    """Yields a list that has, when the body has ended, {at_s, ms} of each stall of the disk."""
    found = []
    path = os.path.join(directory, "disk_probe")
    with subprocess.Popen([sys.executable, __file__, path], stdout=subprocess.PIPE,
                          text=True) as probe:
        try:
            yield found
        finally:
            probe.kill()
            words = (line.split() for line in probe.communicate()[0].splitlines())
            found += [{"at_s": float(at), "ms": float(ms)} for at, ms in words]
            os.unlink(path)


def during(found, at_s, ms):
    """The longest of the stalls that overlap the span of ms that ended at at_s; 0: none does."""
    return max((one["ms"] for one in found
                if one["at_s"] > at_s - ms / 1000 and one["at_s"] - one["ms"] / 1000 < at_s),
               default=0.0)


def main():
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
    while True:
        since = time.monotonic()
        os.pwrite(file, _BLOCK, 0)
        os.fdatasync(file)
        ms = 1000 * (time.monotonic() - since)
        if ms > NOTED_MS:
            print(f"{time.time():.3f} {ms:.0f}", flush=True)
        time.sleep(_PAUSE_S)


if __name__ == "__main__":
    main()
