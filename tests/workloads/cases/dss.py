"""Decision support on four heads: three mixes of 1 MiB reads with temporary writes."""

import time

import database
import nodes
import shaping
from outcome import workload
from sites import HEADS, HeadsSite

RATE = "80mbit"
EVEN_PERCENT = 5.0
MIB = 1 << 20
CONNECT_S = 3
MIXES = ("throughput", "analytic", "scan")


class Loads:
    """What each head's link carries while all nodes use all paths, not while they connect."""

    def __init__(self, lab, seconds):
        self.lab, self.seconds = lab, seconds
        self.mib = []

    def watch(self):
        time.sleep(CONNECT_S)
        before = shaping.carried(self.lab)
        time.sleep(self.seconds - CONNECT_S - 1)
        after = shaping.carried(self.lab)
        self.mib = [(sum(after[key]) - sum(before[key])) / MIB for key in sorted(after)]


@workload("dss", HeadsSite)
def dss(site, outcome, opts):
    """Four nodes scan, probe and sort through four heads of limited rate, all paths of each node"""
    database.prepare(site, database.DECISION)
    loads, rates = {}, {}
    with shaping.limited(site.lab, RATE):
        for mix in MIXES:
            made = [database.node(site, n, database.decision_threads(mix, n))
                    for n in range(database.NODES)]
            seconds = 3 * opts.seconds * opts.rounds
            seen = Loads(site.lab, seconds)
            results = nodes.run(made, seconds, seen.watch)
            outcome.clean(results, mix)
            loads[mix] = seen.mib
            rates[mix] = results
    for mix in MIXES:
        results = rates[mix]
        reads = results.mib_per_s("scan") + (results.mib_per_s("probe") if mix == "analytic" else 0)
        uneven = 100 * shaping.unevenness(loads[mix])
        outcome.row(f"{mix}: reads", reads, "MiB/s")
        outcome.row(f"{mix}: temporary writes", results.mib_per_s("temp"), "MiB/s")
        outcome.row(f"{mix}: head farthest from the mean load", uneven, "%", aim=EVEN_PERCENT,
                    at_most=True)
        outcome.figure(f"{mix} {reads:.1f} MiB/s, heads within {uneven:.1f} %")
    outcome.plot("bars", "Decision support on four heads", "MiB/s", groups=list(MIXES), series=[
        {"name": "reads", "values": [
            rates[m].mib_per_s("scan") + (rates[m].mib_per_s("probe") if m == "analytic" else 0)
            for m in MIXES]},
        {"name": "temporary writes", "values": [rates[m].mib_per_s("temp") for m in MIXES]}])
    outcome.plot("bars", "What each head's link carried", "MiB", kept="dss_heads",
                 groups=list(MIXES), series=[
        {"name": f"head {n + 1}", "values": [loads[m][n] for m in MIXES]} for n in range(HEADS)])
    outcome.limit(f"Each head's link is held to {RATE}; every node has one mount with a path to "
                  "each head, as an oranfstab with four paths.")
