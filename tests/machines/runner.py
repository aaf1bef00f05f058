"""Runs cases one after another on a set-up of machines, and prints what came of them.

"ok NAME (time)", "FAIL NAME: reason" or "SKIP NAME: reason" per case; the last line is "N passed,
N failed, N skipped". The first failure ends the run: each case begins where the former has ended.
"""

import argparse
import os
import signal
import sys
import time

from cases import Skip
from place import TOP
from symlab.errors import LabError


def options(description, prefix):
    """A parser of what all runs take."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="wait for Enter after a failure")
    parser.add_argument("--prefix", default=prefix,
                        help="of all names; runs of different prefixes do not disturb each other")
    parser.add_argument("--packages", help="folder of the .debs", type=_packages,
                        default=os.path.join(os.environ.get("SYMNAS_BUILD",
                                                            os.path.join(TOP, "build")),
                                             "packages", "bookworm"))
    return parser


def _packages(folder):
    if not os.path.exists(os.path.join(folder, "Packages")):
        sys.exit(f"{folder}: no packages (make packages RELEASE=bookworm)")
    return os.path.realpath(folder)


def _describe(error):
    return str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"


def run(site_class, cases, given):
    """The exit status. `given`: what options() has parsed. LabError: there is no set-up."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # takes the set-up away, too
    passed = failed = skipped = 0
    with site_class(given.prefix, given.packages) as site:
        for case in cases:
            begin = time.monotonic()
            try:
                case(site)
            except Skip as reason:
                skipped += 1
                print(f"SKIP {case.__name__}: {reason}", flush=True)
                continue
            except Exception as error:  # whatever it is, the last line is printed
                failed += 1
                print(f"FAIL {case.__name__}: {_describe(error)}", flush=True)
                if given.keep:
                    input("up until Enter ")
                break
            passed += 1
            print(f"ok {case.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
