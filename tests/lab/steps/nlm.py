"""An NFSv3 client's lock manager, call by call (nlm_peer.py), and its callbacks."""

import contextlib
import itertools
import os
import subprocess
import sys
import threading
import time

import nfs_wire
from lab_case import check
from symlab.service import EXPORT, VIP, wait_for_line

CALLEE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "nlm_callee.py")


class Heard(list):
    """The (svid, start, length) of what a client was granted; `process` is its machine."""

    process = None


@contextlib.contextmanager
def called_back(bench, *options):
    """The client can be called; yields what it was granted. options: of nlm_callee."""
    process = bench.lab.popen_in("client", [sys.executable, CALLEE, *options],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    heard = Heard()
    heard.process = process

    def listen():
        for line in process.stdout:
            heard.append(tuple(map(int, line.split())))
    try:
        wait_for_line(process, "ready")
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield heard
    finally:
        process.kill()
        process.communicate()
    # Nobody is to be called over its connection any more.
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])


LIVES = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_lives")
LIVES_S = 120.0
PEER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "nlm_peer.py")
# Another process of the client: it holds nothing, and is refused what the first one holds.
OTHER = ("--svid", "2")
PEER_S = 60.0
_LIVES = itertools.count(3, 2)
SEES_IT_S = 20.0


def peer(bench, file, what, *options, export=EXPORT, vip=VIP, again=False):
    """One call of an NFSv3 client's lock manager or status monitor; the answer's word. again: as
    often as nobody answers."""
    end = time.monotonic() + PEER_S
    while True:
        process = bench.lab.popen_in("client", [sys.executable, PEER, vip, "/" + export, file,
                                                what, *options],
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output, _ = process.communicate(timeout=PEER_S)
        if process.returncode == 0:
            return output.strip()
        check(again and time.monotonic() < end, f"nlm_peer {what}: {output}")


def expect(wanted, bench, file, what, *options):
    seen = peer(bench, file, what, *options)
    check(seen == wanted, f"{what} {' '.join(options)} of {file}: {seen}, should be {wanted}")


def new_lives(count):
    """Numbers of lives that the client (there is one) lives after all that were given before."""
    return [str(next(_LIVES)) for _ in range(count)]


def locks_of(bench, *filters):
    return bench.symnas.json("lock", "ls", *filters)["locks"]
