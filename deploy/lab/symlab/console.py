"""Cockpit with the plug-in of symnas, one for each head of a lab, on loopback of the machine.

On a real head Cockpit finds vnfsd's socket in /run/symnas and the plug-in in /usr/share/cockpit.
Here each cockpit-ws has a mount namespace in which it sees its head's: a /run of its own with the
head's socket, the plug-in below /usr/local/share, and users that exist nowhere else. So nothing of
the machine is changed, and the plug-in runs as it is installed.
"""

import os
import shutil
import socket

from . import accounts, head_processes, processes
from .errors import LabError
from .wait import eventually

PROGRAM = "/usr/lib/cockpit/cockpit-ws"
BRIDGE = "/usr/bin/cockpit-bridge"
PLUG_IN = "symnas"
READY_S = 20.0


class Consoles:
    """The Cockpits of a lab, one for each head.

    plug_in: the folder of the built plug-in. users: who can log in with a password; without any,
    whoever opens the address is root on the head, as `cockpit-ws --local-session` has it.
    """

    def __init__(self, lab, plug_in, users=()):
        self.lab = lab
        self.plug_in = plug_in
        self.users = users
        self.address = {}

    def start(self, head_name, port=0, run_dir=None):
        """Starts the Cockpit of a head; returns its address. port 0: any that is free. run_dir: of
        another vnfsd than the head's. LabError: Cockpit or the plug-in is not there."""
        if not os.access(PROGRAM, os.X_OK):
            raise LabError(f"{PROGRAM} is missing: deploy/setup/setup cockpit installs it")
        if not os.path.exists(os.path.join(self.plug_in, "manifest.json")):
            raise LabError(f"{self.plug_in} has no manifest.json: `make console-build` makes it")
        head = self.lab.head(head_name)
        port = port or free_port()
        where = os.path.join(head["dir"], "cockpit")
        shutil.rmtree(where, ignore_errors=True)
        binds = self._root_of(head_name, where, run_dir or head["run_dir"])
        argv = [PROGRAM, "--no-tls", "--address", "127.0.0.1", "--port", str(port)]
        if not self.users:
            argv.append(f"--local-session={BRIDGE}")
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/home", "USER": "root",
                       "LANG": "C.UTF-8"}
        log = os.path.join(head["dir"], "cockpit.log")
        record = processes.spawn(
            argv, log, hostname=head_name, env=environment, binds=binds,
            cgroup=head_processes.cgroup_of(self.lab.state, f"{head_name}-cockpit"))
        self.lab.state.note_process(f"cockpit.{head_name}", record)
        eventually(READY_S, f"Cockpit of {head_name} listens", lambda: listens(record, port, log))
        self.address[head_name] = f"http://127.0.0.1:{port}"
        return self.address[head_name]

    def stop(self, head_name):
        processes.stop(self.lab.process(f"cockpit.{head_name}"), 1.0)

    def _root_of(self, head_name, where, run_dir):
        """Makes what cockpit-ws sees of the machine; returns the bind mounts, in order."""
        share = os.path.join(where, "share")
        run = os.path.join(where, "run")
        home = os.path.join(where, "home")
        for directory in (os.path.join(share, "cockpit", PLUG_IN), os.path.join(run, "symnas"),
                          os.path.join(run, "cockpit"), home):
            os.makedirs(directory)
        hosts = os.path.join(where, "hosts")
        with open(hosts, "w", encoding="ascii") as file:
            file.write(f"127.0.0.1 localhost\n127.0.1.1 {head_name}\n")
        return [(hosts, "/etc/hosts"), (share, "/usr/local/share"), (run, "/run"),
                (home, "/home"),
                (self.plug_in, f"/usr/local/share/cockpit/{PLUG_IN}"), (run_dir, "/run/symnas"),
                *(accounts.write(where, self.users) if self.users else ())]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(record, port, log):
    if not processes.is_alive(record):
        with open(log, encoding="utf-8", errors="replace") as file:
            raise LabError(f"cockpit-ws has ended: {file.read()[-800:]}")
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
