"""A client VM with a link in each of two networks, beside a lab of three heads whose VNFSs have a
VIP in each of them and share one filesystem. The heads' links are limited, so that what a second
path gives is seen.

Thread class: confined to one thread.
"""

import contextlib
import re
import subprocess
import time

from kernel_clients import Client, finish
from lab_case import Bench, check
from labs import LabKind
from symlab import client_networks, netns
from symlab.cluster import NFS_BRIDGE
from symlab.faults import rate_commands
from uml_vm import UmlVm

KIND = LabKind("three heads on several networks", heads=3, backups=True, networks=4)
NETWORKS = (1, 3)  # in which every VNFS has an IPv4 VIP
HOST = 209
RATE = "64mbit"
LINK_MBPS = 8.0    # what it gives, in MB/s
FILE_MIB = 24
SET_UP = """
ip link set vec1 name eth1 && ip addr add {address}/24 dev eth1 && ip link set eth1 up
"""
# Of one file; the client's cache holds nothing of it.
WRITE = "dd if=/dev/zero of={path} bs=1M count={mib} conv=fsync 2>/dev/null"
READ = "echo 3 > /proc/sys/vm/drop_caches; dd if={path} of=/dev/null bs=1M 2>/dev/null"
TRANSPORTS = "cat /sys/kernel/sunrpc/xprt-switches/*/xprt-*/dstaddr 2>/dev/null || true"
# A stable write, and when it was acknowledged, for as long as /tmp/go is there.
TICKS = """
while [ -e /tmp/go ]; do
  echo tick | dd of={path} bs=4k conv=notrunc,fsync 2>/dev/null || exit 1
  cut -d' ' -f1 /proc/uptime
done
"""


class TwoLinks:
    def __init__(self, prefix):
        self.bench = Bench(prefix)
        self.client = None

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.bench.discard()
            raise
        return self

    def _make(self):
        self.bench.prepare(KIND)
        for head in self.bench.lab.state.data["heads"]:
            for number in NETWORKS:
                self._limit(head["name"], number)
        lab = self.bench.lab
        vm = UmlVm("links", lab.vm_root())
        vm.more_bridges = (client_networks.bridge(NETWORKS[1]),)
        vm.start(f"{client_networks.address(NETWORKS[0], HOST)}/24", NFS_BRIDGE, lab.hub_netns,
                 cgroup=lab.cgroup())
        self.client = Client(vm, "")
        self.client.run(SET_UP.format(address=client_networks.address(NETWORKS[1], HOST)))

    def __exit__(self, *_):
        self.bench.discard()

    def _limit(self, head, number):
        """Limits a head's link in a network, in both directions."""
        lab = self.bench.lab
        ends = {"head": (lab.head(head)["netns"], "eth1", client_networks.device(number)),
                "hub": (lab.hub_netns, f"{head}-nfs", client_networks.port(head, number))}
        for where, argv in rate_commands(head, RATE):
            space, first, device = ends[where]
            with netns.entered(space):
                check_run([device if word == first else word for word in argv])

    @property
    def services(self):
        return self.bench.services

    def vips(self, service):
        """Its VIPs in NETWORKS, in that order."""
        found = {number: vip for vip, (_, number) in service.vips.items() if ":" not in vip}
        return [found[number] for number in NETWORKS]

    @contextlib.contextmanager
    def mounted(self, **mounts):
        """name=(service, VIP, options); unmounted after the body, with what is in `trunking`."""
        for name, (service, vip, options) in mounts.items():
            self.client.run(f"mkdir -p /mnt/{name}; nfsmount -o {options} "
                            f"{vip}:/{service.filesystem} /mnt/{name} "
                            f"&& mkdir -p /mnt/{name}/trunking")
        try:
            yield
        finally:
            first = next(iter(mounts))
            self.client.run(f"rm -rf /mnt/{first}/trunking/*")
            self.client.umount()

    def transports(self):
        """{address: how many connections the client's NFS has to it}"""
        counts = {}
        for address in self.client.run(TRANSPORTS).split():
            if address.startswith("10."):
                counts[address] = counts.get(address, 0) + 1
        return counts

    def bytes_by_vip(self):
        """{network: bytes that the client's device there has sent and received}"""
        found = {}
        table = self.client.run("cat /proc/net/dev")
        for device, number in (("eth0", NETWORKS[0]), ("eth1", NETWORKS[1])):
            fields = re.search(rf"{device}: *(.*)", table)[1].split()
            found[number] = int(fields[0]) + int(fields[8])
        return found

    @contextlib.contextmanager
    def ticking(self, *names):
        """Stable writes to a file in each of these mounts beside the body; yields a dictionary
        that is then {name: the longest time without an acknowledgement, in seconds}."""
        longest = {}
        self.client.run("touch /tmp/go")
        jobs = {name: self.client.start(TICKS.format(path=f"/mnt/{name}/trunking/tick-{name}"))
                for name in names}
        try:
            yield longest
            self.client.run("rm /tmp/go")
            for name, output in finish(jobs).items():
                times = [float(line) for line in output.split()]
                longest[name] = max(after - before for before, after
                                    in zip(times, times[1:], strict=False))
        finally:
            for job in jobs.values():
                job.kill()

    @contextlib.contextmanager
    def cut(self, number):
        """The client's cable in one of NETWORKS is pulled while the body runs."""
        record = self.client.vm.record()
        tap = record["taps"][NETWORKS.index(number)]
        netns.ip("link", "set", tap, "nomaster", netns=record["netns"])
        try:
            yield
        finally:
            netns.ip("link", "set", tap, "master", client_networks.bridge(number),
                     netns=record["netns"])

    def speed(self, *names):
        """Writes, then reads a file in each of these mounts at once: MB/s of all together, and what
        part of the bytes went over the second link."""
        before = self.bytes_by_vip()
        speeds = []
        for script in (WRITE, READ):
            since = time.monotonic()
            finish({name: self.client.start(script.format(
                path=f"/mnt/{name}/trunking/{name}", mib=FILE_MIB)) for name in names})
            speeds.append(len(names) * FILE_MIB * 1.048576 / (time.monotonic() - since))
        after = self.bytes_by_vip()
        moved = {number: after[number] - before[number] for number in NETWORKS}
        return Speed(*speeds, moved[NETWORKS[1]] / sum(moved.values()))


class Speed:
    def __init__(self, write, read, second):
        self.write = write
        self.read = read
        self.second = second

    def __str__(self):
        return f"write {self.write:.1f}, read {self.read:.1f} MB/s, {100 * self.second:.0f} % " \
               "over the second link"


def check_run(argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(argv)}: {done.stderr.strip()}")
