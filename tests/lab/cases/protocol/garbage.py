"""What a client may send that is no request: it costs little, and nobody else notices."""

import contextlib
import random
import socket
import struct
import time

from lab_case import check, lab_test
from steps.rpc import (LAST_FRAGMENT, MOUNT, MOUNT_PORT, NFS, NFS_PORT, NLM_PORT, Cost,
                       ask_by_stream, call, check_answers, connected, from_client, record)
from symlab.service import VIP

COUNT = 10000
CPU_S_MAX = 10.0  # for making and ending so many connections; resting: RESTING_CPU_S_MAX
RESTING_S = 5
RESTING_CPU_S_MAX = 0.5
LINES_MAX = 100
SIZES = (0, 1, 3, 4, 15, 16, 40, 200, 1400)
UNFINISHED = 600  # more than an instance has threads, fewer than it takes connections
ENDLESS_BYTES = 64 << 20
MEMORY_MAX = 24 << 20
# The signature of the PROXY protocol, version 2; LOCAL, and PROXY from 127.0.0.1.
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LOCAL = SIGNATURE + b"\x20\0\0\0"
PROXY = SIGNATURE + b"\x21\x11\0\x0c" + bytes([127, 0, 0, 1] * 2) + struct.pack(">HH", 700, 2049)


def check_unharmed(bench, cost, what):
    check(bench.service.serving()["pid"] == cost.pid, f"{what}: the instance has died")
    with from_client(bench):
        check_answers(what)


def check_rests(bench, what):
    cost = Cost(bench)
    bench.let_run(RESTING_S)
    check(cost.cpu_s < RESTING_CPU_S_MAX,
          f"{what}: {cost.cpu_s:.2f} s of a processor in {RESTING_S} s of rest")


@lab_test("architecture/ganesha_settings.md")
def garbage_costs_little(bench):
    """10,000 datagrams and 10,000 connections of random bytes: some processor time, a few lines."""
    random.seed(50)
    cost = Cost(bench)
    with from_client(bench):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
            for _ in range(COUNT):
                sending.sendto(random.randbytes(random.choice(SIZES)), (VIP, MOUNT_PORT))
        for _ in range(COUNT):
            port = random.choice((NFS_PORT, MOUNT_PORT, NLM_PORT))
            with contextlib.suppress(OSError), connected(port) as stream:
                stream.sendall(random.randbytes(random.choice(SIZES)))
    check_unharmed(bench, cost, "garbage")
    check(cost.cpu_s < CPU_S_MAX, f"{cost.cpu_s:.2f} s of a processor")
    check(cost.lines < LINES_MAX, f"{cost.lines} lines in the log")
    check_rests(bench, "after garbage")


@lab_test("architecture/ganesha_settings.md")
def unfinished_requests_keep_nobody_waiting(bench):
    """600 connections with one byte of a request each: others are served at once."""
    cost = Cost(bench)
    with contextlib.ExitStack() as open_ones, from_client(bench):
        for _ in range(UNFINISHED):
            open_ones.enter_context(connected()).sendall(b"\x80")
        since = time.monotonic()
        check(ask_by_stream(call(NFS, 3)), "others are not answered")
        check(time.monotonic() - since < 1.0, f"answered after {time.monotonic() - since:.1f} s")
    check_unharmed(bench, cost, "unfinished requests")
    check_rests(bench, "after unfinished requests")


@lab_test("architecture/ganesha_settings.md")
def request_in_pieces_is_answered(bench):
    """A NULL call, byte by byte and in fragments of one word, is answered as a whole one."""
    message = call(NFS, 3)
    whole = ask_in_pieces(bench, [record(message)])
    check(whole, "a whole call is not answered")
    check(ask_in_pieces(bench, [bytes([byte]) for byte in record(message)]) == whole, "bytes")
    fragments = [record(message[at:at + 4], 0) for at in range(0, len(message) - 4, 4)]
    fragments.append(record(message[-4:]))
    check(ask_in_pieces(bench, fragments) == whole, "fragments")


def ask_in_pieces(bench, pieces):
    with from_client(bench), connected() as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            stream.sendall(piece)
            time.sleep(0.002)
        return stream.recv(4096)


@lab_test("architecture/ganesha_settings.md")
def record_without_end_is_refused(bench):
    """Fragments without a last one, and one of 2 GiB: the connection is closed, memory is kept."""
    cost = Cost(bench)
    with from_client(bench):
        sent = 0
        with contextlib.suppress(OSError), connected() as stream:
            while sent < ENDLESS_BYTES:
                stream.sendall(record(b"x" * (1 << 19), 0))
                sent += 1 << 19
        check(sent < ENDLESS_BYTES, "a record of 64 MiB is taken")
        with connected() as stream:
            stream.sendall(struct.pack(">I", LAST_FRAGMENT | 0x7fffffff) + b"x")
            with contextlib.suppress(ConnectionResetError):
                check(stream.recv(1) == b"", "a fragment of 2 GiB is waited for")
    check(cost.memory_bytes < MEMORY_MAX, f"{cost.memory_bytes} bytes more")
    check_unharmed(bench, cost, "a record without end")


@lab_test("architecture/ganesha_settings.md")
def proxy_header_is_no_request(bench):
    """A header of the PROXY protocol ends its connection only: LOCAL, PROXY, and part of one."""
    cost = Cost(bench)
    with from_client(bench):
        for header in (LOCAL, PROXY, SIGNATURE[:4], SIGNATURE):
            with contextlib.suppress(OSError), connected() as stream:
                stream.sendall(header)
                time.sleep(0.2)
                stream.sendall(record(call(NFS, 3)))
                check(stream.recv(4096) == b"", f"after {header} a request is answered")
            with contextlib.suppress(OSError), connected(MOUNT_PORT) as stream:
                stream.sendall(header + record(call(MOUNT, 3)))
                check(stream.recv(4096) == b"", f"after {header} MOUNT answers")
    check_unharmed(bench, cost, "PROXY headers")
