"""Waiting for a condition with a deadline; nothing here sleeps for a fixed time."""

import os
import time

from .errors import LabDeadEnd, LabError

_POLL_S = 0.05
# Factor by which things may take longer than usual; make lab-asan and lab-tsan set it.
SLOWER = float(os.environ.get("SYMNAS_LAB_SLOWER", "1"))


def eventually(deadline_s, what, condition):
    """Polls until condition() is true and returns its value; LabError names `what` otherwise.

    deadline_s: for a machine and a build of usual speed.
    A LabError raised by condition() counts as "not yet" and is quoted when the time is over.
    """
    deadline_s *= SLOWER
    end = time.monotonic() + deadline_s
    reason = ""
    while True:
        try:
            value = condition()
            if value:
                return value
        except LabDeadEnd:
            raise
        except LabError as error:
            reason = f" ({error})"
        if time.monotonic() > end:
            raise LabError(f"{what}: not within {deadline_s:g} s{reason}")
        time.sleep(_POLL_S)
