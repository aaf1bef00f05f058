"""A head or instance that stands still while others wait for its files."""

import contextlib

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import fence_state, others, victim
from steps.faults import automatic_fencing, boot_again
from steps.load import coherent_clients
from symlab.faults import Faults

NOTICED_S = 15.0
ENDED_S = 60.0  # 25 s of silence when nobody waits, and the last answers of a head without its LUNs
UNNOTICED_S = 10.0


def named(bench, head):
    """The line of another head's `symnas status` about a silent one."""
    for line in bench.lab.symnas(others(bench)[0].head)("status").splitlines():
        if f"on head {head} is silent for" in line:
            return line
    return None


@contextlib.contextmanager
def held_elsewhere(bench, service):
    """A file that `service` has written and may keep. Yields a function that asks another head for
    it, again when that one said NFS3ERR_JUKEBOX, and answers whether it has been read."""
    with bench.shell(service) as writer, bench.shell(others(bench)[0]) as reader:
        writer.expect("NFS3_OK", "create", "held")
        writer.expect("NFS3_OK", "write", "held", 0, 8192, "x", "unstable")
        asked = False

        def wanted():
            nonlocal asked
            if not asked:
                reader.send("read", "held", 0, 8192, "x")
            asked = not reader.answered()
            answer = "" if asked else reader.answer()
            check("differs" not in answer, f"not what was written: {answer}")
            return answer.startswith("NFS3_OK ")
        yield wanted


@lab_test("INV-8", "architecture/fencing.md", lab=labs.ONE_FILESYSTEM)
def silent_head_is_reported_and_not_fenced(bench):
    """Without automatic fencing status says who blocks files and what to do; nobody is fenced."""
    service = victim(bench)
    before = service.serving()
    faults = Faults(bench.lab)
    with coherent_clients(bench, "--stable", "1"), \
            held_elsewhere(bench, service) as wanted:
        bench.let_run(2.0)
        faults.pause(service.head)
        try:
            line = eventually(NOTICED_S, "status names the silent head",
                              lambda: named(bench, service.head))
            check(f"symnas head fence {service.head} --yes" in line, line)
            eventually(NOTICED_S, "status says that files are blocked",
                       lambda: not wanted() and
                       "keeps others waiting" in (named(bench, service.head) or ""))
            bench.let_run(5.0)
            check(not wanted(), "another head gave away what the silent one holds")
        finally:
            faults.resume(service.head)
        eventually(NOTICED_S, "status says no more", lambda: not named(bench, service.head))
        eventually(NOTICED_S, "the file is read", wanted)
        bench.let_run(2.0)
    check(service.serving()["pid"] == before["pid"], "its instance was ended")
    check(fence_state(bench, service.head) is None, "the head was fenced")


@lab_test("INV-8", "architecture/fencing.md", lab=labs.ONE_FILESYSTEM)
def silent_instance_is_ended_by_its_own_head(bench):
    """An instance hangs: its own agent ends and restarts it, its head is not fenced."""
    service = victim(bench)
    before = service.serving()
    with automatic_fencing(bench), coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        Faults(bench.lab).pause(service.name)
        eventually(ENDED_S, "the instance is ended",
                   lambda: service.serving()["pid"] != before["pid"])
        after = service.wait_serving()
        bench.let_run(3.0)
    check(after["epoch"] > before["epoch"], f"not claimed anew: {before}, {after}")
    check(fence_state(bench, service.head) is None, "its head was fenced")


def fence_while_silent(bench, kind):
    bench.lab.set_fence_kind(kind)
    service = victim(bench)
    faults = Faults(bench.lab)
    with automatic_fencing(bench), coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        faults.pause(service.head)
        eventually(ENDED_S, "the head is fenced",
                   lambda: fence_state(bench, service.head) == "done")
        bench.let_run(2.0)
        boot_again(bench, service)
        bench.lab.wait_members()


@lab_test("INV-8", "architecture/fencing.md", lab=labs.ONE_FILESYSTEM)
def silent_head_is_fenced_by_power(bench):
    """A head hangs: another one fences it by power and its files are free; it boots again."""
    fence_while_silent(bench, "power")


@lab_test("INV-8", "architecture/fencing.md", lab=labs.ONE_FILESYSTEM)
def silent_head_is_fenced_from_its_luns(bench):
    """A head hangs and is fenced by its LUNs: it boots again with its etcd member."""
    fence_while_silent(bench, "lun")


@lab_test("INV-8", "architecture/fencing.md", lab=labs.ONE_FILESYSTEM)
def healthy_heads_are_not_fenced(bench):
    """Automatic fencing under load while an instance restarts: nobody else is ended."""
    before = {service.head: service.serving()["pid"] for service in others(bench)}
    with automatic_fencing(bench), coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        bench.kill_recorded(victim(bench).serving())
        bench.let_run(UNNOTICED_S)
    for service in others(bench):
        check(service.serving()["pid"] == before[service.head], f"{service.head} was ended")
        check(fence_state(bench, service.head) is None, f"{service.head} was fenced")
