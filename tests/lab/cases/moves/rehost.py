"""VNFSs are moved between four heads: their clients go on, no other client is disturbed."""

import contextlib
import socket
import subprocess
import time

import arp
import labs
import late_bytes
import nfs_null
from kernel_clients import finish, kernel_clients
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from, history, others, owner, victim
from steps.deadlines import BETWEEN_S, MOVED_MS
from steps.exit_status import CONFLICT, NOT_FOUND
from steps.load import MEASURED, check_gaps, check_undisturbed, coherent_clients
from steps.lock_holders import SECOND, SITTING, is_holding
from symlab import netns, product

WOKEN_S = 5.0
PAGE_S = 10.0  # vnfsd writes its metrics every 2 s
SENT_AGAIN_S = 14.0  # by TCP, six times: 0.2 s, doubled each time


@lab_test("INV-4", "architecture/moves.md", lab=labs.BACKUPS)
def rehost_under_load(bench):
    """A VNFS moves through every head and home under verified load: no error, no old data."""
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


def grown(bench, head, name, before):
    """The head's metrics, once that counter is above what it was."""
    seen = metrics_of(bench, head)
    return seen if seen.get(name, 0.0) > before.get(name, 0.0) else None


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def move_is_announced_and_counted(bench):
    """The new head announces the VIP by ARP, with its own MAC; its metrics have the blackout."""
    service = victim(bench)
    to = heads_from(service)[0]
    labels = f'{{head="{to}",vnfs="{service.name}",cause="move"}}'
    before = metrics_of(bench, to)
    [old] = arp.holders(bench.lab.client_netns, "eth1", service.vip)
    with arp.announcements(bench.lab.client_netns, "eth1", service.vip) as announced:
        service.rehost(to)
        [new] = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        seen = announced()
    check(new != old and set(seen) == {new}, f"{old}, then {new}: announced {seen}")
    names = [f"symnas_vnfs_blackout_seconds_{part}{labels}" for part in ("count", "sum")]
    after = eventually(PAGE_S, "the move is in the metrics",
                       lambda: grown(bench, to, names[0], before))
    count, seconds = [after[name] - before.get(name, 0.0) for name in names]
    blackout_ms = history(bench, service)[-1]["blackout_ms"]
    check(count == 1 and abs(1000 * seconds - blackout_ms) < 1,
          f"{count} moves with {seconds} s; the history has {blackout_ms} ms")
    service.rehost(service.home)


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def client_that_ignored_a_reset_is_reset_again(bench):
    """A client that has received more than the old head knows is reset once more."""
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


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def unreachable_client_delays_no_move(bench):
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


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def rehost_refused(bench):
    """Impossible moves are refused with the reason, and nothing moves."""
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


@lab_test("architecture/moves.md", lab=labs.BACKUPS)
def rehost_to_a_head_that_does_not_answer(bench):
    """The order is taken back; the VNFS is not disturbed and does not move later."""
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


@lab_test("INV-7", "architecture/moves.md", lab=labs.BACKUPS)
def kernel_clients_keep_files_and_locks_through_moves(bench):
    """Open files and, in v4, locks of Linux clients outlive every move."""
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
