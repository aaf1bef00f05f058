"""The database that decision support, OLTP, stress and soak work on: four nodes, shared files.

Scans read /u04/fact<n>, sorts write a node's own /u04/temp<node>, OLTP is on /u04/data<n>, and each
node's log writer has its /u04/redo<node>. All files are made before, by one node per head.
"""

import nodes
import profiles
from sites import HEADS

MIB = profiles.MIB
NODES = 4
FACTS, FACT_BYTES = 4, 48 * MIB
TEMP_BYTES = 24 * MIB
DATAFILES, DATA_BYTES = 3, 32 * MIB
# Bytes per second that a node of a mix sorts; its scans and probes take what is left.
SORTS = {"throughput": MIB, "analytic": 3 * MIB // 2, "scan": MIB // 4}
REDO_BYTES = 16 * MIB
REDO_RATE = 64 << 10  # bytes per second of each node
PREPARE_S = 240
ALL_HEADS = tuple(range(1, HEADS + 1))


def fact(number):
    return f"/u04/fact{number}"


def temp(node):
    return f"/u04/temp{node}"


def datafile(number):
    return f"/u04/data{number}"


def redo_log(node):
    return f"/u04/redo{node}"


# {file: (bytes, bytes of a block)}
DECISION = {**{fact(n): (FACT_BYTES, MIB) for n in range(FACTS)},
            **{temp(n): (TEMP_BYTES, MIB) for n in range(NODES)}}
TRANSACTIONS = {**{datafile(n): (DATA_BYTES, profiles.K8) for n in range(DATAFILES)},
                **{redo_log(n): (REDO_BYTES, profiles.REDO_BYTES) for n in range(NODES)}}


def prepare(site, files):
    """Makes those of DECISION or TRANSACTIONS that this lab does not have yet, each through one
    head."""
    missing = [(file, *sizes) for file, sizes in files.items() if file not in site.files]
    if not missing:
        return
    made = []
    for head in ALL_HEADS:
        threads = [one for at, (file, size, block) in enumerate(missing) if at % HEADS == head - 1
                   for one in profiles.create_for(f"create{at}", file, size, block)]
        if threads:
            made.append(nodes.Node(site, f"prepare{head}", site.server([head]), threads))
    nodes.run(made, PREPARE_S)
    site.files.update(file for file, *_ in missing)


def node(site, number, threads, heads=ALL_HEADS):
    """A database node with paths to these heads."""
    return nodes.Node(site, f"node{number}", site.server(heads), threads)


def decision_threads(mix, number, depth=4):
    """The threads of one node. mix: "throughput", "analytic" or "scan". depth: of each thread."""
    facts = [fact((number + at) % FACTS) for at in range(FACTS)]
    scans = [profiles.scan(f"scan{at}", file, FACT_BYTES, depth) for at, file in enumerate(facts)]
    probes = [profiles.probe(f"probe{at}", file, FACT_BYTES, depth, seed=10 * number + at)
              for at, file in enumerate(facts)]
    sort = profiles.temp("temp", temp(number), TEMP_BYTES, seed=number, rate_bytes_s=SORTS[mix])
    return [*{"throughput": scans[:3], "analytic": [*scans[:1], *probes[1:3]], "scan": scans}[mix],
            sort]


def transaction_threads(number, read_percent, depth=6, redo_rate=REDO_RATE, data_rate=0):
    """The threads of one OLTP node: every datafile is all nodes' at once. data_rate: bytes per
    second of the node on datafiles; 0: as fast as it goes."""
    on_data = [profiles.data(f"data{at}", datafile(at), DATA_BYTES, read_percent, depth,
                             seed=10 * number + at + 1, writers=NODES, writer=number,
                             rate_bytes_s=data_rate // DATAFILES)
               for at in range(DATAFILES)]
    return [*on_data, profiles.redo("redo", redo_log(number), REDO_BYTES, redo_rate,
                                    seed=number + 1)]
