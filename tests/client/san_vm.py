"""A SAN of virtual machines: LIO as an iSCSI target in one, initiators in others, on a bridge.

The VMs are client VMs (qemu_vm.py); what they need in addition - Debian's SCSI modules,
iscsistart, a program of ours - comes as a tar on their first disk. The persistent reservations are
real, of the kernel's own target and initiator; only the wire is virtual.

Thread class: confined to one thread.
"""

import contextlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile

import vm_image
from client_vm import default_root
from qemu_vm import QemuVm
from symlab import netns
from symlab.errors import LabError
from symlab.wait import SLOWER

BRIDGE = "br-san"
TARGET_ADDRESS = "10.99.7.1"
TARGET_NAME = "iqn.2026-01.san:"
INITIATOR_NAME = "iqn.2026-01.head:"
TIMEOUT_S = 60.0
# iscsi_tcp asks for crc32c by name; target_core_file: LUNs are files in the target's memory.
MODULES = ("crc32c_generic", "sd_mod", "iscsi_tcp", "target_core_mod", "target_core_file",
           "iscsi_target_mod")

UNPACK = """
set -e
mkdir -p /san; cd /san; tar xf /dev/vda
for module in $(cat modules/order); do
  [ -e /sys/module/${module%.ko} ] || insmod modules/$module
done
"""

# $1: target, $2: address, then LUN=SERIAL words. The target keeps registrations (APTPL) in
# /var/target/pr. It knows an initiator by its name, so a registration stays that of its initiator.
MAKE_TARGET = """
set -e
target=$1; address=$2; shift 2
[ -d /sys/kernel/config/target ] || mount -t configfs none /sys/kernel/config
mkdir -p /var/target/pr /var/target/alua
cd /sys/kernel/config/target
mkdir -p core/fileio_0 iscsi
group=iscsi/$target/tpgt_1
mkdir -p $group/np/$address:3260
for word in $*; do
  lun=${word%=*}; serial=${word#*=}
  mkdir core/fileio_0/$serial
  echo fd_dev_name=/tmp/$serial,fd_dev_size=$((16 << 20)) > core/fileio_0/$serial/control
  echo 1 > core/fileio_0/$serial/enable
  echo $serial > core/fileio_0/$serial/wwn/vpd_unit_serial
  mkdir $group/lun/lun_$lun
  ln -s /sys/kernel/config/target/core/fileio_0/$serial $group/lun/lun_$lun/$serial
done
for initiator in $INITIATORS; do
  mkdir $group/acls/$initiator
  for word in $*; do
    lun=${word%=*}
    mkdir $group/acls/$initiator/lun_$lun
    ln -s /sys/kernel/config/target/$group/lun/lun_$lun $group/acls/$initiator/lun_$lun/it
  done
done
echo 0 > $group/attrib/authentication
echo 1 > $group/enable
"""

LOG_IN = """
LD_LIBRARY_PATH=/san/lib /san/bin/iscsistart -i {initiator} -t {target} -g 1 -a {address} -p 3260
"""


def make_disk(path, programs):
    """Writes the tar that every VM of the SAN unpacks. programs: paths; in the VM they are in
    /san/bin."""
    modules_dir = vm_image.debian_kernel().modules_dir
    iscsi = os.path.join(vm_image.cache_dir(), "iscsi")
    iscsistart = os.path.join(iscsi, "iscsistart")
    if not os.path.exists(iscsistart):
        raise LabError(f"no {iscsistart}: run deploy/setup/setup first")
    modules = vm_image.modules_in_order(modules_dir, MODULES)
    order = "".join(os.path.basename(module) + "\n" for module in modules).encode()
    with tarfile.open(path, "w") as tar, tempfile.TemporaryDirectory() as work:
        for module in modules:
            tar.add(module, f"modules/{os.path.basename(module)}")
        entry = tarfile.TarInfo("modules/order")
        entry.size = len(order)
        tar.addfile(entry, io.BytesIO(order))
        for program in (iscsistart, *programs):
            small = os.path.join(work, os.path.basename(program))
            subprocess.run(["strip", "-o", small, program], check=True)
            tar.add(small, f"bin/{os.path.basename(program)}")
        for library in vm_image.libraries([iscsistart], beside=iscsi):
            tar.add(os.path.realpath(library), f"lib/{os.path.basename(library)}")


class SanVm:
    """One machine of the SAN."""

    def __init__(self, name, number, root):
        self.name = name
        self.address = f"10.99.7.{number}"
        self.initiator = INITIATOR_NAME + name
        self.vm = QemuVm(name, root)

    def run(self, script, timeout_s=TIMEOUT_S):
        """Runs a script, which must end with status 0; returns its output, stripped."""
        result = self.try_run(script, timeout_s)
        if result.status != 0:
            raise LabError(f"{self.name}: ended with {result.status}: {result.output}\nof {script}")
        return result.output.strip()

    def try_run(self, script, timeout_s=TIMEOUT_S):
        return self.vm.run(script, timeout_s * SLOWER)


class Target(SanVm):
    def serve(self, name, luns, initiators):
        """Makes a target with {number: serial} LUNs for these SanVms."""
        words = " ".join(f"{number}={serial}" for number, serial in luns.items())
        names = " ".join(initiator.initiator for initiator in initiators)
        self.run(f"INITIATORS='{names}'\nset -- {TARGET_NAME}{name} {self.address} {words}\n"
                 + MAKE_TARGET)

    def file_of(self, serial):
        return f"/tmp/{serial}"

    def enable(self, name, on):
        """Off: the target's sessions end and nobody reaches its LUNs any more."""
        self.run(f"echo {1 if on else 0} > /sys/kernel/config/target/iscsi/{TARGET_NAME}{name}"
                 "/tpgt_1/enable")


class Initiator(SanVm):
    def log_in(self, name):
        self.run(LOG_IN.format(initiator=self.initiator, target=TARGET_NAME + name,
                               address=TARGET_ADDRESS))

    def device(self, serial):
        """The disk with that serial number."""
        return self.run("for disk in /sys/block/sd*; do "
                        f"grep -aq {serial} $disk/device/vpd_pg80 && echo /dev/${{disk##*/}}; "
                        "done; true")

    def boot_id(self):
        return self.run("cat /proc/sys/kernel/random/boot_id")


@contextlib.contextmanager
def san(prefix, initiators, programs):
    """Boots one target, and initiators with these names; yields (Target, [Initiator]).

    Afterwards they and their namespace are removed. What an interrupted run left is removed first.
    """
    root = os.path.join(default_root(), f"{prefix}-san")
    space = f"{prefix}-san"
    _clean(root, space)
    target = Target("target", 1, root)
    clients = [Initiator(name, 2 + at, root) for at, name in enumerate(initiators)]
    try:
        os.makedirs(root)
        disk = os.path.join(root, "san.tar")
        make_disk(disk, programs)
        netns.create(space)
        netns.create_bridge(space, BRIDGE)
        for machine in (target, *clients):
            machine.vm.start(f"{machine.address}/24", BRIDGE, space, disks=[disk])
            machine.run(UNPACK)
        yield target, clients
    finally:
        _clean(root, space)


def _clean(root, space):
    for name in os.listdir(root) if os.path.isdir(root) else []:
        if os.path.isdir(os.path.join(root, name)):
            QemuVm(name, root).stop()
    netns.delete(space)
    shutil.rmtree(root, ignore_errors=True)
