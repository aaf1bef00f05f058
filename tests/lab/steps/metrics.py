"""A head's metrics over the network, as Prometheus gets them."""

import contextlib
import http.client
import os
import signal

from lab_case import check, eventually
from symlab import netns, processes

PORT = 9641
RELOADED_S = 20.0
SCRAPED_S = 15.0  # the listener is up, and there is a page
PROGRAM = "symnas-metrics"


def config_of(bench, head):
    return os.path.join(bench.lab.head(head)["config_dir"], "vnfsd.toml")


def started_ns(bench, head):
    """When the head's vnfsd registered last."""
    heads = bench.lab.symnas(head).json("head", "ls")["heads"]
    return next(one["agent_started_ns"] for one in heads if one["name"] == head)


def reload(bench, head):
    """Has vnfsd read its configuration anew, as `systemctl reload` does."""
    before = started_ns(bench, head)
    processes.send_signal(bench.lab.process(f"vnfsd.{head}"), signal.SIGHUP)
    eventually(RELOADED_S, "vnfsd has read its configuration anew",
               lambda: started_ns(bench, head) != before)


@contextlib.contextmanager
def listening(bench, head="c1n1", settings=""):
    """The head shows its metrics at its NFS address, until the body ends; yields the address."""
    path = config_of(bench, head)
    address = bench.lab.head(head)["nfs"]
    with open(path, encoding="utf-8") as file:
        before = file.read()
    with open(path, "a", encoding="utf-8") as file:
        file.write(f'\n[metrics]\nlisten = "{address}:{PORT}"\n{settings}')
    reload(bench, head)
    try:
        yield address
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before)
        reload(bench, head)


def ask(bench, address, path="/metrics", method="GET", body=None, context=None, where="client",
        timeout_s=5.0):
    """(status, text) of a request. OSError: no answer."""
    with netns.entered(bench.lab.space_of(where)):
        if context:
            connection = http.client.HTTPSConnection(address, PORT, timeout=timeout_s,
                                                     context=context)
        else:
            connection = http.client.HTTPConnection(address, PORT, timeout=timeout_s)
        with contextlib.closing(connection):
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


def samples(text):
    """{name with labels: value}."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#"]
    return {name: float(value) for name, value in lines}


def scrape(bench, address, **how):
    """The samples, or None while there is no answer."""
    try:
        status, text = ask(bench, address, **how)
    except (OSError, http.client.HTTPException):
        return None
    return samples(text) if status == 200 else None


def wait_for(bench, address, what, condition, **how):
    """Scrapes until condition(samples) holds; returns the samples."""
    def holds():
        seen = scrape(bench, address, **how)
        return seen if seen and condition(seen) else None
    return eventually(SCRAPED_S, what, holds)


def listener_of(bench, head="c1n1"):
    """The pid of the head's symnas-metrics."""
    parent = bench.lab.process(f"vnfsd.{head}")["pid"]
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="ascii") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            # The kernel keeps 15 characters of a name.
            if name == PROGRAM[:15] and int(rest.split()[1]) == parent:
                found.append(int(entry))
    check(len(found) == 1, f"vnfsd of {head} has {len(found)} {PROGRAM}")
    return found[0]
