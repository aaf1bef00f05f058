"""Creation of tablespaces through one head and through two."""

import time
from statistics import median

import nodes
import profiles
import seeds
import shaping
from outcome import workload
from sites import HeadsSite

RATE = "60mbit"
TABLESPACES, BYTES = 8, 8 * profiles.MIB  # for each of two nodes
AIM = 0.97
CREATE_S = 180


def created(site, heads, round_number, outcome):
    """(MiB per second while both nodes write, seconds in all): two nodes, each with a head of
    `heads`, make all their files."""
    made = []
    for number in (1, 2):
        threads = [profiles.create(f"ts{index}", f"/u04/ts.{round_number}.{heads}.{number}.{index}",
                                   BYTES, seed=number * 100 + index)
                   for index in range(TABLESPACES)]
        made.append(nodes.Node(site, f"ts{number}", site.server([min(number, heads)]), threads))
    since = time.monotonic()
    results = nodes.run(made, CREATE_S)
    took = time.monotonic() - since
    outcome.clean(results, f"{heads} heads")
    written = results.total("bytes")
    wanted = 2 * TABLESPACES * BYTES
    outcome.expect(written == wanted, f"{heads} heads: {written} of {wanted} bytes were written")
    return results.mib_per_s(), took


@workload("tablespaces", HeadsSite)
def tablespaces(site, outcome, opts):
    """New files of 1 MiB writes by two nodes, through one head and through two of limited rate"""
    seen = {1: [], 2: []}
    with shaping.limited(site.lab, RATE):
        for number in range(opts.rounds):
            for heads, into in seen.items():
                into.append(created(site, heads, number, outcome))
    rates = {heads: median([rate for rate, _ in into]) for heads, into in seen.items()}
    linear = rates[2] / (2 * rates[1])
    for heads, rate in rates.items():
        outcome.row(f"through {heads} of 4 heads", rate, "MiB/s")
        outcome.row(f"through {heads} of 4 heads, all files", median([s for _, s in seen[heads]]),
                    "s")
    outcome.row("two heads, share of linear", linear, "", aim=AIM, seed=seeds.TABLESPACES)
    outcome.figure(f"two heads {linear:.1%} of linear, one {rates[1]:.1f} MiB/s")
    outcome.plot("bars", "Creation of 16 tablespaces by heads", "MiB/s",
                 groups=["1 head", "2 heads"],
                 series=[{"name": "measured", "values": list(rates.values())},
                         {"name": "linear", "values": [rates[1], 2 * rates[1]]}])
    outcome.limit(f"Each head's link is held to {RATE}; 16 files of {BYTES >> 20} MiB.")
