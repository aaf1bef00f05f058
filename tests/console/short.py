"""What needs neither a browser nor a lab: the plug-in can be made, its own tests, its size."""

import json
import os
import re
import subprocess
import sys
import time

from symlab import product

PROGRAM = os.path.join(product.REPO, "deploy", "packages", "console")
SKIPPED = 77
BUNDLE_MAX_BYTES = 2_000_000
BUILD_MAX_S = 400.0
TESTS_MAX_S = 300.0
PASSED = re.compile(r"^\S+ pass (\d+)$", re.MULTILINE)
FAILED = re.compile(r"^\S+ fail (\d+)$", re.MULTILINE)


class BuildFailed(Exception):
    """The plug-in is not made; the text has what the build said."""


def build(plug_in):
    """Makes the plug-in; returns why that is not possible on this machine, "" if it is made."""
    done = subprocess.run([PROGRAM, plug_in], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=BUILD_MAX_S)
    if done.returncode == SKIPPED:
        return done.stdout.strip().split("\n")[-1]
    if done.returncode:
        raise BuildFailed(done.stdout[-3000:])
    return ""


def own_tests():
    """The application's unit tests and types; returns (how many passed, why none were run)."""
    done = subprocess.run([PROGRAM, "--test"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=TESTS_MAX_S)
    if done.returncode == SKIPPED:
        return 0, done.stdout.strip().split("\n")[-1]
    passed = sum(map(int, PASSED.findall(done.stdout)))
    if done.returncode or not passed or any(map(int, FAILED.findall(done.stdout))):
        raise AssertionError(done.stdout[-3000:])
    return passed, ""


def check_files(plug_in):
    """The manifest offers an entry of the menu whose file is there, and all is small enough."""
    with open(os.path.join(plug_in, "manifest.json"), encoding="utf-8") as file:
        menu = json.load(file)["menu"]
    for name in menu:
        if not os.path.exists(os.path.join(plug_in, f"{name}.html")):
            raise AssertionError(f"the menu's {name}.html is not in {os.listdir(plug_in)}")
    sizes = {name: os.path.getsize(os.path.join(folder, name))
             for folder, _, names in os.walk(plug_in) for name in names}
    if sum(sizes.values()) > BUNDLE_MAX_BYTES:
        raise AssertionError(f"over {BUNDLE_MAX_BYTES} bytes: {sizes}")
    return sum(sizes.values())


def run(plug_in, counts):
    """Runs them and counts: each unit test of the application counts one."""
    since = time.monotonic()
    try:
        passed, reason = own_tests()
        counts["ok"] += passed
        counts["SKIP"] += bool(reason)
        print(f"SKIP unit tests: {reason}" if reason else
              f"ok {passed} unit tests, types ({time.monotonic() - since:.1f} s)", flush=True)
    except (AssertionError, subprocess.TimeoutExpired) as failed:
        counts["FAIL"] += 1
        print(f"FAIL unit tests, types: {failed}", flush=True)
    try:
        size = check_files(plug_in)
        counts["ok"] += 1
        print(f"ok the plug-in has {size} bytes", flush=True)
    except AssertionError as failed:
        counts["FAIL"] += 1
        print(f"FAIL files: {failed}", flush=True)
    sys.stdout.flush()
