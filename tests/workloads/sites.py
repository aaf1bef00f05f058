"""The labs in which workloads run. Workloads of one site share it; a failure discards it.

Each has a folder for jobs and results, and server(): what an oranfstab says of its heads.
"""

import os
import shutil

import spindles
from nodes import Server
from symlab import client_networks, luns
from symlab.cluster import CLIENT_ADDRESS, Lab
from symlab.service import EXPORT, Service, SharedService, create_head_services

HEADS = 4
LINKS = 4
SPINDLES = 8


class Site:
    """A lab and its folder. up() is called once before workloads, down() whatever happened."""

    def __init__(self, prefix, folder):
        self.lab = Lab(prefix)
        self.folder = os.path.join(folder, type(self).__name__.lower())
        self.files = set()  # on the filesystem, of this lab

    def up(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.lab.down()
        self.make()

    def down(self):
        self.lab.down()


class LinksSite(Site):
    """One head with an NFS device in each of four networks; its VNFS has a VIP in each."""

    def make(self):
        self.lab.up(heads=1, lun_count=4, lun_size="512M", networks=LINKS)
        _FourVips(self.lab).create()

    def server(self, links):
        """The server of a node that uses so many links."""
        return Server("nas", tuple(
            (client_networks.address(number, client_networks.CLIENT_HOST),
             client_networks.address(number, _FourVips.HOST))
            for number in range(1, links + 1)), (EXPORT,))


class _FourVips(Service):
    HOST = 101

    def commands(self):
        *first, _, _ = super().commands()[1:]
        numbers = range(1, LINKS + 1)
        vips = [word for number in numbers
                for word in ("--vip", f"{client_networks.address(number, self.HOST)}/24",
                             "--network", f"nfs{number}")]
        return [*(["network", "create", f"nfs{n}", "--device", client_networks.device(n)]
                  for n in numbers), *first,
                ["export", "create", EXPORT, "--fs", EXPORT, "--path", "/", "--clients",
                 ",".join(client_networks.address(n, 0) + "/24" for n in numbers),
                 "--access", "rw", "--squash", "none"],
                ["vnfs", "create", "vnfs1", *vips, "--exports", EXPORT, "--heads", "c1n1"]]


class HeadsSite(Site):
    """Four heads, one VNFS each, all of them with the same export of one filesystem; any may take
    over another's. Every head sees the LUNs in a view of its own, so that a crash can be proved."""

    def make(self):
        self.lab.up(heads=HEADS, lun_count=4, lun_size="1G", kind="fuse")
        self.services = create_head_services(self.lab, SharedService, backups=True)
        for service in self.services:
            service.wait_serving()

    def server(self, heads):
        """One server whose paths lead to these heads (numbers from 1): the export has the same
        handles on all of them."""
        return Server("nas", tuple((CLIENT_ADDRESS, self.services[number - 1].vip)
                                   for number in heads), (EXPORT,))


class SpindlesSite(Site):
    """One head with a VNFS, and loop devices that are as slow as disks (spindles.py). Volumes and
    filesystems are made by the workload."""

    VIP = "10.0.0.101"

    def make(self):
        self.lab.up(heads=1, lun_count=SPINDLES, lun_size="192M", kind="loop")
        symnas = self.lab.symnas()
        symnas("network", "create", "nfs0", "--device", "eth1")
        symnas("lun", "import", *(f"{lun['name']}={lun['path']}"
                                  for lun in self.lab.state.data["luns"]))

    def server(self, exports):
        return Server("nas", ((CLIENT_ADDRESS, self.VIP),), tuple(exports))

    def throttle(self, devices, more_pids=(), **limits):
        """The instances of the head, and more processes, find these devices slow."""
        instances = self.lab.symnas().json("status")["instances"].values()
        spindles.throttle(self.lab.prefix, devices,
                          [*(one["pid"] for one in instances if one["pid"]), *more_pids], **limits)

    def down(self):
        super().down()
        spindles.release(self.lab.prefix)


class SharedDiskSite(SpindlesSite):
    """One head whose only LUN is a half of a disk; the other half is for somebody else.

    The disk is a loop device, its halves are loop devices on it. The first begins behind a gap, so
    that its label is not the disk's, too; and there is one more loop device under it, because a LUN
    may not share with another loop device what it lies on.
    """

    GAP = 1 << 20
    HALF = 255 << 20

    def __init__(self, *words):
        super().__init__(*words)
        self.loops = []

    def make(self):
        self.lab.up(heads=1, lun_count=1, lun_size="512M", kind="loop")
        self.disk = self.lab.state.data["luns"][0]["path"]
        half = ["--sizelimit", str(self.HALF)]
        below = self.attach(self.disk, "--offset", str(self.GAP), *half)
        ours = self.attach(below)
        self.other_half = self.attach(self.disk, "--offset", str(self.GAP + self.HALF), *half)
        symnas = self.lab.symnas()
        symnas("network", "create", "nfs0", "--device", "eth1")
        symnas("lun", "import", f"LUN0={ours}")
        symnas("volume", "create", "v1", "--luns", "LUN0", "--stripe-unit", "1M")
        symnas("fs", "create", EXPORT, "--volume", "v1")
        symnas("export", "create", EXPORT, "--fs", EXPORT, "--clients", "10.0.0.0/24",
               "--squash", "none")
        symnas("vnfs", "create", "vnfs1", "--vip", f"{self.VIP}/24", "--network", "nfs0",
               "--exports", EXPORT, "--heads", "c1n1", timeout_s=120)

    def attach(self, *words):
        self.loops.append(luns.attach_loop(*words))
        return self.loops[-1]

    def down(self):
        super().down()
        while self.loops:
            luns.detach_loop(self.loops.pop())
