"""`symnas top`: clients that make a known load, and what every head says of them."""

import contextlib
import math
import signal
import time

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from, others, victim
from steps.load import nfs4_load, paced_load
from symlab import netns
from symlab.etcd_keys import EtcdKeys
from symlab.service import EXPORT, VNFS

FIRST, SECOND = "10.0.0.221", "10.0.0.222"
READ_BYTES, WRITE_BYTES = 8192, 16384
SETTLED_S = 5.0  # longer than the time that load is told over
LOOKS = 5
TOLD_S = 20.0
FORGOTTEN_S = 20.0  # longer than load is told after the last question
TOLERANCE = 0.05
ROUNDED = 1e-3


@contextlib.contextmanager
def addresses(bench):
    """The clients' namespace has two addresses more."""
    space = bench.lab.space_of("client")
    for address in (FIRST, SECOND):
        netns.ip("address", "add", f"{address}/24", "dev", "eth1", netns=space)
    try:
        yield
    finally:
        for address in (FIRST, SECOND):
            netns.ip("address", "del", f"{address}/24", "dev", "eth1", netns=space)


def top(symnas, *words):
    return symnas.json("top", "--once", *words)


def looks(symnas, *words):
    """Several looks, and when they began and ended."""
    began = time.monotonic()
    seen = []
    for _ in range(LOOKS):
        seen.append(top(symnas, *words))
        time.sleep(1.0)
    return seen, began, time.monotonic()


def done_in(load, began, ended):
    """(operations, bytes) of a finished load per second."""
    inside = [one for one in load.seen["done"] if began <= one[0] <= ended]
    seconds = inside[-1][0] - inside[0][0]
    return [(inside[-1][at] - inside[0][at]) / seconds for at in (1, 2)]


def check_shares(seen, true):
    """seen: documents of top by client; true: {address: (operations, bytes) per second}."""
    for at, member in enumerate(("requests_share", "bytes_share")):
        all_of_it = sum(rates[at] for rates in true.values())
        for address, rates in true.items():
            shares = [row[member] for document in seen for row in document["rows"]
                      if row["client"] == address]
            check(len(shares) == len(seen), f"{address} is missing: {seen}")
            share, expected = sum(shares) / len(shares), rates[at] / all_of_it
            print(f"     {address}: {member} {share:.3f}, true {expected:.3f}")
            check(abs(share - expected) <= TOLERANCE * expected,
                  f"{address}: {member} is {share}, not {expected}: {seen}")


def check_complete(seen):
    check(not any(document["missing"] for document in seen), f"something is missing: {seen}")


@contextlib.contextmanager
def two_clients(bench, service=None):
    """One reads, one writes; yields their loads by address."""
    with addresses(bench), \
            paced_load(bench, FIRST, "read", READ_BYTES, 60, service) as reads, \
            paced_load(bench, SECOND, "write", WRITE_BYTES, 20, service) as writes:
        bench.let_run(SETTLED_S)
        yield {FIRST: reads, SECOND: writes}


def rates_of(loads, began, ended):
    return {address: done_in(load, began, ended) for address, load in loads.items()}


def no_load_in_etcd(bench):
    return not EtcdKeys(bench.lab).below(b"l/")


@lab_test("operations/commands.md", "architecture/load.md")
def top_names_clients_and_their_shares(bench):
    """Two clients with known shares: `symnas top` has them within 5 %, and what they do."""
    with two_clients(bench) as loads:
        seen, began, ended = looks(bench.symnas, "--by", "client")
        by_all = top(bench.symnas, "--by", "client,vnfs,export,operation", "--sort", "bytes")
    check_complete(seen)
    check_shares(seen, rates_of(loads, began - SETTLED_S, ended))
    rows = {(row["client"], row["operation"]): row for row in by_all["rows"]}
    for key, read, size in (((FIRST, "READ"), "read_bytes_per_s", READ_BYTES),
                            ((SECOND, "WRITE"), "written_bytes_per_s", WRITE_BYTES)):
        row = rows.get(key)
        check(row is not None, f"{key} is missing: {by_all}")
        check((row["vnfs"], row["export"]) == (VNFS, EXPORT), str(row))
        check(math.isclose(row[read], size * row["requests_per_s"], rel_tol=ROUNDED), str(row))
        check(row["errors_per_s"] == 0 and 0 < row["mean_us"] <= row["worst_us"], str(row))
    eventually(FORGOTTEN_S, "nothing of load is left in etcd when nobody looks",
               lambda: no_load_in_etcd(bench))


@lab_test("architecture/load.md")
def top_counts_operations_of_nfs4(bench):
    """NFSv4.1: READ and WRITE with their data; what only carries other operations is no load."""
    with nfs4_load(bench, "--kinds", "read,write"):
        bench.let_run(SETTLED_S)
        document = top(bench.symnas, "--by", "operation")
    rows = {row["operation"]: row for row in document["rows"]}
    for operation, data in (("READ", "read_bytes_per_s"), ("WRITE", "written_bytes_per_s")):
        check(rows.get(operation, {}).get(data, 0) > 0, f"{operation} has no data: {document}")
    check(not rows.keys() & {"SEQUENCE", "PUTFH", "GETFH"}, str(document))


@lab_test("operations/commands.md", "architecture/load.md", lab=labs.BACKUPS)
def top_is_the_same_on_every_head(bench):
    """Shares within 5 % as another head shows them, also after a move; a stopped head is named."""
    service = victim(bench)
    by = bench.lab.symnas(others(bench)[1].head)  # serves neither before nor after the move
    with two_clients(bench, service) as loads:
        seen, began, ended = looks(by, "--by", "client,vnfs")
        service.rehost(heads_from(service)[0])
        eventually(TOLD_S, "the load is known after the move",
                   lambda: {row["client"] for row in top(by)["rows"]} >= {FIRST, SECOND})
        bench.let_run(SETTLED_S)
        after, again, at_last = looks(by, "--by", "client,vnfs")
        check_stopped_head_is_named(bench, service, by)
    for documents, times in ((seen, (began - SETTLED_S, ended)), (after, (again, at_last))):
        check_complete(documents)
        check_shares(documents, rates_of(loads, *times))
        check(all(row["vnfs"] == service.name for document in documents
                  for row in document["rows"] if row["client"] in loads), str(documents))
    service.rehost(service.home)


def check_stopped_head_is_named(bench, service, by):
    """The agent that stands still tells nothing; its instance goes on."""
    bench.signal_process(f"vnfsd.{service.head}", signal.SIGSTOP)
    try:
        told = eventually(TOLD_S, "the VNFS and its head are named",
                          lambda: [one for one in top(by)["missing"]
                                   if one["vnfs"] == service.name])
        check(told[0]["head"] == service.head and told[0]["why"], str(told))
    finally:
        bench.signal_process(f"vnfsd.{service.head}", signal.SIGCONT)
