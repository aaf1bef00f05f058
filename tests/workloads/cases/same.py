"""Layouts of a database over disks: everything over every disk (SAME), or files kept apart."""

import dataclasses

import nodes
import profiles
import spindles
from outcome import workload
from sites import SPINDLES, SpindlesSite
from symlab.wait import eventually

MIB = profiles.MIB
DATAFILES, DATA_BYTES = 3, 40 * MIB
TEMP_BYTES, REDO_BYTES = 24 * MIB, 16 * MIB
REDO_RATE = 512 << 10
PREPARE_S = 120
STOPPED_S = 60.0
STRIPE_UNITS = ("256K", "1M")


@dataclasses.dataclass(frozen=True)
class Layout:
    """volumes: {what is in it: how many disks}."""

    name: str
    volumes: dict

    def place(self, role):
        """The export that has the files of that role: "data", "temp" or "redo"."""
        return next(volume for volume in self.volumes if role in volume)


LAYOUTS = (Layout("pure", {"data-temp-redo": SPINDLES}),
           Layout("modified", {"data-temp": SPINDLES - 2, "redo": 2}),
           Layout("traditional", {"data": SPINDLES - 4, "temp": 2, "redo": 2}))


class Laid:
    """A context: the layout's volumes and exports, its files, and disks that are slow."""

    def __init__(self, site, layout, stripe_unit):
        self.site, self.layout, self.stripe_unit = site, layout, stripe_unit

    def __enter__(self):
        symnas, at = self.site.lab.symnas(), 0
        names = [lun["name"] for lun in self.site.lab.state.data["luns"]]
        for export, disks in self.layout.volumes.items():
            symnas("volume", "create", export, "--luns", ",".join(names[at:at + disks]),
                   "--stripe-unit", self.stripe_unit)
            symnas("fs", "create", export, "--volume", export)
            symnas("export", "create", export, "--fs", export, "--clients", "10.0.0.0/24",
                   "--squash", "none")
            at += disks
        symnas("vnfs", "create", "vnfs1", "--vip", f"{self.site.VIP}/24", "--network", "nfs0",
               "--exports", ",".join(self.layout.volumes), "--heads", "c1n1", timeout_s=120)
        self.run("prepare", [
            *(one for n in range(DATAFILES) for one in profiles.create_for(
                f"data{n}", self.file("data", n), DATA_BYTES, profiles.K8)),
            *(profiles.create(f"fact{n}", self.fact(n), DATA_BYTES) for n in range(DATAFILES)),
            profiles.create("temp", self.file("temp"), TEMP_BYTES),
            *profiles.create_for("redo", self.file("redo"), REDO_BYTES, profiles.REDO_BYTES)],
            PREPARE_S)
        self.site.throttle([lun["path"] for lun in self.site.lab.state.data["luns"]])
        return self

    def file(self, role, number=0):
        return f"/{self.layout.place(role)}/{role}{number}"

    def fact(self, number):
        """What is scanned; it lies where the datafiles are."""
        return f"/{self.layout.place('data')}/fact{number}"

    def run(self, name, threads, seconds):
        node = nodes.Node(self.site, name, self.site.server(self.layout.volumes), threads)
        return nodes.run([node], seconds)

    def __exit__(self, *_):
        symnas = self.site.lab.symnas()
        symnas("vnfs", "stop", "vnfs1", timeout_s=120)
        eventually(STOPPED_S, "vnfs1 is stopped", lambda: symnas.json("status")["vnfs"][0]["state"]
                   == "stopped")
        symnas("vnfs", "rm", "vnfs1", timeout_s=120)
        for export in self.layout.volumes:
            symnas("export", "rm", export, "--yes")
            symnas("fs", "rm", export)
            symnas("volume", "rm", export)
        spindles.release(self.site.lab.prefix)


def oltp_threads(laid):
    return [*(profiles.data(f"data{n}", laid.file("data", n), DATA_BYTES, 60, seed=n + 1)
              for n in range(DATAFILES)),
            profiles.redo("redo", laid.file("redo"), REDO_BYTES, REDO_RATE)]


def dss_threads(laid):
    return [*(profiles.scan(f"scan{n}", laid.fact(n), DATA_BYTES)
              for n in range(DATAFILES)),
            profiles.temp("temp", laid.file("temp"), TEMP_BYTES, depth=4)]


def measured(site, outcome, opts, layout, stripe_unit):
    seconds = opts.seconds * opts.rounds
    with Laid(site, layout, stripe_unit) as laid:
        what = f"{layout.name}, {stripe_unit}"
        oltp = laid.run("oltp", oltp_threads(laid), seconds)
        outcome.clean(oltp, f"{what}, OLTP")
        dss = laid.run("dss", dss_threads(laid), seconds)
        outcome.clean(dss, f"{what}, decision support")
    seen = {"oltp": oltp.rate("ops", "data"), "redo_p99": oltp.latency("p99", "redo") / 1000,
            "dss": dss.mib_per_s("scan"), "temp": dss.mib_per_s("temp")}
    outcome.row(f"{what}: OLTP", seen["oltp"], "op/s")
    outcome.row(f"{what}: redo write beside it, p99", seen["redo_p99"], "ms")
    outcome.row(f"{what}: scans", seen["dss"], "MiB/s")
    outcome.row(f"{what}: temporary writes beside them", seen["temp"], "MiB/s")
    return seen


@workload("same", SpindlesSite)
def same(site, outcome, opts):
    """Pure SAME, modified SAME and traditional layouts on eight slow disks, stripes 256K and 1M"""
    seen = {(layout.name, unit): measured(site, outcome, opts, layout, unit)
            for unit in STRIPE_UNITS for layout in LAYOUTS}
    for key, least, told in (("oltp", False, "OLTP"), ("redo_p99", True, "redo latency"),
                             ("dss", False, "scans"), ("temp", False, "temporary writes")):
        best = (min if least else max)(seen, key=lambda one, key=key: seen[one][key])
        outcome.figure(f"{told}: {best[0]} {best[1]}")
    titles = (("oltp", "OLTP 60:40 by layout and stripe unit", "operations per second",
               "same_oltp"),
              ("redo_p99", "Redo writes beside OLTP, p99", "ms", None),
              ("dss", "Scans by layout and stripe unit", "MiB/s", "same_scans"))
    for key, title, unit, kept in titles:
        outcome.plot("bars", title, unit, kept, groups=[layout.name for layout in LAYOUTS], series=[
            {"name": stripe, "values": [seen[layout.name, stripe][key] for layout in LAYOUTS]}
            for stripe in STRIPE_UNITS])
    outcome.limit(f"Eight loop devices, each held to {spindles.IOPS} reads, {spindles.IOPS} "
                  f"writes and {spindles.BYTES_PER_S / 1e6:g} MB per second each way by blkio of "
                  "cgroup 1. Such a disk has no seeks: a reader does not slow a writer down, which "
                  "is what layouts that keep files apart are for.")
    outcome.limit("Pure: all files over all 8 disks. Modified: redo on 2, the rest on 6. "
                  "Traditional: data on 4, temporary files on 2, redo on 2.")
