"""The states of all VNFSs on all heads: what `symnas status` and `vnfs status` show elsewhere."""

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from, others, victim
from steps.deadlines import BETWEEN_S, HEARD_S, TAKEN_OVER_S
from symlab.faults import Faults

TOLD_S = 5.0  # half a second after a change, on a busy machine


def shown(bench, head, command, service):
    """The row of the VNFS in `symnas status` or `symnas vnfs status` of that head."""
    for vnfs in bench.lab.symnas(head).json(*command)["vnfs"]:
        if vnfs["name"] == service.name:
            return vnfs
    raise AssertionError(f"{head} shows no {service.name}")


def states(bench, command, service):
    heads = [head["name"] for head in bench.lab.state.data["heads"]]
    return {head: shown(bench, head, command, service)["state"] for head in heads}


def all_show(bench, service, state):
    """Every head shows that state of the VNFS, in both commands."""
    for command in (("status",), ("vnfs", "status")):
        def everywhere(asked=command):
            return set(states(bench, asked, service).values()) == {state}
        eventually(TOLD_S, f"`symnas {' '.join(command)}` shows {service.name} {state} everywhere",
                   everywhere)


@lab_test("formats/keys.md", "operations/api.md", lab=labs.THREE_HEADS)
def every_head_shows_all_states(bench):
    """Every head shows every VNFS as its owner has it, with epoch and restarts, but no pid."""
    for service in bench.services:
        all_show(bench, service, "serving")
    service = victim(bench)
    before = service.serving()
    elsewhere = others(bench)[0].head
    seen = shown(bench, elsewhere, ("status",), service)["instance"]
    check(seen["head"] == service.head and "pid" not in seen, seen)
    check(seen["epoch"] == before["epoch"] and seen["since_ns"] == before["since_ns"], seen)
    Faults(bench.lab).kill(service.name)
    after = service.wait_serving(other_than=before["pid"])
    check(after["epoch"] > before["epoch"], f"{before} {after}")
    eventually(TOLD_S, "the new instance is shown elsewhere", lambda: shown(
        bench, elsewhere, ("status",), service)["instance"]["epoch"] == after["epoch"])
    all_show(bench, service, "serving")


@lab_test("formats/keys.md", "operations/api.md", lab=labs.THREE_HEADS)
def a_stopped_vnfs_is_stopped_everywhere(bench):
    """`vnfs stop` and `vnfs start`, ordered on another head, wait for the state and are shown."""
    service = victim(bench)
    order = bench.lab.symnas(others(bench)[0].head)
    order("vnfs", "stop", service.name)
    all_show(bench, service, "stopped")
    order("vnfs", "start", service.name)
    service.wait_serving()
    all_show(bench, service, "serving")


@lab_test("formats/keys.md", "operations/api.md", lab=labs.THREE_HEADS)
def the_state_of_a_silent_head_is_of_the_past(bench):
    """vnfsd is away: its VNFS is unheard, and was serving; then it is heard again."""
    service = victim(bench)
    elsewhere = others(bench)[0].head
    bench.let_run(HEARD_S)
    bench.kill_process(f"vnfsd.{service.head}")
    eventually(TAKEN_OVER_S, "it is unheard elsewhere", lambda: shown(
        bench, elsewhere, ("status",), service)["state"] == "unheard")
    seen = shown(bench, elsewhere, ("status",), service)["instance"]
    check(seen["state"] == "serving" and seen["heard_ns"] > seen["told_ns"], seen)
    row = shown(bench, elsewhere, ("vnfs", "status"), service)
    check(row["state"] == "unheard" and "it was serving at" in row["why"], row)
    told = bench.lab.symnas(elsewhere)("status")
    check(f"vnfs {service.name}: head {service.head} is not heard since" in told, told)
    bench.lab.start_vnfsd(service.head)
    service.wait_serving()
    all_show(bench, service, "serving")


@lab_test("formats/keys.md", lab=labs.THREE_HEADS)
def what_a_former_owner_told_is_not_shown(bench):
    """After a move every head shows what the new owner tells."""
    service = victim(bench)
    home, target = service.head, heads_from(service)[0]
    service.rehost(target)
    after = service.wait_serving()
    all_show(bench, service, "serving")
    for head in heads_from(service)[:2]:
        seen = shown(bench, head, ("status",), service)["instance"]
        check(seen["head"] == target and seen["epoch"] == after["epoch"], seen)
    bench.let_run(BETWEEN_S)
    service.rehost(home)
    service.wait_serving()
