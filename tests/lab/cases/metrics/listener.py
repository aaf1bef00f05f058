"""Metrics over the network: who serves them, and what a scrape shows when something hangs."""

import contextlib
import os
import signal
import socket
import ssl
import threading
import time

from lab_case import check, eventually, lab_test
from steps.faults import paused
from steps.metrics import PORT, ask, listener_of, listening, scrape, wait_for
from symlab import netns, processes

QUICK_S = 1.0  # a scrape, whatever hangs
OLD_S = 5.0
IDLE = 20  # connections that say nothing
DROPPED_S = 15.0
SLOW, SLOW_S = 8, 8  # clients, seconds


def up(samples):
    return samples.get('symnas_instance_up{head="c1n1",vnfs="vnfs1"}') == 1


def descriptors(pid):
    return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]


def sockets(found):
    return [one for one in found if one.startswith("socket:")]


def check_descriptors(pid):
    """The process has its log, the pipe of its life and the socket it listens on, nothing else."""
    # The connection of a scrape that was just answered may be there for a moment.
    eventually(QUICK_S, "only its own socket", lambda: len(sockets(descriptors(pid))) == 1)
    found = descriptors(pid)
    others = [one for one in found
              if not one.startswith(("pipe:", "socket:")) and not one.endswith("/vnfsd.log")]
    check(not others, f"it has {found}")


def quick(bench, address):
    """The samples of a scrape that has to be quick."""
    since = time.monotonic()
    seen = scrape(bench, address)
    check(seen is not None and time.monotonic() - since < QUICK_S, "the scrape waited")
    return seen


@lab_test("operations/monitoring.md", "decisions/0021-metrics-are-a-page.md")
def metrics_are_served_by_a_process_without_rights(bench):
    """The page is served over the network by a process that can do nothing else, and nothing
    listens without the setting."""
    with listening(bench) as address:
        wait_for(bench, address, "the VNFS is shown as served", up)
        pid = listener_of(bench)
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        check(status["Uid"].split() == ["65534"] * 4 and status["Gid"].split() == ["65534"] * 4
              and not status["Groups"].strip(), f"its users: {status}")
        check(int(status["CapEff"], 16) == 0 and int(status["CapPrm"], 16) == 0
              and status["NoNewPrivs"] == "1", f"its rights: {status}")
        check_descriptors(pid)
        root = os.readlink(f"/proc/{pid}/root")
        check(root.endswith("/run/metrics"), f"it sees {root}")
        for method, path, expected in (("GET", "/", 404), ("GET", "/v1/status", 404),
                                       ("GET", "/../vnfsd.sock", 404), ("POST", "/metrics", 404),
                                       ("DELETE", "/metrics", 404)):
            got, _ = ask(bench, address, path, method)
            check(got == expected, f"{method} {path} is answered with {got}")
        check(ask(bench, address, "/metrics", "POST", b"x" * 1000)[0] in (404, 413), "a body")
        before = bench.service.serving()
    eventually(DROPPED_S, "nothing listens any more", lambda: scrape(bench, address) is None)
    check(bench.service.wait_serving()["pid"] == before["pid"], "the instance was disturbed")


@lab_test("operations/monitoring.md")
def a_scrape_waits_for_nothing(bench):
    """vnfsd, etcd and the instance are stopped in turn: scrapes stay quick and say what is old."""
    with listening(bench) as address:
        wait_for(bench, address, "the VNFS is shown as served", up)
        with paused(bench, "vnfsd.c1n1"):
            wait_for(bench, address, "the page becomes old",
                     lambda seen: seen["symnas_page_age_seconds"] > OLD_S)
            quick(bench, address)
        wait_for(bench, address, "the page is new again",
                 lambda seen: seen["symnas_page_age_seconds"] < OLD_S)
        with paused(bench, "etcd.c1n1"):
            seen = wait_for(bench, address, "etcd is shown as lost",
                            lambda seen: seen.get('symnas_etcd_up{head="c1n1"}') == 0)
            check(seen["symnas_page_age_seconds"] < OLD_S, "the page became old, too")
            quick(bench, address)
        seen = wait_for(bench, address, "etcd is back",
                        lambda seen: seen.get('symnas_etcd_up{head="c1n1"}') == 1)
        check(seen['symnas_etcd_read_errors_total{head="c1n1"}'] > 0, "no error was counted")
    bench.service.wait_serving()


@lab_test("operations/monitoring.md")
def listener_ends_and_comes_with_vnfsd(bench):
    """A listener that is killed is started again; it ends with its vnfsd, and clients that say
    nothing hold it up for seconds only."""
    with listening(bench) as address:
        wait_for(bench, address, "the VNFS is shown as served", up)
        pid = listener_of(bench)
        os.kill(pid, signal.SIGKILL)
        wait_for(bench, address, "another one serves", up)
        check(listener_of(bench) != pid, "it is the same process")
        with contextlib.ExitStack() as stack, netns.entered(bench.lab.client_netns):
            for _ in range(IDLE):
                idle = stack.enter_context(socket.create_connection((address, PORT), 5.0))
                idle.sendall(b"GET /met")
            eventually(DROPPED_S, "a scrape is answered beside idle clients",
                       lambda: scrape(bench, address, timeout_s=2.0))
        record = {"pid": listener_of(bench), "start_time": None}
        record["start_time"] = processes.start_time(record["pid"])
        bench.kill_process("vnfsd.c1n1")
        check(processes.wait_gone(record, 5.0), "the listener outlives its vnfsd")
        bench.lab.start_vnfsd("c1n1")
        wait_for(bench, address, "the next vnfsd serves metrics", up)
        with open(os.path.join(bench.lab.head("c1n1")["dir"], "vnfsd.log"),
                  encoding="utf-8") as file:
            check("metrics: symnas-metrics has ended" in file.read(), "the log does not tell")


@lab_test("operations/monitoring.md")
def slow_clients_do_not_stop_scrapes(bench):
    """Eight clients that send their requests byte by byte, and come again when they are hung up on:
    scrapes from another address are answered all the time."""
    ended = threading.Event()

    def drip(address):
        while not ended.wait(0.01):
            with contextlib.suppress(OSError), netns.entered(bench.lab.space_of("c1n1")), \
                 socket.create_connection((address, PORT), 5.0) as slow:
                for byte in b"GET /metrics":
                    slow.sendall(bytes([byte]))
                    if ended.wait(0.3):
                        break
    with listening(bench) as address, contextlib.ExitStack() as stack:
        wait_for(bench, address, "the VNFS is shown as served", up)
        clients = [threading.Thread(target=drip, args=(address,)) for _ in range(SLOW)]
        stack.callback(lambda: [client.join() for client in clients])
        stack.callback(ended.set)
        for client in clients:
            client.start()
        for _ in range(SLOW_S):
            quick(bench, address)
            time.sleep(1.0)
        check(all(client.is_alive() for client in clients), "a slow client has ended")


@lab_test("operations/monitoring.md")
def metrics_over_tls_for_clients_of_an_authority(bench):
    """With certificates only clients of the authority are answered, and only over TLS."""
    with open(os.path.join(bench.lab.head("c1n1")["config_dir"], "vnfsd.toml"),
              encoding="utf-8") as file:
        said = dict(line.strip().split(" = ", 1) for line in file if " = " in line)
    ca, cert, key = (said[name].strip("'\"") for name in ("ca", "cert", "key"))
    settings = f'cert = "{cert}"\nkey = "{key}"\nclient_ca = "{ca}"\n'

    def context(known):
        made = ssl.create_default_context(cafile=ca)
        made.check_hostname = False  # the certificate is for the management address
        if known:
            made.load_cert_chain(cert, key)
        return made
    with listening(bench, settings=settings) as address:
        seen = wait_for(bench, address, "a client of the authority is answered", up,
                        context=context(known=True))
        check(any("certificate_expiry" in name and cert in name for name in seen),
              "the certificate's end is not shown")
        check(scrape(bench, address, context=context(known=False)) is None,
              "a client without a certificate is answered")
        check(scrape(bench, address) is None, "a client without TLS is answered")
