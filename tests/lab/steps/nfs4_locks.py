"""A client of NFSv4 that opens and locks, call by call (tests/client/nfs4_locks)."""

import contextlib
import os
import subprocess
import sys

import nfs_wire
from lab_case import check
from symlab.service import wait_for_line

LOCKS = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_locks")
SHARE_DENIED = 10015  # NFS4ERR_SHARE_DENIED


class Locks:
    """A client of nfs4_locks."""

    def __init__(self, bench, file, deny=0, says="ready", service=None, reclaims=None,
                 called_back=False, minor=1):
        url = (service or bench.service).url
        more = [] if reclaims is None else ["--reclaims", str(reclaims)]
        more += ["--called-back"] if called_back else []
        self.process = bench.lab.popen_in(
            "client", [sys.executable, LOCKS, "--url", url, "--file", file,
                       "--minor", str(minor), "--deny", str(deny), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_line(self.process, says)

    def __call__(self, *words):
        self.say(*words)
        return self.answer(*words)

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self, *words):
        answer = self.process.stdout.readline().strip()
        check(answer, f"nfs4_locks has ended: {words}")
        return answer

    def expect(self, wanted, *words):
        answer = self(*words)
        check(answer == wanted, f"{words} is answered {answer}, should be {wanted}")

    def die(self):
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def locks(bench, file, **how):
    client = Locks(bench, file, **how)
    try:
        yield client
    finally:
        client.die()
