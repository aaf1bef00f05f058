"""Moves that name no head: drains, failback, distribution; conflicting orders."""

import concurrent.futures
import contextlib
import time

import labs
from lab_case import check, eventually, lab_test
from labs import HEADS
from steps.cluster import fence_state, heads_from, others, owner, victim
from steps.deadlines import BETWEEN_S, MOVED_MS, TAKEN_OVER_S
from steps.exit_status import CONFLICT, NOT_FOUND, UNREACHABLE, USAGE
from steps.load import MEASURED, check_gaps, coherent_clients
from symlab import product
from symlab.faults import Faults

SETTLE_S = 5
MOVED_S = 40.0  # a look of the agent every 10 s, and what else the machine does
STAYS_S = 25.0  # two looks and more: whoever wanted to move it would have done so
TRIES = 5


def row(bench, service):
    """Of `symnas vnfs status`."""
    for vnfs in bench.symnas.json("vnfs", "status")["vnfs"]:
        if vnfs["name"] == service.name:
            return vnfs
    raise AssertionError(f"no {service.name} in the table")


def state_of_head(bench, name):
    heads = bench.symnas.json("vnfs", "status")["heads"]
    return next(head["state"] for head in heads if head["name"] == name)


def settle(bench, service):
    """Where it is now is where it serves."""
    service.head = owner(bench, service)
    service.wait_serving()


@contextlib.contextmanager
def failing_back(bench, service):
    """The VNFS fails back by itself, after a short time; afterwards as before, and at home."""
    bench.lab.set_settling(SETTLE_S)
    bench.lab.wait_members()
    bench.symnas("vnfs", "set", service.name, "--failback", "auto")
    try:
        yield
    finally:
        bench.symnas("vnfs", "set", service.name, "--failback", "manual")
        bench.lab.set_settling(60)
        bench.lab.wait_members()


def go_home(bench, service):
    settle(bench, service)
    if service.head != service.home:
        service.rehost(service.home)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def drain_under_load(bench):
    """A head is drained under load, stays empty over vnfsd's restart, then serves again."""
    service = victim(bench)
    home = service.home
    with coherent_clients(bench, "--stable", "1"), \
            bench.load(*MEASURED, "read,write", service=service) as load:
        bench.let_run(BETWEEN_S)
        told = bench.symnas("head", "drain", home, "--dry-run")
        check(f"{service.name}: goes to" in told, told)
        check(state_of_head(bench, home) == "serving", "a dry run drains")
        bench.symnas("head", "drain", home, "--wait", timeout_s=150)
        check(owner(bench, service) not in (home, "", None), "it has not gone")
        settle(bench, service)
        check(row(bench, service)["places"][service.head].startswith("*"), "not in the table")
        check(state_of_head(bench, home) == "draining", "the table does not show the drain")
        told = bench.refused(CONFLICT, "vnfs", "rehost", service.name, home)
        check(f"symnas head undrain {home}" in told, told)
        why = bench.symnas.json("vnfs", "why", service.name, home)
        check(why["verdict"] == "may_not" and "draining" in {r["kind"] for r in why["reasons"]},
              f"it does not say why it may not run on {home}: {why}")
        bench.kill_process(f"vnfsd.{home}")
        bench.lab.start_vnfsd(home)
        check(state_of_head(bench, home) == "draining", "the agent's restart ends the drain")
        bench.symnas("head", "undrain", home)
        bench.let_run(BETWEEN_S)
        check(owner(bench, service) == service.head, "it went back by itself")
        service.rehost(home)
        bench.let_run(BETWEEN_S)
    check_gaps(load.seen, ("read", "write"), MOVED_MS)


def what_stays(bench, head):
    """The last line of a drain that does not come to its end: it has done what it could before."""
    try:
        bench.symnas("head", "drain", head, "--wait", "--timeout", "20")
    except product.CommandFailed as failed:
        check(failed.status == CONFLICT, f"{failed.status}: {failed.output}")
        return failed.output.strip().splitlines()[-1]
    raise AssertionError(f"{head} was drained of everything")


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def drain_reports_a_vnfs_that_stays(bench):
    """A VNFS that no other head may serve stays, and the drain says so."""
    service = victim(bench)
    home = service.home
    bench.symnas("vnfs", "create-set", "only", "--heads", home, "--vip-range",
                 "10.0.0.131/24@nfs0", "--exports", "u04")
    pid = service.wait_serving("only1")["pid"]
    try:
        told = what_stays(bench, home)
        check("vnfs only1: is serving: it has no other head" in told, told)
        check(f"vnfs {service.name}:" not in told, told)
        check(service.serving("only1")["pid"] == pid, "it was disturbed")
        check(owner(bench, service) != home, "what could go has not gone")
    finally:
        bench.symnas("head", "undrain", home)
        bench.lab.symnas(home)("vnfs", "stop", "only1")
        bench.symnas("vnfs", "rm", "only1")
    go_home(bench, service)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def drain_while_the_backup_has_no_agent(bench):
    """The first backup does not answer: the order is taken back, the next one takes it."""
    service = victim(bench)
    home = service.home
    silent = heads_from(service)[1]
    bench.kill_process(f"vnfsd.{silent}")
    try:
        bench.symnas("head", "drain", home, "--wait", timeout_s=150)
        settle(bench, service)
        check(service.head not in (home, silent), f"it is on {service.head}")
    finally:
        bench.lab.start_vnfsd(silent)
        bench.symnas("head", "undrain", home)
    go_home(bench, service)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def fails_back_by_itself(bench):
    """A head loses its power and comes back: its VNFS goes home once the head is stable."""
    service = victim(bench)
    home = service.home
    with failing_back(bench, service), coherent_clients(bench, "--stable", "1"):
        bench.lab.fence(home, "power")
        eventually(TAKEN_OVER_S, "a backup serves it",
                   lambda: owner(bench, service) not in (home, "", None))
        settle(bench, service)
        bench.let_run(2.0)
        check(state_of_head(bench, home) == "fenced", "the table does not show the fence")
        bench.lab.unfence(home)
        eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
        since = time.monotonic()
        eventually(MOVED_S, "it fails back", lambda: owner(bench, service) == home)
        print(f"     back {time.monotonic() - since:.1f} s after its head was back")
        check(time.monotonic() - since > SETTLE_S - 2, "its head had not settled")
        settle(bench, service)
        bench.let_run(2.0)
    bench.lab.wait_members()


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def rehost_is_not_undone_by_failback(bench):
    """A VNFS that an administrator has moved stays there until it is told to fail back."""
    service = victim(bench)
    with failing_back(bench, service):
        away = heads_from(service)[0]
        service.rehost(away)
        check(row(bench, service)["pinned"] == away, "it is not pinned")
        bench.let_run(STAYS_S)
        check(owner(bench, service) == away, "it went back although an administrator moved it")
        bench.symnas("vnfs", "failback", service.name)
        settle(bench, service)
        check(service.head == service.home, f"it is on {service.head}")
        check(row(bench, service)["pinned"] == "", "it is still pinned")


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def distribute_brings_everybody_home(bench):
    """All VNFSs on one head: a dry run moves nothing, then each goes home and fails back."""
    crowded = victim(bench).home
    for service in others(bench):
        service.rehost(crowded)
    told = bench.symnas("vnfs", "distribute", "--dry-run")
    for service in others(bench):
        check(f"{service.name}: to be moved from {crowded} to {service.home}" in told, told)
        check(owner(bench, service) == crowded, "a dry run moves")
    bench.symnas("vnfs", "distribute", timeout_s=150)
    for service in bench.services:
        settle(bench, service)
        check(service.head == service.home, f"{service.name} is on {service.head}")
    check("best of its heads" in bench.symnas("vnfs", "distribute"), "it moves for nothing")
    victim(bench).rehost(others(bench)[0].home)
    bench.symnas("vnfs", "failback", "--all", timeout_s=150)
    for service in bench.services:
        settle(bench, service)
        check(service.head == service.home, f"{service.name} did not fail back")


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def spanning_set(bench):
    """One command makes a VNFS for every head, with the others as its backups."""
    ranges = ("--vip-range", "10.0.0.121/24@nfs0", "--exports", "u04")
    bench.refused(CONFLICT, "vnfs", "create-set", "vnfs", *ranges)
    bench.symnas("vnfs", "create-set", "s", *ranges, timeout_s=150)
    heads = [head["name"] for head in bench.lab.state.data["heads"]]
    try:
        rows = {v["name"]: v for v in bench.symnas.json("vnfs", "status")["vnfs"]}
        for number, head in enumerate(heads, 1):
            places = rows[f"s{number}"]["places"]
            check(places[head] == "*P" and len(places) == HEADS, f"s{number}: {places}")
    finally:
        for number, head in enumerate(heads, 1):
            bench.lab.symnas(head)("vnfs", "stop", f"s{number}")
            bench.symnas("vnfs", "rm", f"s{number}")


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def conflicting_orders_of_administrators(bench):
    """Two orders for one VNFS at once: one is obeyed, the other is a conflict."""
    service = victim(bench)
    wishes = heads_from(service)[:2]

    def order(by, head):
        try:
            bench.lab.symnas(by)("vnfs", "rehost", service.name, head)
            return None
        except product.CommandFailed as failed:
            return failed

    conflicts = 0
    for _ in range(TRIES):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            failed = list(pool.map(order, [s.head for s in others(bench)[:2]], wishes))
        for loser in filter(None, failed):
            check(loser.status == CONFLICT, f"{loser.status}: {loser.output}")
            check("to be moved" in loser.output or "moved to" in loser.output or
                  "serves it" in loser.output, loser.output)
        check(None in failed, f"nobody was obeyed: {failed}")
        settle(bench, service)
        check(service.head in [head for head, f in zip(wishes, failed, strict=True) if f is None],
              f"{service.head} has it: {failed}")
        conflicts += sum(1 for f in failed if f)
        go_home(bench, service)
        if conflicts:
            return
    raise AssertionError(f"{TRIES} pairs of orders came one after the other")


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def placement_refused(bench):
    """Unknown names, unknown words, no quorum: exit status and one line that explains."""
    name = victim(bench).name
    bench.refused(NOT_FOUND, "head", "drain", "c1n99")
    bench.refused(NOT_FOUND, "head", "undrain", "c1n99")
    bench.refused(NOT_FOUND, "vnfs", "failback", "nobody")
    bench.refused(NOT_FOUND, "vnfs", "set", "nobody", "--failback", "auto")
    bench.refused(USAGE, "vnfs", "failback", name, "--all")
    members = [member["name"] for member in bench.symnas.json("etcd", "ls")["members"]][1:]
    faults = Faults(bench.lab)
    for member in members:
        faults.kill(f"etcd-{member}")
    try:
        told = bench.refused(UNREACHABLE, "vnfs", "status")
        check("nothing can move now" in told, told)
    finally:
        for member in members:
            bench.lab.start_etcd(member)
        bench.lab.wait_members()
    check(row(bench, victim(bench))["state"] == "serving", "it does not serve any more")
