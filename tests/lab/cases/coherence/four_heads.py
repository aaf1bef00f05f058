"""Four heads serve one filesystem: what one acknowledges the others show."""

import re
import subprocess

import labs
from lab_case import check, lab_test
from labs import HEADS
from steps.cluster import mounts_of, victim
from steps.load import coherent_clients
from symlab.faults import Faults

RUN_S = 15.0


def living_mounts(bench):
    return list(mounts_of(bench, bench.services[0]).values()).count(False)


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def four_heads_are_coherent(bench):
    """Registers, sizes, times and names, each call through another head."""
    check(living_mounts(bench) == HEADS, "not every head has mounted the filesystem")
    with coherent_clients(bench):
        bench.let_run(RUN_S)


def round_trip_ms(bench, address):
    """The shortest of some pings from the clients' network."""
    ping = bench.lab.popen_in("client", ["ping", "-c", "5", "-i", "0.2", "-q", address],
                              stdout=subprocess.PIPE, text=True)
    said = ping.communicate()[0]
    check(ping.returncode == 0, f"ping {address}: {said}")
    return float(re.search(r"= ([\d.]+)/", said).group(1))


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def coherent_over_slow_networks(bench):
    """Packets of a head take 60 ms longer, to clients or to etcd: slower, and still coherent."""
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
