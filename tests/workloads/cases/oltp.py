"""OLTP of four nodes on datafiles that all share, through one to four heads."""

import database
import nodes
import seeds
import shaping
from outcome import workload
from sites import HEADS, HeadsSite

RATE = "20mbit"
AIM = 0.95
SHARES = ("p50", "p90", "p99", "p999")
# (percent of reads, numbers of heads)
SERIES = ((60, (1, 2, 3, 4)), (72, (1, 4)))


def measured(site, outcome, opts, read_percent, heads, data_rate=0):
    made = [database.node(site, n, database.transaction_threads(n, read_percent,
                                                                data_rate=data_rate),
                          tuple(range(1, heads + 1))) for n in range(database.NODES)]
    results = nodes.run(made, opts.seconds * opts.rounds)
    outcome.clean(results, f"{read_percent}:{100 - read_percent}, {heads} heads")
    return results


def at_half_load(site, outcome, opts, saturated):
    """Four heads at half of what they can do: only then latency is more than the length of a
    queue."""
    each = int(saturated.rate("bytes", "data") / 2 / database.NODES)
    results = measured(site, outcome, opts, 60, HEADS, each)
    outcome.row("60:40, 4 heads at half load: 8 KiB operations", results.rate("ops", "data"),
                "op/s")
    for name, told in (("data", "8 KiB operation"), ("redo", "redo write")):
        for share in ("p50", "p99"):
            outcome.row(f"60:40, 4 heads at half load: {told}, {share}",
                        results.latency(share, name) / 1000, "ms")
    outcome.figure(f"at half load redo p50 {results.latency('p50', 'redo') / 1000:.1f} and p99 "
                   f"{results.latency('p99', 'redo') / 1000:.1f} ms")
    outcome.plot("bars", "Latency of OLTP on four heads at half load, 60:40", "ms", log=True,
                 kept="oltp_latency", groups=list(SHARES), series=[
                     {"name": name, "values": [results.latency(share, name) / 1000
                                               for share in SHARES]}
                     for name in ("data", "redo")])


@workload("oltp", HeadsSite)
def oltp(site, outcome, opts):
    """8 KiB reads and writes of four nodes, 60:40 and 72:28, redo in sequence, 1 to 4 heads"""
    database.prepare(site, database.TRANSACTIONS)
    seen = {}
    with shaping.limited(site.lab, RATE):
        for read_percent, numbers in SERIES:
            for heads in numbers:
                seen[read_percent, heads] = measured(site, outcome, opts, read_percent, heads)
        at_half_load(site, outcome, opts, seen[60, HEADS])
    for (read_percent, heads), results in seen.items():
        mix = f"{read_percent}:{100 - read_percent}"
        rate, one = results.rate("ops", "data"), seen[read_percent, 1].rate("ops", "data")
        outcome.row(f"{mix}, {heads} of 4 heads: 8 KiB operations", rate, "op/s")
        outcome.row(f"{mix}, {heads} of 4 heads: redo write in full links, p99",
                    results.latency("p99", "redo") / 1000, "ms")
        if heads > 1:
            linear = rate / (heads * one)
            outcome.row(f"{mix}, {heads} of 4 heads, share of linear", linear, "", aim=AIM,
                        seed=seeds.OLTP if heads == HEADS else None)
            if heads == HEADS:
                outcome.figure(f"{mix} four heads {rate:.0f} op/s, {linear:.1%} of linear")
    plots(outcome, seen)
    outcome.limit(f"Each head's link is held to {RATE}, so that two cores carry four heads. The "
                  "four nodes are there in every run; each has a path to every head of it.")


def plots(outcome, seen):
    numbers = SERIES[0][1]
    one = seen[60, 1].rate("ops", "data")
    outcome.plot("bars", "OLTP of four nodes by heads", "operations per second", kept="oltp_heads",
                 groups=["1 head", "2 heads", "3 heads", "4 heads"], series=[
                     {"name": "60:40", "values": [seen[60, n].rate("ops", "data")
                                                  for n in numbers]},
                     {"name": "72:28", "values": [
                         seen[72, n].rate("ops", "data") if (72, n) in seen else None
                         for n in numbers]},
                     {"name": "60:40 linear", "values": [n * one for n in numbers]}])
