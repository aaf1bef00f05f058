"""Four heads, each with a VNFS, all of one filesystem: what one acknowledges the others show."""

import contextlib
import math
import re
import subprocess

from lab_case import check, eventually, lab_test
from symlab.faults import Faults

from .h_heads import PAUSE_S, mounts_of, victim

HEADS = 4
RUN_S = 15.0


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


def living_mounts(bench):
    return list(mounts_of(bench, bench.services[0]).values()).count(False)


@lab_test(luns="fuse", heads=HEADS, shared=True)
def four_heads_are_coherent(bench):
    """Registers, sizes, times and names, each call through another head."""
    check(living_mounts(bench) == HEADS, "not every head has mounted the filesystem")
    with coherent_clients(bench):
        bench.let_run(RUN_S)


@lab_test(luns="fuse", heads=HEADS, shared=True)
def instance_killed_among_four(bench):
    """kill -9 of one instance, twice: nothing acknowledged is lost, nobody reads anything old."""
    service = victim(bench)
    with coherent_clients(bench, "--stable", "1"):
        for _ in range(2):
            bench.let_run(2.0)
            before = service.serving()
            bench.kill_recorded(before)
            service.wait_serving(other_than=before["pid"])
        bench.let_run(2.0)
    eventually(20.0, "what the dead have left is taken over",
               lambda: len(mounts_of(bench, service)) == HEADS)


def boot_again(bench, service):
    """A head that was fenced serves again, and some load after it."""
    bench.lab.unfence(service.head)
    service.wait_serving()
    bench.let_run(2.0)


def fence_and_back(bench, kind):
    service = victim(bench)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        bench.lab.fence(service.head, kind)
        bench.let_run(3.0)
        boot_again(bench, service)


@lab_test(luns="fuse", heads=HEADS, shared=True)
def head_fenced_by_power_among_four(bench):
    """A head loses its power under load: its files become available, it comes back."""
    fence_and_back(bench, "power")


@lab_test(luns="fuse", heads=HEADS, shared=True)
def head_fenced_from_its_luns_among_four(bench):
    """A head that the LUNs refuse goes on: nothing of it is answered or written any more."""
    fence_and_back(bench, "lun")


def round_trip_ms(bench, address):
    """The shortest of some pings from the clients' network."""
    ping = bench.lab.popen_in("client", ["ping", "-c", "5", "-i", "0.2", "-q", address],
                              stdout=subprocess.PIPE, text=True)
    said = ping.communicate()[0]
    check(ping.returncode == 0, f"ping {address}: {said}")
    return float(re.search(r"= ([\d.]+)/", said).group(1))


@lab_test(luns="fuse", heads=HEADS, shared=True)
def slow_networks(bench):
    """Packets of a head take 60 ms more, to its clients or to etcd: slower, and as coherent."""
    service = victim(bench)
    faults = Faults(bench.lab)
    near = round_trip_ms(bench, service.vip)
    with coherent_clients(bench, "--stable", "1"):
        try:
            faults.delay(service.head, "nfs", "30ms")
            far = round_trip_ms(bench, service.vip)
            check(60 <= far < 200 and near < 30, f"round trips of {near} and {far} ms")
            bench.let_run(3.0)
            faults.delay(service.head, "nfs", "off")
            faults.delay(service.head, "mgmt", "30ms+30ms")
            bench.let_run(8.0)
        finally:
            faults.delay(service.head, "nfs", "off")
            faults.delay(service.head, "mgmt", "off")
        bench.let_run(2.0)
    check(round_trip_ms(bench, service.vip) < 30, "the delay stays")


@lab_test(luns="fuse", heads=HEADS, shared=True)
def head_paused_among_four(bench):
    """A head stands still for 15 s: who needs its files waits, then everything goes on."""
    faults = Faults(bench.lab)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        faults.pause(victim(bench).head)
        try:
            bench.let_run(PAUSE_S)
        finally:
            faults.resume(victim(bench).head)
        bench.let_run(3.0)
