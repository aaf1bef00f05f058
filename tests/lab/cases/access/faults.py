"""Bad requests and faults: each is answered clearly, or hung up on, and changes nothing."""

import concurrent.futures
import contextlib
import json
import os
import select
import signal
import socket
import ssl
import time

from lab_case import check, eventually, lab_test
from steps.network_api import READY_S, network_api
from symlab.wait import SLOWER

HUNG_UP_S = 25.0 * SLOWER


def hung_up(connection, within_s=HUNG_UP_S):
    """Seconds until the peer has closed it; whatever it sends before that is thrown away."""
    connection.settimeout(within_s)
    begin = time.monotonic()
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    return time.monotonic() - begin


@lab_test("operations/api_network.md")
def huge_and_broken_requests_are_refused(bench):
    """100 MB, chunks without end, other methods, garbage before and inside TLS."""
    with network_api(bench) as api:
        before = bench.symnas.json("network", "ls")
        # It is answered before the body is read.
        for headers, status in (({"Content-Length": str(100 << 20)}, 413),
                                ({"Transfer-Encoding": "chunked"}, 411),
                                ({"Content-Length": "10", "Content-Encoding": "gzip"}, 415),
                                ({"Content-Length": "10", "Content-Type": "text/plain"}, 415)):
            with api.secure("admin") as connection:
                lines = ["POST /v1/networks HTTP/1.1", "Host: x",
                         f"Authorization: Bearer {api.tokens['t-admin']}",
                         *(f"{name}: {value}" for name, value in headers.items())]
                connection.sendall("\r\n".join([*lines, "", ""]).encode())
                answer = connection.recv(4096).decode()
                check(answer.startswith(f"HTTP/1.1 {status} "), f"{headers}: {answer}")
        body = b"x" * (100 << 20)
        with api.secure("admin") as connection:
            head = (f"POST /v1/networks HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
                    f"Authorization: Bearer {api.tokens['t-admin']}\r\n\r\n")
            connection.sendall(head.encode())
            try:
                connection.sendall(body)
                sent_all = True
            except (OSError, ssl.SSLError):
                sent_all = False
            check(not sent_all, "100 MB were taken")
        check(api.ask("PUT", "/v1/networks", "t-admin").status == 405, "PUT")
        check(api.ask("GET", "/v1/" + 6000 * "x", "t-admin").status == 414, "a long URL")
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(2000), b"\x16\x03\x01\xff\xff"):
            connection = api.connect()
            connection.sendall(garbage)
            hung_up(connection)
            connection.close()
        with api.secure("admin") as connection:
            connection.sendall(os.urandom(3000) + b"\r\n\r\n")
            answer = connection.recv(4096)
            check(not answer or answer.startswith(b"HTTP/1.1 400"), str(answer))
        with api.secure("admin") as connection:
            lines = "".join(f"X-{number}: {400 * 'y'}\r\n" for number in range(200))
            token = f"Authorization: Bearer {api.tokens['t-viewer']}\r\n"
            with contextlib.suppress(OSError, ssl.SSLError):
                connection.sendall(f"GET /v1/status HTTP/1.1\r\n{token}{lines}\r\n".encode())
                check(b"200 OK" not in connection.recv(4096), "80 KB of headers are taken")
        check(bench.symnas.json("network", "ls") == before, "something was changed")
        check(api.ask("GET", "/v1/status", "t-viewer").status == 200, "it does not answer now")


@lab_test("operations/api_network.md")
def slow_clients_are_dropped(bench):
    """A client that never shakes hands, one that never ends its header; others are served."""
    with network_api(bench) as api:
        silent = [api.connect() for _ in range(8)]
        slow = api.secure("admin")
        slow.sendall(b"GET /v1/status HTTP/1.1\r\nHost:")
        check(api.ask("GET", "/v1/status", "t-viewer").status == 200, "others wait")
        waited = [hung_up(connection) for connection in silent]
        check(max(waited) < 10.0 * SLOWER, f"silent ones stayed {waited} s")
        hung_up(slow)
        for connection in [*silent, slow]:
            connection.close()


@lab_test("operations/api_network.md")
def too_many_requests_are_told_to_wait(bench):
    """429 with Retry-After for an address; connections of one address are bounded."""
    with network_api(bench, requests_per_s=2, requests_burst=4) as api:
        # At once, however slow one of them is. An address may begin twice as many connections as
        # requests: 8, one of which has looked whether somebody listens.
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(api.ask, "GET", "/v1/status", "t-viewer") for _ in range(6)]
        replies = [one.result() for one in asked]
        refused = [reply for reply in replies if reply.status == 429]
        check(refused and "Retry-After" in refused[0].headers, str(replies[-1]))
        check(any(reply.status == 200 for reply in replies), str(replies[0]))
        time.sleep(2.0)
        check(api.ask("GET", "/v1/status", "t-viewer").status == 200, "it stays refused")
    with network_api(bench, connections_max=8) as api:
        held = []
        for _ in range(4):  # two of them are its share
            held.append(api.connect())
        # Whichever its threads come to last.
        dropped, _, _ = select.select(held, [], [], 3.0 * SLOWER)
        check(dropped and not dropped[0].recv(1), "too many connections are kept")
        for connection in held:
            connection.close()
        eventually(READY_S, "it answers again", lambda: answers(api))


def answers(api):
    """False also while its listener turns the connection away."""
    try:
        return api.ask("GET", "/v1/status", "t-viewer").status == 200
    except OSError:
        return False


@lab_test("operations/api_network.md")
def etcd_away_is_told(bench):
    """Without etcd nobody is known: 503, and what was asked for is not done later."""
    with network_api(bench) as api:
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            reply = api.ask("POST", "/v1/networks", "t-admin",
                            body='{"name": "nfs9", "device": "eth9"}')
            check(reply.status == 503, str(reply))
            check(reply.error["code"] in ("unavailable", "unknown_outcome"), str(reply))
        finally:
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
        eventually(READY_S, "it answers again",
                   lambda: api.ask("GET", "/v1/status", "t-viewer").status == 200)
        names = [network["name"] for network in bench.symnas.json("network", "ls")["networks"]]
        check("nfs9" not in names, "it was done")


@lab_test("operations/api_network.md")
def vnfsd_restarts_under_requests(bench):
    """vnfsd killed in the middle of a change (504: nobody knows) and before one (503: not done)."""
    body = '{"name": "nfs9", "device": "eth9"}'
    with network_api(bench) as api:
        bench.signal_process("vnfsd.c1n1", signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = pool.submit(api.ask, "POST", "/v1/networks", "t-admin", body=body)
            time.sleep(1.0)
            bench.kill_process("vnfsd.c1n1")
            reply = asked.result()
        check(reply.status == 504 and reply.error["code"] == "unknown_outcome", str(reply))
        reply = api.ask("GET", "/v1/status", "t-viewer")
        check(reply.status == 503 and reply.headers["Retry-After"] == "1", str(reply))
        reply = api.ask("POST", "/v1/networks", "t-admin", body=body)
        check(reply.status == 503 and "nothing was done" in reply.error["message"], str(reply))
        bench.lab.start_vnfsd("c1n1")
        eventually(READY_S, "it answers again",
                   lambda: api.ask("GET", "/v1/status", "t-viewer").status == 200)
        names = [network["name"] for network in bench.symnas.json("network", "ls")["networks"]]
        check("nfs9" not in names, "it was done")


@lab_test("operations/api_network.md")
def its_process_has_no_rights(bench):
    """symnas-apid can neither ask root's socket nor become somebody by itself."""
    with network_api(bench) as api:
        pid = api.process["pid"]
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines())
        check(status["Uid"].split()[0] != "0", "it is root")
        for kind in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
            check(int(status[kind], 16) == 0, f"{kind} {status[kind]}")
        check(status["NoNewPrivs"].strip() == "1", "it may gain rights")
        told = ask_as_user(api, "/v1/status", {"symnas-address": "10.1.2.3"})
        check(" 401 " in told.splitlines()[0], told)
        told = ask_as_user(api, "/listener", {})
        terms = json.loads(told.split("\r\n\r\n", 1)[1])
        check("PRIVATE" not in told and terms["port"] == 20492, told)


def ask_as_user(api, path, headers):
    """What vnfsd's second socket answers to root, who may ask it, without a credential."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(api.head["run_dir"] + "-api/api.sock")
        lines = [f"GET {path} HTTP/1.1", "Host: x", *(f"{k}: {v}" for k, v in headers.items())]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        told = b""
        while part := connection.recv(65536):
            told += part
        return told.decode()
