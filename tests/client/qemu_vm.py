"""A client VM that is a PC: QEMU without hardware acceleration runs Debian's stock kernel."""

import os
import secrets
import socket

import vm_image
from client_vm import MEMORY_MIB, PORT_COUNT, ClientVm
from symlab import netns, processes

TRANSLATION_CACHE_MIB = 128
KERNEL_ARGUMENTS = ("console=ttyS0 mitigations=off nokaslr tsc=reliable no_timer_check "
                    "random.trust_cpu=on rcupdate.rcu_expedited=1 cryptomgr.notests "
                    "init_on_alloc=0 nohz=off highres=off symnas.ports=/dev/vport*p*")


class QemuVm(ClientVm):
    """Its ports are Unix sockets; a job whose program on the host ends is killed at once."""

    kind = "qemu"
    described = "in QEMU without acceleration"

    def _kernel(self):
        return vm_image.debian_kernel()

    def _spawn(self, kernel, initrd, words, mac, bridge, bridge_netns, disks, cgroup):
        # The tap of an earlier VM may exist for a moment longer: a new name each time.
        tap = netns.open_tap(bridge_netns, bridge, f"tap{secrets.token_hex(4)}")
        try:
            argv = self._argv(kernel, initrd, f"{KERNEL_ARGUMENTS} {words}", tap, mac, disks)
            log = os.path.join(self.directory, "machine.log")
            return processes.spawn(argv, log, cgroup=cgroup, pass_fds=(tap,))
        finally:
            os.close(tap)

    def _argv(self, kernel, initrd, arguments, tap, mac, disks):
        argv = ["qemu-system-x86_64", "-name", self.name, "-nodefaults", "-no-user-config",
                "-display", "none", "-accel", f"tcg,tb-size={TRANSLATION_CACHE_MIB}",
                "-machine", "pc", "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MIB), "-no-reboot",
                "-kernel", kernel, "-initrd", initrd, "-append", arguments,
                "-serial", f"file:{self.directory}/console.log",
                "-netdev", f"tap,id=net,fd={tap},vhost=off",
                "-device", f"virtio-net-pci,netdev=net,mac={mac},romfile=,ioeventfd=off",
                "-device", "virtio-serial-pci"]
        for port in range(1, PORT_COUNT + 1):
            path = self._port(port)
            argv += ["-chardev", f"socket,id=port{port},path={path},server=on,wait=off",
                     "-device", f"virtserialport,chardev=port{port},name=symnas.{port}"]
        for index, disk in enumerate(disks):
            file = disk.replace(",", ",,")
            argv += ["-drive", f"id=disk{index},file={file},if=none,format=raw,readonly=on",
                     "-device", f"virtio-blk-pci,drive=disk{index}"]
        return argv

    def _open_port(self, path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection
