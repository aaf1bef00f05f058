"""Corosync on every head of a lab, and vnfsd that listens to it (operations/ha.md)."""

import contextlib
import os
import shutil

from lab_case import Skip, eventually
from steps.deadlines import TAKEN_OVER_S
from symlab import head_processes, processes
from symlab.wait import SLOWER

TOKEN_MS = 1000
CONFIG = """totem {{
  version: 2
  cluster_name: {prefix}
  transport: knet
  crypto_cipher: none
  crypto_hash: none
  token: {token_ms}
}}
system {{
  state_dir: {state}
  sched_rr: no
  move_to_root_cgroup: no
}}
nodelist {{
{nodes}}}
quorum {{
  provider: corosync_votequorum
}}
logging {{
  to_stderr: yes
  to_syslog: no
  timestamp: hires
}}
"""
NODE = "  node {{\n    name: {name}\n    nodeid: {number}\n    ring0_addr: {mgmt}\n  }}\n"
DETECTION = "\n[detection]\ncorosync = true\n"


class Corosync:
    """Its processes belong to their heads: they end with their power."""

    def __init__(self, bench):
        self.lab = bench.lab
        self.program = shutil.which("corosync")
        if self.program is None:
            raise Skip("corosync is not installed (deploy/setup)")
        self.heads = self.lab.state.data["heads"]
        nodes = "".join(NODE.format(number=number, **head)
                        for number, head in enumerate(self.heads, 1))
        for head in self.heads:
            folder = self._folder(head)
            os.makedirs(os.path.join(folder, "run"), exist_ok=True)
            with open(os.path.join(folder, "corosync.conf"), "w", encoding="utf-8") as file:
                file.write(CONFIG.format(prefix=self.lab.prefix, token_ms=int(TOKEN_MS * SLOWER),
                                         state=os.path.join(folder, "run"), nodes=nodes))

    @staticmethod
    def _folder(head):
        return os.path.join(head["dir"], "corosync")

    @staticmethod
    def process(head_name):
        return f"corosync.{head_name}"

    def start(self, head_name):
        head = self.lab.head(head_name)
        folder = self._folder(head)
        record = processes.spawn(
            [self.program, "-f", "-c", os.path.join(folder, "corosync.conf")],
            os.path.join(folder, "log"), netns=head["netns"],
            cgroup=head_processes.cgroup_of(self.lab.state, head_name),
            binds=[(os.path.join(folder, "run"), "/run")])
        self.lab.state.note_process(self.process(head_name), record)

    def stop(self, head_name):
        processes.stop(self.lab.process(self.process(head_name)), 10.0)

    def said(self, by):
        """What `by` has heard of it; None: it does not answer there, or is not asked."""
        told = self.lab.symnas(by).json("status").get("corosync")
        return told if told and not told["error"] and told["quorate"] else None

    def state(self, by, head_name):
        told = self.said(by)
        return told and {head["head"]: head["state"] for head in told["heads"]}.get(head_name)

    def has_all(self, by):
        told = self.said(by)
        return told and [head["state"] for head in told["heads"]] == ["member"] * len(self.heads)


def _listen(bench, head, listens):
    """Has the head's vnfsd listen, or not."""
    path = os.path.join(head["config_dir"], "vnfsd.toml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wanted = text.replace(DETECTION, "") + (DETECTION if listens else "")
    if wanted == text:
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(wanted)
    bench.kill_process(f"vnfsd.{head['name']}")
    bench.lab.start_vnfsd(head["name"])


@contextlib.contextmanager
def corosync(bench):
    """Yields a Corosync that all heads are members of and listen to."""
    running = Corosync(bench)
    names = [head["name"] for head in running.heads]
    try:
        for name in names:
            running.start(name)
        for head in running.heads:
            _listen(bench, head, True)
        for name in names:
            eventually(TAKEN_OVER_S, f"corosync answers on {name} and has all heads",
                       lambda by=name: running.has_all(by))
        yield running
    finally:
        for name in names:
            running.stop(name)
        for head in running.heads:
            _listen(bench, head, False)
