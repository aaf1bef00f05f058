"""The workloads. Importing a module of this folder registers what it has."""

import importlib

# The order in which they run: those of one lab follow each other, and what hurts it comes last.
ORDER = ("links", "tablespaces", "dss", "oltp", "stress", "dips", "same", "iscsi")


def load_cases():
    """Imports them all."""
    for name in ORDER:
        importlib.import_module(f"{__name__}.{name}")
