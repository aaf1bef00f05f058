"""VNFSs move between four heads of one filesystem: their clients go on, nobody is disturbed."""

import contextlib
import socket
import subprocess
import time

import arp
import late_bytes
import nfs_null
from kernel_clients import finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test
from symlab import netns, product
from symlab.faults import Faults

from .a_setup import NOT_FOUND
from .h_heads import check_undisturbed, fence_state, others, victim
from .i_shared import HEADS, coherent_clients
from .l_silent import automatic_fencing

BETWEEN_S = 1.5
# Slow enough that what `create` has made is soon removed again.
MEASURED = ("nfs_io", "gaps", "--pause-us", "10000", "--kinds")
TAKEN_OVER_S = 30.0
# What clients wait for at most, also on a busy machine; how long it takes: make bench-failover.
MOVED_MS = 3_000.0
CRASHED_MS = 8_000.0
WOKEN_S = 5.0
HEARD_S = 5.0  # every head has heard every other one for a while, and would be missed
CONFLICT = 4
SENT_AGAIN_S = 14.0  # by TCP, six times: 0.2 s, doubled each time
HICCUPS, HICCUP_S = 3, 0.8


def heads_from(service):
    """Every head but the one that the VNFS is on, then that one."""
    heads = [head["name"] for head in service.lab.state.data["heads"]]
    return [head for head in heads if head != service.head] + [service.head]


def owner(bench, service):
    for vnfs in bench.symnas.json("vnfs", "ls")["vnfs"]:
        if vnfs["name"] == service.name:
            return vnfs["owner"]
    return None


def history(bench, service):
    return bench.symnas.json("vnfs", "history", service.name)["history"]


def check_gaps(seen, kinds, limit_ms):
    """No operation failed, and none of the clients waited for longer."""
    for kind in kinds:
        print(f"     {kind}: longest gap {seen[kind]['longest_gap_ms']:.0f} ms")
        check(seen[kind]["errors"] == 0, f"{kind} failed: {seen}")
        check(seen[kind]["longest_gap_ms"] < limit_ms,
              f"{kind} was not answered for more than {limit_ms:.0f} ms: {seen[kind]}")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def rehost_under_load(bench):
    """Through every head and home under verified load: no error, nothing old is read."""
    service = victim(bench)
    other = others(bench)[0]
    with coherent_clients(bench, "--stable", "1"), \
            bench.load(*MEASURED, "read,write,create", service=service) as load, \
            bench.load(*MEASURED, "read,write", service=other) as beside:
        for head in heads_from(service):
            bench.let_run(BETWEEN_S)
            service.rehost(head)
            check(owner(bench, service) == head, f"{service.name} is not on {head}")
        bench.let_run(BETWEEN_S)
    check_undisturbed({other.head: beside}, [other], ("read", "write"))
    check_gaps(load.seen, ("read", "write", "create"), MOVED_MS)


def metrics_of(bench, head):
    """{name with labels: value} of the head's vnfsd."""
    with socket.socket(socket.AF_UNIX) as api:
        api.connect(bench.lab.head(head)["socket"])
        api.sendall(b"GET /metrics HTTP/1.1\r\nHost: vnfsd\r\nConnection: close\r\n\r\n")
        with api.makefile(encoding="utf-8") as answer:
            lines = [line.rsplit(" ", 1) for line in answer.read().splitlines()
                     if line.startswith("symnas_")]
    return {name: float(value) for name, value in lines}


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def move_is_announced_and_counted(bench):
    """The new head announces the VIP by ARP, with its own MAC; its metrics have the blackout."""
    service = victim(bench)
    to = heads_from(service)[0]
    labels = f'{{vnfs="{service.name}",cause="move"}}'
    before = metrics_of(bench, to)
    [old] = arp.holders(bench.lab.client_netns, "eth1", service.vip)
    with arp.announcements(bench.lab.client_netns, "eth1", service.vip) as announced:
        service.rehost(to)
        [new] = arp.holders(bench.lab.client_netns, "eth1", service.vip)
    check(new != old and set(announced) == {new}, f"{old}, then {new}: announced {announced}")
    after = metrics_of(bench, to)
    names = [f"symnas_vnfs_blackout_seconds_{part}{labels}" for part in ("count", "sum")]
    count, seconds = [after[name] - before.get(name, 0.0) for name in names]
    blackout_ms = history(bench, service)[-1]["blackout_ms"]
    check(count == 1 and abs(1000 * seconds - blackout_ms) < 1,
          f"{count} moves with {seconds} s; the history has {blackout_ms} ms")
    service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def reset_that_is_ignored(bench):
    """A client that has received more than the old head knows is told once more, and hears it."""
    service = victim(bench)
    with netns.entered(bench.lab.client_netns), \
            socket.create_connection((service.vip, nfs_null.PORT), WOKEN_S) as client:
        late_bytes.receive(client, b"late")
        check(client.recv(16) == b"late", "it has received something else")
        service.rehost(heads_from(service)[0])
        try:
            told = f"got {client.recv(16)}"
        except ConnectionResetError:
            told = "reset"
        except TimeoutError:
            told = "waits"
    check(told == "reset", f"the client {told}")
    service.rehost(service.home)


@contextlib.contextmanager
def deaf(bench, connection):
    """Nothing reaches the client's connection any more."""
    table = "table inet symnas_deaf {\n chain in {\n  type filter hook input priority 0;\n" \
            f"  tcp dport {connection.getsockname()[1]} drop\n }}\n}}\n"
    with netns.entered(bench.lab.client_netns):
        subprocess.run(["nft", "-f", "-"], input=table, text=True, check=True)
        try:
            yield
        finally:
            subprocess.run(["nft", "delete", "table", "inet", "symnas_deaf"], check=True)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def client_that_is_gone_delays_no_move(bench):
    """A reply that has long been sent in vain is not waited for, and the history names its client:
    to wait for acknowledgements that do not come takes a second (limits.h)."""
    service = victim(bench)
    with netns.entered(bench.lab.client_netns), \
            socket.create_connection((service.vip, nfs_null.PORT), WOKEN_S) as client, \
            deaf(bench, client):
        client.sendall(nfs_null.NULL_CALL)
        time.sleep(SENT_AGAIN_S)
        service.rehost(heads_from(service)[0])
        name = ":".join(map(str, client.getsockname()))
    move = history(bench, service)[-1]
    ends = {step["name"]: step["at_ns"] for step in move["steps"]}
    waited_ms = (ends["replies acknowledged"] - ends["mounts closed"]) / 1e6
    check(name in move["error"], f"{name} is not named: {move['error']!r}")
    check(waited_ms < 900, f"{waited_ms:.0f} ms for a client that is gone: {move}")
    service.rehost(service.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def rehost_refused(bench):
    """What cannot be obeyed is refused with the reason, and nothing moves."""
    service = victim(bench)
    before = service.serving()["pid"]
    bench.refused(NOT_FOUND, "vnfs", "rehost", "nobody", "c1n1")
    bench.refused(NOT_FOUND, "vnfs", "rehost", service.name, "c1n99")
    told = bench.refused(CONFLICT, "vnfs", "rehost", service.name, service.head)
    check("serves it" in told, told)
    check("to be moved" in bench.symnas("vnfs", "rehost", service.name, "c1n1", "--dry-run"),
          "a dry run says nothing")
    bench.lab.symnas(service.head)("vnfs", "stop", service.name)
    told = bench.refused(CONFLICT, "vnfs", "rehost", service.name, "c1n1")
    check(f"symnas vnfs start {service.name}" in told, told)
    bench.lab.symnas(service.head)("vnfs", "start", service.name)
    check(service.serving()["pid"] != before, "it was not stopped")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def rehost_to_a_head_that_does_not_answer(bench):
    """The order is taken back; the VNFS has not noticed anything, and does not move later."""
    service = victim(bench)
    before = service.serving()["pid"]
    to = heads_from(service)[0]
    bench.kill_process(f"vnfsd.{to}")
    by = bench.lab.symnas(service.head)
    try:
        try:
            by("vnfs", "rehost", service.name, to, "--timeout", "2")
            raise AssertionError("it was moved to a head without an agent")
        except product.CommandFailed as failed:
            check("has not answered" in failed.output, failed.output)
    finally:
        bench.lab.start_vnfsd(to)
    next(s for s in bench.services if s.head == to).wait_serving()
    bench.let_run(BETWEEN_S)
    check(service.serving()["pid"] == before, "it moved after all")


SITTING = "cd {folder} && touch f && guest_file hold f go {how}"
SECOND = "guest_file try {folder}/f"


def is_holding(job):
    check(job.poll(0.1) is None, f"ended with {job.status}: {output_of(job)}")
    return "holding" in output_of(job)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def kernel_clients_sit_through_moves(bench):
    """A shell in the mount with an open file, in v4 a locked one: all outlive every move."""
    service = victim(bench)
    with kernel_clients(bench, "moves") as (one, other):
        sitting = {}
        for version, options, how in (("v41", "vers=4.1", "locked"), ("v40", "vers=4.0", "locked"),
                                      ("v3", "vers=3,nolock", "open")):
            one.run(f"mkdir -p {one.mount(version, service, options)}/{version}")
            folder = f"/mnt/{version}/{one.folder}/{version}"
            sitting[version] = one.start(SITTING.format(folder=folder, how=how))
        looking = other.mount("v41", bench.services[0], "vers=4.1")
        for version, job in sitting.items():
            eventually(20.0, f"the {version} shell sits there", lambda j=job: is_holding(j))
        second = {version: SECOND.format(folder=f"{looking}/{version}")
                  for version in ("v41", "v40")}
        for head in heads_from(service):
            for version, command in second.items():
                check(other.run(command) == "refused",
                      f"the {version} lock was stolen before the move to {head}")
            service.rehost(head)
            bench.let_run(BETWEEN_S)
        for version, command in second.items():
            check(other.run(command) == "refused", f"the {version} lock was stolen")
        other.run(f"touch {looking}/v41/go {looking}/v40/go {looking}/v3/go")
        for version, output in finish(sitting).items():
            wanted = f"holding\none two /mnt/{version}/{one.folder}/{version}"
            check(output == wanted, f"the {version} shell said {output!r}, not {wanted!r}")
        for version, command in second.items():
            check(other.run(command) == "granted", f"the {version} lock was not given back")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def backup_takes_over(bench):
    """A head's power fails and it is fenced: its first backup serves; it comes back and waits."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(2.0)
        since = time.monotonic()
        bench.lab.fence(home, "power")
        service.head = eventually(TAKEN_OVER_S, f"{backup} serves {service.name}",
                                  lambda: owner(bench, service) == backup and backup)
        service.wait_serving()
        print(f"     served by {backup} {time.monotonic() - since:.1f} s after the order to fence")
        bench.let_run(2.0)
        bench.lab.unfence(home)
        eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
        bench.let_run(2.0)
        check(owner(bench, service) == backup, "it went back by itself")
        service.rehost(home)
    bench.lab.wait_members()


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def head_crash(bench):
    """A head is gone from one moment to the next: unasked it is fenced, and its backup serves."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    other = others(bench)[0]
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        with coherent_clients(bench, "--stable", "1"), \
                bench.load(*MEASURED, "read,write,create", service=service) as load, \
                bench.load(*MEASURED, "read,write", service=other) as beside:
            bench.let_run(HEARD_S)
            Faults(bench.lab).kill(home)
            eventually(TAKEN_OVER_S, f"{backup} serves {service.name}",
                       lambda: owner(bench, service) == backup)
            bench.let_run(HEARD_S)
        bench.lab.unfence(home)
        eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
        answering = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        check(len(answering) == 1, f"{service.vip} is answered for by {answering}")
    service.head = backup
    check_gaps(load.seen, ("read", "write", "create"), CRASHED_MS)
    check_undisturbed({other.head: beside}, [other], ("read", "write"))
    last = history(bench, service)[-1]
    check((last["cause"], last["from"], last["to"]) == ("failover", home, backup), str(last))
    print("     " + ", ".join(f"{step['name']} {(step['at_ns'] - last['began_ns']) // 1000000}"
                              for step in last["steps"]))
    service.rehost(home)
    check(history(bench, service)[-1]["cause"] == "move", "the history does not tell the move")
    bench.lab.wait_members()


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def agent_away_is_no_crash(bench):
    """Its agent is gone, its instance answers, with hiccups: nobody is fenced, nothing moves."""
    service = victim(bench)
    before = service.serving()
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), coherent_clients(bench, "--stable", "1"):
        bench.let_run(HEARD_S)
        bench.kill_process(f"vnfsd.{service.head}")
        try:
            bench.let_run(HEARD_S)
            told = bench.lab.symnas(others(bench)[0].head)("status")
            check(f"head {service.head}: is not heard by this head: but a VIP" in told, told)
            for _ in range(HICCUPS):  # others ask each half second, and wait for 0.3 s
                Faults(bench.lab).pause(service.name)
                bench.let_run(HICCUP_S)
                Faults(bench.lab).resume(service.name)
                bench.let_run(BETWEEN_S)
            check(fence_state(bench, service.head) is None, "the head was fenced")
        finally:
            bench.lab.start_vnfsd(service.head)
        check(service.wait_serving()["pid"] == before["pid"], "its instance was ended")
