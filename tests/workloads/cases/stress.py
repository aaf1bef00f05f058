"""Everything at once, as fast as it goes, every block verified."""

import database
import nodes
from outcome import workload
from sites import HeadsSite


def threads(number):
    decision = [{**one, "rate_bytes_s": 0} for one in database.decision_threads("analytic", number)]
    return [*decision,
            *database.transaction_threads(number, 60, depth=8, redo_rate=0)]


@workload("stress", HeadsSite)
def stress(site, outcome, opts):
    """Decision support and OLTP of four nodes on four heads, no think time, no limits, verified"""
    database.prepare(site, {**database.DECISION, **database.TRANSACTIONS})
    made = [database.node(site, n, threads(n)) for n in range(database.NODES)]
    results = nodes.run(made, 2 * opts.seconds * opts.rounds)
    outcome.clean(results, "stress")
    outcome.row("all operations", results.rate("ops"), "op/s")
    outcome.row("all bytes", results.mib_per_s(), "MiB/s")
    outcome.row("8 KiB operations", results.rate("ops", "data"), "op/s")
    outcome.row("redo write, p99", results.latency("p99", "redo") / 1000, "ms")
    outcome.row("errors", results.total("errors"), "")
    outcome.row("blocks that are not what was written", results.total("corrupt"), "")
    outcome.figure(f"{results.total('ops')} operations, {results.total('bytes') >> 20} MiB, "
                   f"{results.rate('ops'):.0f} op/s, 0 errors, 0 wrong blocks")
    begin = min(results.seconds("ops"))
    outcome.plot("lines", "Stress without think time", "operations per second", series=[
        {"name": name, "points": [[at - begin, value] for at, value in
                                  results.seconds("ops", beginning).items()]}
        for name, beginning in (("8 KiB", "data"), ("redo", "redo"), ("1 MiB reads", "scan"))])
    outcome.limit("Both cores are saturated by clients and heads together: no figure of either.")
