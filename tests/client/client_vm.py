"""A client VM: a machine of its own with the Linux NFS client, on a bridge of this machine.

Two classes have this interface: UmlVm (uml_vm.py) and QemuVm (qemu_vm.py). Scripts run in a VM over
serial ports (frames: guest_exec.cc), so they run, report and can be killed while its network is
broken. A VM's record is one directory: `vm.json`, the ports, the console's log.

Thread class: a ClientVm may be used by several threads; a Job (vm_job.py) belongs to one.
"""

import abc
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import time

import vm_image
from symlab import processes
from symlab.errors import LabError
from vm_job import Job, Result

PORT_COUNT = 4             # jobs at a time
MEMORY_MIB = 768
BOOT_TIMEOUT_S = 60.0      # about 2 s (User Mode Linux) or 5 s (QEMU) on two idle cores
KERNEL_ARGUMENTS = "loglevel=5 panic=-1 audit=0 apparmor=0 selinux=0 nowatchdog"


def default_root():
    return os.path.join(os.environ.get("SYMNAS_LAB", "/var/lib/symnas-lab"), "vms")


def read_record(directory):
    """What is noted of the VM in a directory, or None: there is none."""
    try:
        with open(os.path.join(directory, "vm.json"), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


class ClientVm(abc.ABC):
    """A VM, running or not, found by its directory."""

    kind = ""              # in its record, and in the options of programs
    described = ""         # for a person

    def __init__(self, name, root=None):
        self.name = name
        self.directory = os.path.join(root or default_root(), name)

    def record(self):
        return read_record(self.directory)

    def running(self):
        return processes.is_alive(self.record())

    def console(self):
        return self._log("console.log")

    def _log(self, name):
        with (contextlib.suppress(OSError),
              open(os.path.join(self.directory, name), "rb") as file):
            return file.read().decode(errors="replace")
        return ""

    def start(self, address, bridge, bridge_netns=None, gateway=None, disks=(), cgroup=None):
        """Boots the VM and waits until it runs scripts.

        address: "10.0.0.201/24", gateway: "10.0.0.254"; or a list with one of each family. disks:
        files of whole blocks of 512 bytes, which the VM sees read-only as /dev/vda, /dev/vdb, ...
        """
        if self.running():
            raise LabError(f"client VM {self.name} runs already (`vm stop --name {self.name}`)")
        kernel = self._kernel()
        initrd = vm_image.build(kernel)
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory, mode=0o700)
        words = f"{KERNEL_ARGUMENTS} symnas.name={self.name}"
        for word, given in (("ip", address), ("gw", gateway)):
            for one in [given] if isinstance(given, str) else given or ():
                words += f" symnas.{word}={one}"
        digest = hashlib.sha256(self.name.encode()).hexdigest()
        mac = "52:54:00:" + ":".join(digest[i:i + 2] for i in (0, 2, 4))
        record = self._spawn(kernel.image, initrd, words, mac, bridge, bridge_netns, disks, cgroup)
        with open(os.path.join(self.directory, "vm.json"), "w", encoding="utf-8") as file:
            json.dump({**record, "kind": self.kind}, file)
        try:
            self._wait_booted()
        except BaseException:
            self.stop()
            raise

    @abc.abstractmethod
    def _kernel(self):
        """The vm_image.Kernel that it boots."""

    @abc.abstractmethod
    def _spawn(self, kernel, initrd, words, mac, bridge, bridge_netns, disks, cgroup):
        """Starts the VM with these words for its kernel; returns the record of its process, whose
        end is the VM's end. What the VM prints goes to console.log, the rest to machine.log."""

    @abc.abstractmethod
    def _open_port(self, path):
        """A connection to a port, as Job uses it. OSError: the VM has ended."""

    def _port(self, number):
        return os.path.join(self.directory, f"port{number}")

    def _wait_booted(self):
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        while time.monotonic() < deadline:
            if not self.running():
                break
            if "guest_init: ready" in self.console() and self.run("true", 10.0).status == 0:
                return
            time.sleep(0.05)
        raise LabError(f"client VM {self.name} did not boot: {self._log('machine.log').strip()}\n"
                       + self.console()[-2000:])

    def _free_port(self):
        for number in range(1, PORT_COUNT + 1):
            path = self._port(number)
            lock = open(path + ".lock", "w")  # noqa: SIM115  # locked while it is open
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock, path
            except BlockingIOError:
                lock.close()
        raise LabError(f"client VM {self.name}: all {PORT_COUNT} ports carry a job")

    def start_job(self, script):
        """Starts a shell script in the VM and returns its Job."""
        if not self.running():
            raise LabError(f"client VM {self.name} is not running")
        lock, path = self._free_port()
        try:
            return Job(lock, self._open_port(path), script)
        except OSError as error:
            lock.close()
            raise LabError(f"client VM {self.name}: {path}: {error.strerror}") from error

    def run(self, script, timeout_s):
        job = self.start_job(script)
        try:
            job.wait(timeout_s)
        except BaseException:
            job.kill()
            raise
        return Result(job.status, job.output)

    def pause(self):
        """Stops the whole machine until resume()."""
        processes.send_signal(self._machine(), signal.SIGSTOP)

    def resume(self):
        processes.send_signal(self._machine(), signal.SIGCONT)

    def _machine(self):
        """The record of the process that runs the VM's kernel."""
        return self.record()

    def stop(self):
        """Ends the VM at once and removes its directory; no effect if there is none."""
        processes.stop(self.record(), 0)
        shutil.rmtree(self.directory, ignore_errors=True)
