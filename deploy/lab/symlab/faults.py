"""Faults of a lab's heads: pause, kill, partition, rate. `lab down` ends all of them.

Partitions are nftables rules in the head's namespace, one table each, so that healing deletes
tables. Packets to clients are dropped below the head's eth1, to which the VNFSs' links belong.
"""

import os
import re
import signal
import subprocess
import sys

from . import client_networks, delay, fuse_luns, head_processes, netns, processes
from .errors import LabError

PARTS = ("etcd", "peers", "luns", "clients", "eth2", "eth3", "eth4")
_ETCD = "{ 2379, 2380 }"
_BURST = "256k"  # some milliseconds at 1 Gbit/s: tbf sends nothing larger than this at once
DELAY_BRIDGES = {"mgmt": "br-mgmt", "nfs": "br-nfs"}
_RELAY_GRACE_S = 5.0
_LATENCY = "50ms"


def table_of(part):
    """Family and name of the nftables table of a partition."""
    on_device = part == "clients" or part.startswith("eth")
    return ("netdev" if on_device else "inet", f"lab_{part}")


def rules(part):
    """The nftables script of a partition. Pure."""
    family, name = table_of(part)
    if family == "netdev":
        device = "eth1" if part == "clients" else part
        hooks = [f'chain {c} {{ type filter hook {h} device "{device}" priority 0; policy drop; }}'
                 for c, h in (("in", "ingress"), ("out", "egress"))]
    elif part == "etcd":
        # Also to its own member, on any device: nobody on this head reaches any member.
        hooks = [f"chain {c} {{ type filter hook {h} priority -10; "
                 f"tcp dport {_ETCD} drop; tcp sport {_ETCD} drop; }}"
                 for c, h in (("in", "input"), ("out", "output"))]
    elif part == "peers":
        hooks = [f"chain {c} {{ type filter hook {h} priority -10; {d} eth0 "
                 f"tcp dport != {_ETCD} tcp sport != {_ETCD} drop; {d} eth0 udp dport 0-65535 "
                 "drop; }"
                 for c, h, d in (("in", "input", "iifname"), ("out", "output", "oifname"))]
    else:
        raise LabError(f"no part {part!r}: {', '.join(PARTS)} are possible")
    return f"table {family} {name} {{\n" + "\n".join(f"  {hook}" for hook in hooks) + "\n}\n"


def rate_commands(head_name, rate, network=1):
    """(where, argv) for each direction: the head's own end and the bridge's. Pure."""
    ends = (("head", client_networks.device(network)),
            ("hub", client_networks.port(head_name, network)))
    if rate == "off":
        return [(where, ["tc", "qdisc", "del", "dev", device, "root"]) for where, device in ends]
    return [(where, ["tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate,
                     "burst", _BURST, "latency", _LATENCY]) for where, device in ends]


def parse_delay(span):
    """(milliseconds, random additional milliseconds); (None, None): off. Pure."""
    if span == "off":
        return None, None
    found = re.fullmatch(r"(\d{1,5})ms(?:\+(\d{1,5})ms)?", span)
    if not found:
        raise LabError(f"delay {span!r}: `20ms`, `20ms+10ms` or `off` is wanted")
    return int(found[1]), int(found[2] or 0)


def _run(argv, text=None):
    done = subprocess.run(argv, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv)}: {done.stderr.strip()}")


# Command -> how many words follow. All other commands go to the server of the LUNs.
COMMANDS = {"pause": 1, "resume": 1, "kill": 1, "partition": 2, "heal": 1, "rate": 2, "delay": 3}


def is_ours(words, heads):
    """Whether `lab fault WORDS` is one of COMMANDS, and not the LUN server's hang, resume or
    heal."""
    if words[0] not in COMMANDS:
        return False
    # `resume LUN1` and `heal all` are commands for the LUNs.
    return words[0] not in ("resume", "heal") or words[1:2] != ["all"] and (
        words[1:2] == [] or words[1] in heads or words[1].startswith(("vnfs", "etcd-")))


class Faults:
    def __init__(self, lab):
        self.lab = lab

    def run(self, words):
        """Executes `lab fault WORDS`; returns the text to print."""
        heads = [head["name"] for head in self.lab.state.data["heads"]]
        if not is_ours(words, heads):
            return self.lab.fault(*words)
        command, arguments = words[0], words[1:]
        if len(arguments) != COMMANDS[command]:
            raise LabError(f"fault {command}: {COMMANDS[command]} words are wanted behind it")
        count = getattr(self, command)(*arguments)
        return f"{command} {' '.join(arguments)}" + (f": {count} processes\n" if count else "\n")

    def pause(self, target):
        """Sends SIGSTOP to all processes of a head, an instance or an etcd member."""
        return self._signal(target, signal.SIGSTOP)

    def resume(self, target):
        return self._signal(target, signal.SIGCONT)

    def _signal(self, target, number):
        count = head_processes.signal_all(head_processes.of_target(self.lab, target), number)
        if count == 0:
            raise LabError(f"{target}: none of its processes is running")
        return count

    def kill(self, target):
        """Sends SIGKILL. A killed instance is restarted by its agent; a head loses its power. This
        proves nothing."""
        if target.startswith("vnfs"):
            return self._signal(target, signal.SIGKILL)
        if any(head["name"] == target for head in self.lab.state.data["heads"]):
            return head_processes.lose_power(self.lab, target)
        return head_processes.kill_all(lambda: head_processes.of_target(self.lab, target))

    def partition(self, head_name, part):
        head = self.lab.head(head_name)
        if part not in PARTS:
            raise LabError(f"no part {part!r}: {', '.join(PARTS)} are possible")
        if part == "luns":
            fuse_luns.command(self.lab.state, "hang", "all", head_name)
            return
        self._drop_table(head, part)
        with netns.entered(head["netns"]):
            _run(["nft", "-f", "-"], rules(part))

    @staticmethod
    def _drop_table(head, part):
        family, name = table_of(part)
        with netns.entered(head["netns"]):
            subprocess.run(["nft", "delete", "table", family, name], capture_output=True)

    def heal(self, head_name):
        """Ends every partition of the head."""
        head = self.lab.head(head_name)
        for part in PARTS:
            self._drop_table(head, part)
        if self.lab.state.data["lun_kind"] == "fuse":
            fuse_luns.command(self.lab.state, "resume", "all", head_name)

    def delay(self, head_name, network, span):
        """Delays a head's packets on `mgmt` or `nfs`, each way: `20ms`, `20ms+10ms` (up to 10 ms
        more at random), or `off`."""
        head = self.lab.head(head_name)
        if network not in DELAY_BRIDGES:
            raise LabError(f"no network {network!r}: {', '.join(DELAY_BRIDGES)} are possible")
        delay_ms, jitter_ms = parse_delay(span)
        hub, port = self.lab.hub_netns, f"{head_name}-{network}"
        name = f"delay.{head_name}.{network}"
        processes.stop(self.lab.state.data["processes"].pop(name, None), _RELAY_GRACE_S)
        self.lab.state.save()
        if delay_ms is None:
            netns.ip("link", "set", port, "master", DELAY_BRIDGES[network], netns=hub)
            return
        netns.ip("link", "set", port, "nomaster", netns=hub)
        tap = netns.open_tap(hub, DELAY_BRIDGES[network], f"{head_name}-d{network[0]}")
        try:
            record = processes.spawn(
                [sys.executable, delay.__file__, port, str(tap), str(delay_ms), str(jitter_ms)],
                os.path.join(head["dir"], f"delay-{network}.log"), netns=hub, pass_fds=(tap,))
        finally:
            os.close(tap)
        self.lab.state.note_process(name, record)

    def rate(self, head_name, rate, network=1):
        """Limits the head's link of that NFS network in both directions; `off` ends it."""
        head = self.lab.head(head_name)
        for where, argv in rate_commands(head_name, rate, network):
            with netns.entered(head["netns"] if where == "head" else self.lab.hub_netns):
                _run(argv)
