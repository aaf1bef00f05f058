"""Clients that work all the time: NFSv3 and NFSv4.1, and one that holds a lock which another wants.

All of it is verified by the clients themselves: bytes read are those written, and a lock that was
granted to two at once is an error.
"""

import contextlib
import json
import os
import subprocess
import threading
import time

from cases import EXPORT, VIP, check
from place import TOP, program
from symlab import netns
from symlab.wait import SLOWER

URL = f"nfs://{VIP}/{EXPORT}"
V3_KINDS, V4_KINDS = "read,write,create", "read,write,lock"
LOCK_PAUSE_S = 0.1
ENDED_S = 120


def client_program(name):
    return os.path.join(TOP, "tests", "client", name)


class Meter:
    """A program that prints "running", and what it has seen when it is asked to end."""

    def __init__(self, name, argv):
        self.name = name
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)

    def wait_running(self):
        line = self.process.stdout.readline()
        check("running" in line, f"{self.name} says {line!r}")

    def end(self):
        """{kind: what was seen}"""
        self.process.terminate()
        return json.loads(self.process.communicate(timeout=ENDED_S)[0].splitlines()[-1])


class LockClient:
    def __init__(self):
        self.process = subprocess.Popen(
            [client_program("nfs4_locks"), "--url", URL, "--file", "ha-lock", "--minor", "1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check(self.process.stdout.readline().strip() == "ready", "no lock client")

    def ask(self, words):
        """"" if the client has ended."""
        try:
            self.process.stdin.write(words + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()
        except (OSError, ValueError):
            return ""


class Locks(threading.Thread):
    """One holds a range, and asks for it again and again; another one has to be denied it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.holder, self.other = LockClient(), LockClient()
        self.stop = threading.Event()
        self.wrong = []
        self.asked = 0
        check(self.holder.ask("hold 0 10") == "granted", "the lock is held by somebody")

    def run(self):
        while not self.stop.is_set():
            for client, wanted in ((self.holder, "granted"), (self.other, "denied")):
                answer = client.ask("hold 0 10")
                if answer != wanted:
                    self.wrong.append(f"{answer or 'the client has ended'}, not {wanted}")
                    return
            self.asked += 1
            time.sleep(LOCK_PAUSE_S)

    def end(self):
        self.stop.set()
        self.join(ENDED_S)
        if not self.wrong:
            self.holder.ask("release 0 10")
        return self.wrong

    def kill(self):
        self.stop.set()
        for client in (self.holder, self.other):
            client.process.kill()
            client.process.wait()
        self.join(ENDED_S)


class Seen:
    """Of a load: set when it has ended."""

    longest_ms = 0.0
    text = ""


@contextlib.contextmanager
def load(site, what, limit_ms=None):
    """Clients work while the body runs. Checks that no operation failed and no lock was lost, and
    that nobody waited for longer than limit_ms, if that is given; prints and yields the gaps."""
    seen = Seen()
    with contextlib.ExitStack() as stack:
        with netns.entered(site.client_netns):
            meters = [
                Meter("NFSv3", [program("nfs_io"), "gaps", "--url", URL, "--seconds", "900",
                                "--kinds", V3_KINDS, "--pause-us", "5000"]),
                Meter("NFSv4.1", [client_program("nfs4_gaps"), "--url", URL, "--minor", "1",
                                  "--kinds", V4_KINDS, "--seconds", "900", "--pause-us", "5000"])]
            for meter in meters:
                stack.callback(meter.process.wait)
                stack.callback(meter.process.kill)
            locks = Locks()
        locks.start()
        stack.callback(locks.kill)
        for meter in meters:
            meter.wait_running()
        time.sleep(1.0)
        yield seen
        time.sleep(1.0)
        wrong = locks.end()
        kinds = {f"{meter.name} {kind}": one for meter in meters
                 for kind, one in meter.end().items()}
    gaps = {kind: one["longest_gap_ms"] for kind, one in kinds.items()}
    seen.longest_ms = max(gaps.values())
    seen.text = ", ".join(f"{kind} {gap:.0f}" for kind, gap in gaps.items())
    print(f"     {what}: longest gap {seen.longest_ms:.0f} ms ({seen.text}); the lock was asked "
          f"for {locks.asked} times", flush=True)
    check(not wrong, f"{what}: a lock: {wrong}")
    failed = {kind: one for kind, one in kinds.items() if one["errors"]}
    check(not failed, f"{what}: operations failed: {failed}")
    if limit_ms is not None:
        check(seen.longest_ms < limit_ms * SLOWER, f"{what}: more than {limit_ms * SLOWER:g} ms")
