"""One machine of User Mode Linux: it boots systemd, with a disk and a kernel of its own.

Commands go over pairs of FIFOs, which are its serial lines 1 to 3, to guest_exec in it
(tests/client): they run while its networks are broken.
"""

import base64
import contextlib
import os
import queue
import shlex
import subprocess
import time

import vm_image
from machine import BOOTED_S, STATES, Machine
from symlab import netns
from symlab.errors import LabError
from vm_job import STATUS_TIMED_OUT, Fifos, Job

LINES = (1, 2, 3)
# gro: without it, large segments of TCP are lost on their way in.
DEVICE = "vec{number}:transport=tap,ifname={tap},depth=64,gro=1,mac={mac}"
ARGUMENTS = ("root=/dev/ubda", "rw", "con=null", "con0=null,fd:1", "ssl=null", "console=tty0",
             "noreboot", "quiet", "audit=0", "apparmor=0", "selinux=0")
SHARED_MEMORY = "/dev/shm"  # what it uses as memory is a file without a name
NICE = "-5"  # a head that gets no processor time for seconds is fenced, as it should be
FIRST_TRY_S = 10.0
PIECE_BYTES = 2000  # a serial line that has got 4 KiB at once takes no more


class _Line:
    """One serial line that a job has until close()."""

    def __init__(self, lines, number):
        self._lines = lines
        self.number = number

    def close(self):
        self._lines.put(self.number)


class UmlMachine(Machine):
    """number: of its address and its MAC addresses. disks: paths of files, from /dev/ubdb on.

    Thread class: run() may be called by as many threads as there are lines.
    """

    def __init__(self, name, number, site, memory_mib, disks=()):
        super().__init__(name, "", site.cgroup, site.netns, "")
        self.number = number
        self.memory_mib = memory_mib
        self.image = site.image
        self.folder = os.path.join(site.folder, name)
        self.disks = disks
        os.mkdir(self.folder, 0o700)
        self.bridges = site.bridges
        self.taps = []
        for at, bridge in enumerate(self.bridges):
            self.taps.append(f"{name[-2:]}-{at}")
            netns.create_tap(self.netns, bridge, self.taps[-1])
        self.lines = queue.Queue()

    def _fifos(self, line):
        return [os.path.join(self.folder, f"line{line}.{way}") for way in ("in", "out")]

    def boot(self):
        """Returns when systemd has started what it is to start."""
        self.start()
        self.wait_booted()

    def start(self):
        """Switches it on."""
        os.makedirs(self.cgroup, exist_ok=True)
        argv = ["nice", "-n", NICE, "nsenter", f"--net=/run/netns/{self.netns}",
                vm_image.uml_kernel().image, "umid=uml", f"uml_dir={self.folder}",
                f"mem={self.memory_mib}M",
                f"ubd0={self.folder}/root.cow,{self.image}", f"systemd.hostname={self.name}",
                *ARGUMENTS]
        argv += [f"ubd{at}={disk}" for at, disk in enumerate(self.disks, 1)]
        argv += [DEVICE.format(number=at, tap=tap, mac=f"52:54:00:98:{at:02}:{self.number:02x}")
                 for at, tap in enumerate(self.taps)]
        self.lines = queue.Queue()
        fds = []
        try:
            for line in LINES:
                for path in self._fifos(line):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(path)
                    os.mkfifo(path, 0o600)
                    fds.append(os.open(path, os.O_RDWR))  # neither end ever hangs up
                argv.append(f"ssl{line}=fd:{fds[-2]},fd:{fds[-1]}")
                self.lines.put(line)
            with open(os.path.join(self.folder, "console"), "wb") as log:
                self.process = subprocess.Popen(
                    argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=fds,
                    preexec_fn=self._enter_cgroup, env={**os.environ, "TMPDIR": SHARED_MEMORY})
        finally:
            for fd in fds:
                os.close(fd)

    def wait_booted(self):
        """LabError if it has not within BOOTED_S."""
        deadline = time.monotonic() + BOOTED_S
        while True:
            with contextlib.suppress(LabError):
                if "guest_exec: ready" in self.console() and self.run(
                        "systemctl is-system-running", check=False,
                        timeout_s=FIRST_TRY_S).strip() in STATES:
                    return
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise LabError(f"{self.name} has not booted: {self.console()[-1500:]}")
            time.sleep(0.2)

    def console(self):
        with open(os.path.join(self.folder, "console"), encoding="utf-8",
                  errors="replace") as file:
            return file.read()

    def run(self, command, check=True, timeout_s=180.0):
        """Has bash carry out the command in the machine; returns what it printed."""
        if not self.is_on():
            raise LabError(f"{self.name} is off")
        line = self.lines.get()
        lock = _Line(self.lines, line)
        try:
            job = Job(lock, Fifos(*self._fifos(line)),
                      f"cd /root; exec bash -c {shlex.quote(command)}")
        except OSError:
            lock.close()
            raise LabError(f"{self.name} is off") from None
        deadline = time.monotonic() + timeout_s
        while job.status is None and time.monotonic() < deadline and self.is_on():
            job.poll(0.2)
        if job.status is None:
            job.kill()
        output = job.output.decode(errors="replace")
        if job.status == STATUS_TIMED_OUT:
            raise LabError(f"{self.name}# {command}: not done after {timeout_s:g} s: "
                           f"{output.strip()[-500:]}")
        if check and job.status:
            raise LabError(f"{self.name}# {command}: ended with {job.status}: "
                           f"{output.strip()[-2000:]}")
        return output

    def read_file(self, name):
        return bytes.fromhex(self.run(f"od -An -v -tx1 {shlex.quote(name)}"))

    def write_file(self, name, data):
        name = shlex.quote(name)
        self.run(f"umask 077; : > {name}")
        for at in range(0, len(data), PIECE_BYTES):
            piece = base64.b64encode(data[at:at + PIECE_BYTES]).decode()
            self.run(f"echo {piece} | base64 -d >> {name}")

    def connect(self, network, on):
        """Plugs the machine's cable of a network (its number) in, or pulls it at the other end: a
        tap that is down would be an error of the device, from which it does not recover."""
        where = ["master", self.bridges[network]] if on else ["nomaster"]
        netns.ip("link", "set", self.taps[network], *where, netns=self.netns)

    def pause(self, paused):
        """Stops the whole machine, or lets it go on."""
        with open(os.path.join(self.cgroup, "cgroup.freeze"), "w", encoding="ascii") as file:
            file.write("1" if paused else "0")
