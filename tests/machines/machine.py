"""One machine: systemd-nspawn that boots systemd in a root, a cgroup and a network of its own.

What works on which kernel, and why each option is there: systemd-nspawn(1); without a machined of
the host a machine is entered by nsenter, not by machinectl.
"""

import contextlib
import os
import subprocess
import time

from symlab import netns
from symlab.errors import LabError

CGROUPS = "/sys/fs/cgroup/unified"
BOOTED_S, GONE_S = 120.0, 20.0
STATES = ("running", "degraded")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "LANG": "C.UTF-8", "TERM": "dumb", "HOME": "/root",
               "DEBIAN_FRONTEND": "noninteractive"}


class Machine:
    """root: its overlay. binds: options of nspawn."""

    def __init__(self, name, root, cgroup, netns, bridge, options=()):
        self.name = name
        self.root = root
        self.cgroup = os.path.join(CGROUPS, cgroup, name)
        self.netns = netns
        self.bridge = bridge
        self.options = list(options)
        self.process = None

    def boot(self):
        """Returns when systemd has started what it is to start."""
        # Not those of its former boot: Linux may kill what systemd starts in a cgroup that was
        # killed before (CLONE_INTO_CGROUP, of systemd 254 and later).
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            os.rmdir(folder)
        os.makedirs(self.cgroup)
        argv = ["nsenter", f"--net=/run/netns/{self.netns}", "systemd-nspawn", "--quiet",
                "--register=no", "--keep-unit", "--boot", "--directory", self.root,
                "--machine", self.name, "--hostname", self.name,
                f"--network-bridge={self.bridge}", "--capability=all",
                "--bind=/dev/loop-control", "--rlimit=RLIMIT_MEMLOCK=infinity",
                "--console=read-only", *self.options]

        console = os.path.join(os.path.dirname(self.root), "console")
        with open(console, "ab") as log:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=self._enter_cgroup,
                env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})
        deadline = time.monotonic() + BOOTED_S
        while True:
            with contextlib.suppress(LabError):
                if self.run("systemctl is-system-running", check=False).strip() in STATES:
                    return
            if time.monotonic() > deadline or self.process.poll() is not None:
                with open(console, encoding="utf-8", errors="replace") as file:
                    raise LabError(f"{self.name} has not booted: {file.read()[-1000:]}")
            time.sleep(0.2)

    def _enter_cgroup(self):
        with open(os.path.join(self.cgroup, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def _init(self):
        try:
            with open(os.path.join(self.cgroup, "payload", "init.scope", "cgroup.procs"),
                      encoding="ascii") as file:
                return file.read().split()[0]
        except (OSError, IndexError):
            raise LabError(f"{self.name} is off") from None

    def run(self, command, check=True, timeout_s=180.0):
        """Has bash carry out the command in the machine; returns what it printed."""
        argv = ["nsenter", "-t", self._init(), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w",
                "/bin/bash", "-c", f"cd /root; {command}"]
        try:
            done = subprocess.run(argv, env=ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{self.name}# {command}: not done after {timeout_s:g} s") from error
        if check and done.returncode:
            raise LabError(f"{self.name}# {command}: ended with {done.returncode}: "
                           f"{done.stdout.strip()[-2000:]}")
        return done.stdout

    def read_file(self, name):
        """The bytes of a file in /root."""
        with open(os.path.join(self.root, "root", name), "rb") as file:
            return file.read()

    def write_file(self, name, data):
        """Into /root, for nobody else to read."""
        path = os.path.join(self.root, "root", name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)

    def is_on(self):
        try:
            with open(os.path.join(self.cgroup, "cgroup.events"), encoding="ascii") as file:
                return "populated 1" in file.read()
        except OSError:
            return False

    def _unplug(self):
        """Its network goes with its power. By itself the kernel would answer for the machine's
        addresses for seconds after its last process, as long as TCP has something to send."""
        with contextlib.suppress(LabError):
            netns.ip("link", "del", f"vb-{self.name}", netns=self.netns)

    def power_off(self):
        """Ends every process of the machine at once."""
        if self.netns:
            self._unplug()
        with contextlib.suppress(OSError), \
                open(os.path.join(self.cgroup, "cgroup.kill"), "w", encoding="ascii") as file:
            file.write("1")
        self.wait_off()

    def wait_off(self):
        """Returns when no process of the machine is left. nspawn ends when systemd reboots."""
        deadline = time.monotonic() + GONE_S
        while self.is_on():
            if time.monotonic() > deadline:
                raise LabError(f"{self.name} does not go off")
            time.sleep(0.01)
        process, self.process = self.process, None  # the power switch may be here at once
        if process is not None:
            process.wait()
