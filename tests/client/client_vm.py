"""A client VM: QEMU without hardware acceleration runs Debian's kernel with its real NFS client.

The VM is connected to a bridge by a tap, which disappears with the VM. Scripts run in it over
virtio-serial ports (frames: guest_exec.cc), so they run, report and can be killed while its network
is broken. A VM's record is one directory: `vm.json`, a socket per port, the console log.

Thread class: a ClientVm may be used by several threads; a Job belongs to one.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import select
import shutil
import socket
import struct
import time

import vm_image
from symlab import netns, processes
from symlab.errors import LabError

PORT_COUNT = 4             # jobs at a time
MEMORY_MIB = 768
BOOT_TIMEOUT_S = 60.0      # about 5 s on an idle machine of two cores
KILL_TIMEOUT_S = 5.0       # a killed job in an uninterruptible system call does not report
STATUS_TIMED_OUT = 124     # as timeout(1)
STATUS_VM_GONE = 125
CHUNK_BYTES = 65536
TRANSLATION_CACHE_MIB = 128
KERNEL_ARGUMENTS = ("console=ttyS0 loglevel=5 panic=-1 mitigations=off nokaslr tsc=reliable "
                    "no_timer_check random.trust_cpu=on rcupdate.rcu_expedited=1 "
                    "cryptomgr.notests init_on_alloc=0 audit=0 apparmor=0 selinux=0 nowatchdog "
                    "nohz=off highres=off")

_MAGIC = b"SYMF"
_HEADER = struct.Struct("<4scII")


def default_root():
    return os.path.join(os.environ.get("SYMNAS_LAB", "/var/lib/symnas-lab"), "vms")


class Job:
    """One script running in the VM. `output` grows as poll() or wait() are called."""

    def __init__(self, port_lock, connection, script):
        self._lock = port_lock
        self._connection = connection
        self._id = secrets.randbits(32)
        self._input = b""
        self.output = b""
        self.status = None
        self._send(b"R", script.encode() if isinstance(script, str) else script)

    def _send(self, kind, payload=b""):
        with contextlib.suppress(BrokenPipeError):
            self._connection.sendall(_HEADER.pack(_MAGIC, kind, self._id, len(payload)) + payload)

    def _take_frames(self):
        while True:
            at = self._input.find(_MAGIC)
            if at < 0:
                return
            self._input = self._input[at:]
            if len(self._input) < _HEADER.size:
                return
            _, kind, job, length = _HEADER.unpack_from(self._input)
            if len(self._input) < _HEADER.size + length:
                return
            payload = self._input[_HEADER.size:_HEADER.size + length]
            self._input = self._input[_HEADER.size + length:]
            if job == self._id and kind == b"O":
                self.output += payload
            elif job == self._id and kind == b"X":
                self.status = struct.unpack("<I", payload)[0]

    def poll(self, timeout_s=0.0):
        """Takes what the VM has sent, waiting at most timeout_s for it; returns the status."""
        if self.status is None and select.select([self._connection], [], [], timeout_s)[0]:
            data = self._connection.recv(CHUNK_BYTES)
            if not data:
                self.status = STATUS_VM_GONE
            self._input += data
            self._take_frames()
        if self.status is not None:
            self.close()
        return self.status

    def wait(self, timeout_s):
        """Waits for the end; kills the job after timeout_s (status 124). Returns the status."""
        deadline = time.monotonic() + timeout_s
        while self.status is None and time.monotonic() < deadline:
            self.poll(max(0.0, deadline - time.monotonic()))
        if self.status is None:
            self.kill()
        return self.status

    def kill(self):
        if self.status is None:
            self._send(b"K")
            deadline = time.monotonic() + KILL_TIMEOUT_S
            while self.status is None and time.monotonic() < deadline:
                self.poll(max(0.0, deadline - time.monotonic()))
            self.status = STATUS_TIMED_OUT
            self.close()

    def close(self):
        self._connection.close()
        self._lock.close()


class Result:
    """Exit status and output (stdout and stderr together, decoded) of a finished script."""

    def __init__(self, status, output):
        self.status = status
        self.output = output.decode(errors="replace")


class ClientVm:
    """A VM, running or not, found by its directory."""

    def __init__(self, name, root=None):
        self.name = name
        self.directory = os.path.join(root or default_root(), name)
        self._record_path = os.path.join(self.directory, "vm.json")

    def record(self):
        try:
            with open(self._record_path, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def running(self):
        return processes.is_alive(self.record())

    def console(self):
        with contextlib.suppress(OSError), open(f"{self.directory}/console.log", "rb") as file:
            return file.read().decode(errors="replace")
        return ""

    def start(self, address, bridge, bridge_netns=None, gateway=None, disks=(), cgroup=None):
        """Boots the VM and waits until it runs scripts.

        address: "10.0.0.201/24", gateway: "10.0.0.254"; or a list with one of each family. disks:
        files that the VM sees read-only as /dev/vda, /dev/vdb, ...
        """
        if self.running():
            raise LabError(f"client VM {self.name} runs already (`vm stop --name {self.name}`)")
        kernel, initrd = vm_image.build()
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory, mode=0o700)
        digest = hashlib.sha256(self.name.encode()).hexdigest()
        # The tap of an earlier VM may exist for a moment longer: a new name each time.
        tap = netns.open_tap(bridge_netns, bridge, f"tap{secrets.token_hex(4)}")
        try:
            arguments = f"{KERNEL_ARGUMENTS} symnas.name={self.name}"
            for word, given in (("ip", address), ("gw", gateway)):
                for one in [given] if isinstance(given, str) else given or ():
                    arguments += f" symnas.{word}={one}"
            mac = "52:54:00:" + ":".join(digest[i:i + 2] for i in (0, 2, 4))
            argv = self._qemu(kernel, initrd, arguments, tap, mac, disks)
            log = os.path.join(self.directory, "qemu.log")
            record = processes.spawn(argv, log, cgroup=cgroup, pass_fds=(tap,))
        finally:
            os.close(tap)
        with open(self._record_path, "w", encoding="utf-8") as file:
            json.dump(record, file)
        try:
            self._wait_booted()
        except BaseException:
            self.stop()
            raise

    def _qemu(self, kernel, initrd, arguments, tap, mac, disks):
        argv = ["qemu-system-x86_64", "-name", self.name, "-nodefaults", "-no-user-config",
                "-display", "none", "-accel", f"tcg,tb-size={TRANSLATION_CACHE_MIB}",
                "-machine", "pc", "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MIB), "-no-reboot",
                "-kernel", kernel, "-initrd", initrd, "-append", arguments,
                "-serial", f"file:{self.directory}/console.log",
                "-netdev", f"tap,id=net,fd={tap},vhost=off",
                "-device", f"virtio-net-pci,netdev=net,mac={mac},romfile=,ioeventfd=off",
                "-device", "virtio-serial-pci"]
        for port in range(1, PORT_COUNT + 1):
            path = os.path.join(self.directory, f"port{port}")
            argv += ["-chardev", f"socket,id=port{port},path={path},server=on,wait=off",
                     "-device", f"virtserialport,chardev=port{port},name=symnas.{port}"]
        for index, disk in enumerate(disks):
            file = disk.replace(",", ",,")
            argv += ["-drive", f"id=disk{index},file={file},if=none,format=raw,readonly=on",
                     "-device", f"virtio-blk-pci,drive=disk{index}"]
        return argv

    def _wait_booted(self):
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        while time.monotonic() < deadline:
            if not self.running():
                break
            if "guest_init: ready" in self.console() and self.run("true", 10.0).status == 0:
                return
            time.sleep(0.05)
        with contextlib.suppress(OSError), open(f"{self.directory}/qemu.log") as file:
            raise LabError(f"client VM {self.name} did not boot: {file.read().strip()}\n"
                           + self.console()[-2000:])

    def _free_port(self):
        for port in range(1, PORT_COUNT + 1):
            path = os.path.join(self.directory, f"port{port}")
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
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return Job(lock, connection, script)

    def run(self, script, timeout_s):
        job = self.start_job(script)
        try:
            job.wait(timeout_s)
        except BaseException:
            job.kill()
            raise
        return Result(job.status, job.output)

    def stop(self):
        """Ends the VM at once and removes its directory; no effect if there is none."""
        processes.stop(self.record(), 0)
        shutil.rmtree(self.directory, ignore_errors=True)
