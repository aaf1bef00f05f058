"""Many connections of clients to one VNFS."""

import contextlib
import resource
import socket

import nfs_null
import nfs_wire as wire
from lab_case import check, eventually, lab_test
from symlab import netns
from symlab.service import VIP

MANY = 1_500        # 94 hosts that mount with nconnect=16
DESCRIPTORS = 2_048  # of the instance, for the second case
LEFT_IN = 16        # one descriptor in so many is no connection
BEYOND = 60
FULL = "connections are in use"
MEMORY_MAX = 64 << 10  # bytes of an idle connection
FREED_S = 10.0


def limits_of(pid, what="Max open files"):
    with open(f"/proc/{pid}/limits", encoding="utf-8") as table:
        [line] = [line for line in table if line.startswith(what)]
    return int(line.removeprefix(what).split()[0])


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as table:
        [line] = [line for line in table if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


@contextlib.contextmanager
def connections(bench, count):
    """So many connections to the VIP; yields how many of them are answered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        streams = []
        with netns.entered(bench.lab.client_netns):
            for _ in range(count):
                streams.append(opened.enter_context(socket.create_connection(
                    (VIP, nfs_null.PORT), 10.0)))
        yield sum(is_answered(stream) for stream in streams)


def is_answered(stream):
    """Whether a NULL call of NFSv3 is answered."""
    message = wire.call(7, wire.NFS, 3, 0, b"")
    with contextlib.suppress(OSError):
        stream.sendall(wire.u32(1 << 31 | len(message)) + message)
        return bool(stream.recv(64))
    return False


def times_in(path):
    """How often a log says that there are no more connections."""
    with open(path, encoding="utf-8", errors="replace") as log:
        return sum(FULL in line for line in log)


@lab_test("operations/sizes.md", "architecture/ganesha_settings.md")
def more_than_a_thousand_connections(bench):
    """1,500 connections to one VNFS are answered, and cost a few KiB each."""
    pid = bench.service.serving()["pid"]
    before = resident_bytes(pid)
    with connections(bench, MANY) as answered:
        each = (resident_bytes(pid) - before) / MANY
        check(answered == MANY, f"{answered} of {MANY} are answered")
    check(each < MEMORY_MAX, f"each connection takes {each:.0f} bytes")
    print(f"     {each:.0f} bytes for each of {MANY} connections")


@lab_test("operations/sizes.md", "architecture/ganesha_settings.md")
def connections_at_the_bound_are_closed(bench):
    """Descriptors for 1,920 connections: further ones are closed, which the log says once."""
    vnfsd = bench.lab.process("vnfsd.c1n1")["pid"]
    resource.prlimit(vnfsd, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    try:
        before = bench.kill_instance()
        pid = bench.service.wait_serving(other_than=before["pid"])["pid"]
        descriptors = limits_of(pid)
        if descriptors > DESCRIPTORS:
            print("     this machine lets instances have more descriptors than vnfsd")
            return
        bound = descriptors - descriptors // LEFT_IN
        with connections(bench, bound + BEYOND) as answered:
            check(bound - BEYOND < answered <= bound, f"{answered} are answered, bound {bound}")
        said = sum(times_in(path) for path in bench.logs())
        check(said == 1, f"the log says {said} times that all are in use")

        def answers():
            with connections(bench, 1) as answered:
                return answered == 1
        eventually(FREED_S, "a new connection is answered", answers)
        check(bench.service.serving()["pid"] == pid, "the instance has died")
    finally:
        bench.kill_process("vnfsd.c1n1")
        bench.lab.start_vnfsd("c1n1")
        before = bench.service.wait_serving()
        bench.kill_recorded(before)
        bench.service.wait_serving(other_than=before["pid"])
