"""Waiting for a condition with a deadline; nothing here sleeps for a fixed time."""

import time

from .errors import LabDeadEnd, LabError

_POLL_S = 0.05


def eventually(deadline_s, what, condition):
    """Polls until condition() is true and returns its value; LabError names `what` otherwise.

    A LabError raised by condition() counts as "not yet" and is quoted when time is up.
    """
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
