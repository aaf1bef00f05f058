"""Links: sequential reads through one, two and four NICs of a head."""

from statistics import median

import nodes
import profiles
import seeds
import shaping
from outcome import workload
from sites import LINKS, LinksSite

RATE = "160mbit"
FILES, FILE_BYTES = 4, 64 * profiles.MIB
AIM = 0.97
SEEDS = {2: seeds.SECOND_LINK, 4: seeds.FOUR_LINKS}


def prepared(site):
    """The files, made once, over all links."""
    files = [f"/u04/scan{number}" for number in range(FILES)]
    if not site.files:
        threads = [profiles.create(f"create{number}", file, FILE_BYTES)
                   for number, file in enumerate(files)]
        nodes.run([nodes.Node(site, "prepare", site.server(1), threads)], 120)
        site.files.update(files)
    return files


@workload("links", LinksSite)
def links(site, outcome, opts):
    """1 MiB sequential reads of one node through 1, 2 and 4 links of limited rate"""
    files = prepared(site)
    rates = {1: [], 2: [], 4: []}
    parts = {}
    with shaping.limited(site.lab, RATE, range(1, LINKS + 1)):
        for _ in range(opts.rounds):
            for count, into in rates.items():
                threads = [profiles.scan(f"scan{number}", file, FILE_BYTES, depth=8)
                           for number, file in enumerate(files)]
                node = nodes.Node(site, f"links{count}", site.server(count), threads)
                results = nodes.run([node], opts.seconds)
                outcome.clean(results, f"{count} links")
                into.append(results.mib_per_s())
                parts = results.paths()
    one = median(rates[1])
    for count, seen in rates.items():
        linear = median(seen) / (count * one)
        outcome.row(f"{count} of 4 links", median(seen), "MiB/s")
        if count > 1:
            outcome.row(f"{count} links, share of linear", linear, "", aim=AIM, seed=SEEDS[count])
            outcome.figure(f"{count} links {linear:.1%} of linear")
    outcome.figure(f"one link {one:.1f} MiB/s")
    uneven = shaping.unevenness(list(parts.values()))
    outcome.row("4 links, farthest path from the mean", uneven * 100, "%")
    outcome.plot("bars", "Sequential reads of 1 MiB by links", "MiB/s", kept="links",
                 groups=["1 link", "2 links", "4 links"],
                 series=[{"name": "measured", "values": [median(s) for s in rates.values()]},
                         {"name": "linear", "values": [count * one for count in rates]}])
    outcome.limit(f"Each link is a veth pair held to {RATE} by tbf in both directions, so that two "
                  "processor cores carry four of them; what grows is links, not speed.")
