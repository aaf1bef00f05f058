"""Clients at work while a case does something, and what they must not have noticed."""

import contextlib
import math
import os
import subprocess

from lab_case import check, load_of
from steps.deadlines import UNDISTURBED_MS

WRITERS = ("nfs_crash", "--workers", "2")
# They wait for as long as a fault may last, and are so slow that the change attribute of a file
# does not run out of numbers meanwhile (docs/architecture/data_path.md).
PATIENT_WRITERS = (*WRITERS, "--pause-us", "2000", "--deadline-s", "180")
GAPS = ("nfs_io", "gaps", "--kinds", "read,write,create")


def check_undisturbed(loads, services, kinds, limit_ms=UNDISTURBED_MS):
    for service in services:
        for kind in kinds:
            seen = loads[service.head].seen[kind]
            check(seen["errors"] == 0 and seen["longest_gap_ms"] < limit_ms,
                  f"{kind} on {service.head} was disturbed: {seen}")


@contextlib.contextmanager
def coherent_clients(bench, *args, limit_s=math.inf):
    """Clients that use every head at once (tests/client/nfs_shared.cc), and their verdict. limit_s:
    what no copy of a call may be waited for."""
    urls = ",".join(service.url for service in bench.services)
    with bench.load("nfs_shared", "--urls", urls, "--workers", "4", *args) as load:
        yield
    seen = load.seen
    check(seen["violations"] == 0 and seen["operations"] > 20, f"incoherent: {seen}")
    print(f"     {seen['operations']} operations, the longest {seen['longest_ms']:.0f} ms, "
          f"the longest wait {max(seen['waits_ms']):.0f} ms")
    check(max(seen["waits_ms"]) < 1000 * limit_s, f"a call has waited for too long: {seen}")


# Slow enough that what `create` has made is soon removed again.
MEASURED = ("nfs_io", "gaps", "--pause-us", "10000", "--kinds")


def check_gaps(seen, kinds, limit_ms):
    """No operation failed, and none of the clients waited for longer."""
    for kind in kinds:
        print(f"     {kind}: longest gap {seen[kind]['longest_gap_ms']:.0f} ms")
        check(seen[kind]["errors"] == 0, f"{kind} failed: {seen}")
        check(seen[kind]["longest_gap_ms"] < limit_ms,
              f"{kind} was not answered for more than {limit_ms:.0f} ms: {seen[kind]}")


NFS4_GAPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client",
                         "nfs4_gaps")


@contextlib.contextmanager
def nfs4_load(bench, *args, service=None):
    """A native NFSv4.1 client with an open and locked file (tests/client/nfs4_gaps)."""
    url = (service or bench.service).url
    words = [NFS4_GAPS, "--url", url, "--minor", "1", "--seconds", "600", *args]
    process = bench.lab.popen_in("client", words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
    with load_of(process) as load:
        yield load


PACED = os.path.join(os.path.dirname(NFS4_GAPS), "nfs3_load")


@contextlib.contextmanager
def paced_load(bench, source, kind, size, per_second, service=None):
    """A client at the address `source` that makes so many READs or WRITEs of `size` bytes per
    second (tests/client/nfs3_load)."""
    words = [PACED, "--url", (service or bench.service).url, "--from", source, "--kind", kind,
             "--bytes", str(size), "--per-second", str(per_second), "--seconds", "600"]
    process = bench.lab.popen_in("client", words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
    with load_of(process) as load:
        yield load
