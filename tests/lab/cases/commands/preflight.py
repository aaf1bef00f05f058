"""`symnas head check`: what keeps a machine from being a head is found and named."""

import contextlib
import json
import os
import socket
import tempfile

from lab_case import check, lab_test
from steps.exit_status import FINDINGS
from symlab import netns, product
from symlab.product import CommandFailed

HERE, THERE = "10.98.0.1", "10.98.0.2"
LARGE, SMALL = "9000", "1500"  # MTUs


def findings(where, *words):
    """{subject: finding} of a check in that namespace, and its exit status."""
    argv = [product.program("symnas"), "-o", "json", "head", "check",
            "--ganesha-prefix", product.ganesha_prefix(), *words]
    status = 0
    with netns.entered(where):
        try:
            told = product.run(argv)
        except CommandFailed as failed:
            status, told = failed.status, failed.output
    return {one["subject"]: one for one in json.loads(told)["findings"]}, status


@contextlib.contextmanager
def two_machines(bench):
    """Two namespaces with a cable between them, whose far end takes smaller packets."""
    here, there = f"{bench.lab.prefix}-pf1", f"{bench.lab.prefix}-pf2"
    for name in (here, there):
        netns.create(name)
    try:
        netns.ip("link", "add", "pf0", "type", "veth", "peer", "name", "pf0", "netns", there,
                 netns=here)
        for name, address, mtu in ((here, HERE, LARGE), (there, THERE, SMALL)):
            netns.ip("address", "add", f"{address}/24", "dev", "pf0", netns=name)
            netns.ip("link", "set", "up", "mtu", mtu, "dev", "pf0", netns=name)
            netns.ip("link", "set", "lo", "up", netns=name)
        yield here, there
    finally:
        for name in (here, there):
            netns.delete(name)


def verdicts(found, *subjects):
    return [found[subject]["verdict"] for subject in subjects]


@lab_test("operations/preflight.md")
def unfit_machines_are_named(bench):
    """Packets that are too large, a firewall, a port that is taken, a fence agent that fails and no
    LUN are problems, each with what to do; what is mended is fine."""
    with two_machines(bench) as (here, there), tempfile.TemporaryDirectory() as folder:
        lun = os.path.join(folder, "lun")
        with open(lun, "wb") as file:
            file.truncate(1 << 30)
        agent = os.path.join(folder, "agent")
        with open(agent, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(agent, 0o755)
        words = ["--config-dir", folder, "--etcd-dir", folder, "--peer", THERE,
                 "--fence-agent", agent]
        path = f"path to {THERE}"
        with netns.entered(here), socket.create_server(("", 2379)):
            found, status = findings(here, *words, "--lun-path", folder + "/none*")
        check(status == FINDINGS, f"exit status {status}")
        check(verdicts(found, path, "port 2379/tcp", "fence agent", "LUNs") == ["problem"] * 4
              and "MTU" in found[path]["what"], f"found {found}")
        check(verdicts(found, "port 2380/tcp", "ganesha") == ["fine"] * 2, f"found {found}")
        check(all(one["next"] for one in found.values() if one["verdict"] == "problem"),
              f"what is to be done? {found}")

        netns.ip("link", "set", "dev", "pf0", "down", netns=there)
        found, _ = findings(here, *words, "--lun-path", lun)
        check(found[path]["verdict"] == "problem" and "no answer" in found[path]["what"],
              f"found {found[path]}")
        netns.ip("link", "set", "up", "mtu", LARGE, "dev", "pf0", netns=there)
        with open(agent, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 0\n")
        found, status = findings(here, *words, "--lun-path", lun)
        check(status == 0, f"exit status {status}: {found}")
        check(verdicts(found, path, "port 2379/tcp", "fence agent", f"LUN {lun}")
              == ["fine"] * 4, f"found {found}")


@lab_test("operations/preflight.md")
def running_head_is_fit(bench):
    """A head that serves has no problem: it knows its own files, ports and LUNs."""
    head = bench.lab.state.data["heads"][0]
    found, status = findings(head["netns"], "--config-dir", head["config_dir"],
                             "--etcd-dir", head["etcd_dir"])
    check(status == 0, f"exit status {status}: {found}")
    check(verdicts(found, "port 2379/tcp", "port 20491/udp", "fence agent") == ["fine"] * 3,
          f"found {found}")
    luns = [one for subject, one in found.items() if subject.startswith("LUN ")]
    check(luns and all("label" in one["what"] for one in luns), f"LUNs: {luns}")
