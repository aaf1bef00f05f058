"""A disk that NFS and iSCSI share: reads of either alone, and of both at once."""

import nodes
import profiles
import spindles
from iscsi_target import Target
from outcome import workload
from sites import SharedDiskSite
from symlab.service import EXPORT

FILE_BYTES = 160 * profiles.MIB
PREPARE_S = 120
IOPS, BYTES_PER_S = 400, 32_000_000
AIM = 0.9
DEPTH = 16
# (name, bytes of a block, at random)
KINDS = (("1 MiB in sequence", profiles.MIB, False), ("8 KiB at random", profiles.K8, True))
SIDES = ("NFS", "iSCSI")


def nfs_node(site, name, block_bytes, random):
    profile = profiles.thread("read", f"/u04/{'at_random' if random else 'in_order'}",
                              "read" if random else "seqread", block_bytes, FILE_BYTES // 2, DEPTH)
    return nodes.Node(site, name, site.server([EXPORT]), [profile])


def prepared(site):
    threads = [*profiles.create_for("a", "/u04/in_order", FILE_BYTES // 2, profiles.MIB),
               *profiles.create_for("b", "/u04/at_random", FILE_BYTES // 2, profiles.K8)]
    nodes.run([nodes.Node(site, "prepare", site.server([EXPORT]), threads)], PREPARE_S)


def measured(site, outcome, target, kind, seconds):
    """{"NFS": reads per second alone, "iSCSI": alone, "both": (NFS, iSCSI) at once}."""
    name, block_bytes, random = kind

    def nfs(label, meanwhile=None):
        results = nodes.run([nfs_node(site, label, block_bytes, random)], seconds, meanwhile)
        outcome.clean(results, name)
        return results.rate("ops")

    readers = []
    seen = {"NFS": nfs("alone"),
            "iSCSI": target.reader(seconds, block_bytes, DEPTH, random).rate()}
    # The other one works as long as the one that is measured second by second, and a bit longer.
    both = nfs("both", lambda: readers.append(
        target.reader(seconds, block_bytes, DEPTH, random)))
    seen["both"] = (both, readers[0].rate())
    return seen


@workload("iscsi", SharedDiskSite)
def iscsi(site, outcome, opts):
    """Reads over NFS and from an iSCSI LUN on the same slow disk, alone and side by side"""
    seconds = opts.seconds * opts.rounds
    prepared(site)
    with Target(site.lab, site.other_half) as target:
        site.throttle([site.disk], [target.record["pid"]], iops=IOPS, bytes_per_s=BYTES_PER_S)
        seen = {kind[0]: measured(site, outcome, target, kind, seconds) for kind in KINDS}
        spindles.release(site.lab.prefix)
    limits = {name: min(IOPS, BYTES_PER_S / block) for name, block, _ in KINDS}
    for name, rates in seen.items():
        for side in SIDES:
            outcome.row(f"{name}: {side} alone, share of the disk", rates[side] / limits[name], "")
        for side, rate in zip(SIDES, rates["both"], strict=True):
            outcome.row(f"{name}: {side} beside the other, share of the disk",
                        rate / limits[name], "")
        together = sum(rates["both"]) / limits[name]
        outcome.row(f"{name}: both together, share of the disk", together, "", aim=AIM)
        outcome.figure(f"{name}: NFS {rates['both'][0] / limits[name]:.0%} and iSCSI "
                       f"{rates['both'][1] / limits[name]:.0%} of the disk")
    outcome.plot("bars", "NFS and iSCSI on the same disk", "% of the disk", groups=[
        f"{name}, {how}" for name in limits for how in ("alone", "at once")], series=[
        {"name": side, "values": [100 * rate / limits[name] for name in limits
                                  for rate in (seen[name][side], seen[name]["both"][at])]}
        for at, side in enumerate(SIDES)])
    outcome.limit(f"The disk is a loop device held to {IOPS} reads and {BYTES_PER_S / 1e6:g} MB "
                  "per second for both servers together. The iSCSI target and its initiator are "
                  "user-space programs (tgtd, libiscsi): this kernel has none.")
