"""A client VM that is a process: User Mode Linux, the same kernel compiled as a program.

Computing in it costs what it costs outside, system calls cost more (about 50 us each); a client VM
of this kind takes a fifth of the processor time of a QemuVm. It has one CPU and Debian's
configuration of the NFS client (v3, v4.0, v4.1, v4.2).
"""

import os
import secrets

import vm_image
from client_vm import MEMORY_MIB, PORT_COUNT, ClientVm
from symlab import netns, processes
from symlab.errors import LabError
from vm_job import Fifos

DISKS_MAX = 8
BLOCK_BYTES = 512
SHARED_MEMORY = "/dev/shm"  # what it uses as memory is a file without a name
# con0 is its standard output; gro: without it, large segments of TCP are lost on their way in.
ARGUMENTS = ("con=null", "con0=null,fd:1", "ssl=null", "console=tty0", "noreboot",
             f"symnas.ports=/dev/ttyS[1-{PORT_COUNT}]")
NETWORK = "vec{number}:transport=tap,ifname={tap},depth=64,gro=1,mac={mac}"


def mac_of(first, number):
    """The MAC of a device with this number, of a VM whose first device has that one."""
    return first if number == 0 else f"{first[:3]}{number:02x}{first[5:]}"


class UmlVm(ClientVm):
    """Its ports are pairs of FIFOs. A job whose program on the host was killed goes on until its
    port is used again."""

    kind = "uml"
    more_bridges = ()  # of further devices, vec1, vec2, ..., which are the caller's to name and set
    described = "User Mode Linux"

    def _kernel(self):
        return vm_image.uml_kernel()

    def _spawn(self, kernel, initrd, words, mac, bridge, bridge_netns, disks, cgroup):
        if len(disks) > DISKS_MAX:
            raise LabError(f"client VM {self.name}: {len(disks)} disks, {DISKS_MAX} are possible")
        for disk in disks:
            if os.path.getsize(disk) % BLOCK_BYTES:  # the rest of its last block would be rubbish
                raise LabError(f"client VM {self.name}: {disk} does not end with a block of "
                               f"{BLOCK_BYTES} bytes")
        bridges = {f"tap{secrets.token_hex(4)}": each for each in (bridge, *self.more_bridges)}
        # Process 1 of a PID namespace: the processes that stand for those of the VM end with it.
        argv = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", kernel,
                "umid=uml", f"uml_dir={self.directory}", f"mem={MEMORY_MIB}M", f"initrd={initrd}",
                *ARGUMENTS]
        argv += [NETWORK.format(number=at, tap=tap, mac=mac_of(mac, at))
                 for at, tap in enumerate(bridges)]
        argv += [f"ubd{index}r={disk}" for index, disk in enumerate(disks)]
        fds = []
        try:
            for port in range(1, PORT_COUNT + 1):
                for path in self._fifos(self._port(port)):
                    os.mkfifo(path, 0o600)
                    fds.append(os.open(path, os.O_RDWR))  # neither end ever hangs up
                argv.append(f"ssl{port}=fd:{fds[-2]},fd:{fds[-1]}")
            for tap, each in bridges.items():
                netns.create_tap(bridge_netns, each, tap)
            log = os.path.join(self.directory, "console.log")
            record = processes.spawn(
                [*argv, *words.split()], log, netns=bridge_netns, cgroup=cgroup,
                env={**os.environ, "TMPDIR": SHARED_MEMORY}, pass_fds=fds)
            return {**record, "taps": list(bridges), "netns": bridge_netns}
        except BaseException:
            for tap in bridges:
                netns.delete_link(bridge_netns, tap)
            raise
        finally:
            for fd in fds:
                os.close(fd)

    def _machine(self):
        parent = self.record()["pid"]
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
            pid = int(file.read())
        return {"pid": pid, "start_time": processes.start_time(pid), "argv": [self.name]}

    def stop(self):
        record = self.record()
        super().stop()
        for tap in record["taps"] if record else ():
            netns.delete_link(record["netns"], tap)

    @staticmethod
    def _fifos(path):
        return f"{path}.in", f"{path}.out"

    def _open_port(self, path):
        return Fifos(*self._fifos(path))
