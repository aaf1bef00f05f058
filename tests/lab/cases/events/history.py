"""What `symnas events` and the history of a VNFS tell."""

import json
import subprocess

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import events, heads_from, history, kinds, others, victim
from steps.deadlines import BETWEEN_S
from steps.load import coherent_clients, nfs4_load
from symlab import product
from symlab.service import VNFS

NOTICED_S = 20.0


def told_in(path, count):
    """The events in a follower's output, when there are so many."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [json.loads(line) for line in lines] if len(lines) >= count else None


@lab_test("operations/commands.md")
def crash_of_an_instance_is_told(bench):
    """`symnas events --follow` tells what happens, also across a restart of vnfsd."""
    last = events(bench.symnas)[-1:]  # none on a cluster where nothing has happened yet
    after = last[0]["revision"] if last else 0
    words = [product.program("symnas"), "--socket", bench.lab.state.data["heads"][0]["socket"],
             "-o", "json", "events", "--follow", "--after", str(after), "--vnfs", VNFS]
    path = f"{bench.lab.directory}/followed"
    with open(path, "w", encoding="utf-8") as file:
        follower = subprocess.Popen(words, stdout=file)
    try:
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        # It is recorded when clients are served already; vnfsd shall not die before that.
        eventually(NOTICED_S, "the first restart is told", lambda: told_in(path, 2))
        bench.kill_process("vnfsd.c1n1")
        bench.lab.start_vnfsd("c1n1")
        bench.service.wait_serving()
        second = bench.kill_instance()
        bench.service.wait_serving(other_than=second["pid"])
        seen = eventually(NOTICED_S, "all is told", lambda: told_in(path, 4))
    finally:
        follower.kill()
        follower.wait()
    check([event["kind"] for event in seen] == ["instance-ended", "restart"] * 2, str(seen))
    check(all(event["vnfs"] == VNFS for event in seen), str(seen))
    check(seen[1].get("blackout_ms", -1) >= 0, str(seen[1]))


def last_steps(bench, service):
    """{step: when, in ms since the transition began} of the last one."""
    last = history(bench, service)[-1]
    return {step["name"]: (step["at_ns"] - last["began_ns"]) / 1e6 for step in last["steps"]}


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def timeline_ends_with_the_clients(bench):
    """A move's history tells the clients' first request and the last reclaim."""
    service = victim(bench)
    with nfs4_load(bench, "--kinds", "read,write", service=service):
        bench.let_run(BETWEEN_S)
        service.rehost(heads_from(service)[0])
        eventually(NOTICED_S, "a reclaim is in the history",
                   lambda: "last reclaim" in last_steps(bench, service))
        bench.let_run(BETWEEN_S)
    steps = last_steps(bench, service)
    first, reclaimed = steps["first request"], steps["last reclaim"]
    print(f"     served {steps['serving']:.0f}, first request {first:.0f}, last reclaim "
          f"{reclaimed:.0f} ms after the move began")
    check(steps["listening"] < first < reclaimed < 1000 * NOTICED_S, str(steps))
    service.rehost(service.home)


@lab_test("operations/commands.md", lab=labs.BACKUPS)
def dry_move_and_its_events(bench):
    """A dry run says who would notice and how long; the move is told on every head, with times."""
    service = victim(bench)
    to = heads_from(service)[0]
    by = bench.lab.symnas(others(bench)[0].head)
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(BETWEEN_S)
        service.rehost(to)
        service.rehost(service.home)
        bench.let_run(BETWEEN_S)
        told = by("vnfs", "rehost", service.name, to, "--dry-run")
        check("1 clients with" in told, told)
        check(f"to {to}; longest" in told, told)
        check(service.head == service.home and service.serving(), "a dry run moves")
    last = [event for event in events(by, "--vnfs", service.name) if event["kind"] == "move"][-1]
    check(last["blackout_ms"] == history(bench, service)[-1]["blackout_ms"], str(last))
    told = kinds(by, "--vnfs", service.name)
    check("move-ordered" in told, f"no order among {told}")
    print(f"     blackout {last['blackout_ms']} ms with the question for its VIPs")
