"""Runs cases one after another on a set-up of machines, and prints what came of each."""

import time

from symlab.errors import LabError


class Skip(Exception):
    """The case cannot be judged here; says why."""


def _describe(error):
    return str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"


def carry_out(site, chosen, keep):
    """How many cases have passed and were skipped, and whether none has failed: the first failure
    ends them. Prints "ok NAME (time)", "FAIL NAME: reason" or "SKIP NAME: reason"."""
    passed = skipped = 0
    for case in chosen:
        begin = time.monotonic()
        try:
            case(site)
        except Skip as reason:
            skipped += 1
            print(f"SKIP {case.__name__}: {reason}", flush=True)
            continue
        except Exception as error:  # whatever it is, the last line is printed
            print(f"FAIL {case.__name__}: {_describe(error)}", flush=True)
            if keep:
                input("up until Enter ")
            return passed, skipped, False
        passed += 1
        print(f"ok {case.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    return passed, skipped, True
