"""Which cases `run` takes, and in what order."""

import importlib
import os

from console_case import all_cases

# Cases that end processes of the lab come after those that only look.
ORDER = ("looks", "access", "moves", "changes", "faults", "size")


def load(here):
    """Imports every file of cases/; returns the cases in order."""
    for name in sorted(os.listdir(os.path.join(here, "cases"))):
        if name.endswith(".py"):
            importlib.import_module(f"cases.{name[:-3]}")
    return sorted(all_cases(), key=lambda case: ORDER.index(case.place))


def chosen(cases, words):
    """A word that is a file is not looked for in names. SystemExit: no case has the word."""
    found = {case.name: case for word in words for case in cases
             if (word == case.place if word in ORDER else word in case.name)}
    for word in words:
        if not any(word in (case.place, case.name) or word in case.name for case in cases):
            raise SystemExit(f"no case has {word!r} in its file or name")
    return [case for case in cases if case.name in found] if words else list(cases)
