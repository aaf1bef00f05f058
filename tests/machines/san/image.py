"""The disk of which all machines have copies: a Debian root, our packages, modules of a kernel.

It is kept in $SYMNAS_CACHE/san under a hash of what it is made of; copies are copy-on-write.
"""

import glob
import hashlib
import os
import shutil
import subprocess
import tempfile

import pacemaker_files
import vm_image
from place import sh

HERE = os.path.dirname(os.path.realpath(__file__))
GUEST = os.path.join(HERE, "guest")
IMAGE_SIZE = "1800M"  # sparse
KEPT = 2              # of this build, and of the one before
# Nothing of it is of use here; each costs a part of a second at every boot.
MASKED = ("e2scrub_reap.service", "systemd-logind.service", "proc-sys-fs-binfmt_misc.automount",
          "systemd-binfmt.service", "apt-daily.timer", "apt-daily-upgrade.timer",
          "getty@tty1.service", "systemd-firstboot.service", "dpkg-db-backup.timer")
ENABLED = ("systemd-networkd.service", "systemd-networkd-wait-online.service",
           "guest-exec@ttyS1.service", "guest-exec@ttyS2.service", "guest-exec@ttyS3.service",
           "san-array.service", "san-capacity.service")
UNITS = ("guest-exec@.service", "san-array.service", "san-capacity.service")
SCRIPTS = ("san_array", "san_capacity")
# Without it udev looks at some hundred consoles at every boot.
UDEV = """[Service]
ExecStart=
ExecStart=udevadm trigger --type=all --action=add --subsystem-match=block --subsystem-match=net \
--subsystem-match=scsi
"""
# The kernel of these machines has no scsi_dh_alua, and all paths of this array are equal.
MULTIPATH = """devices {
  device {
    vendor "LIO-ORG"
    product ".*"
    hardware_handler "0"
    prio const
    path_grouping_policy multibus
  }
}
"""
LINK = "[Match]\nMACAddress=52:54:00:98:{at:02}:{number:02x}\n[Link]\nName={device}\n"
NETWORK = ("[Match]\nHost={host}\nName={device}\n[Network]\nAddress={address}/24\n"
           "LinkLocalAddressing=no\nIPv6AcceptRA=no\nConfigureWithoutCarrier=yes\n"
           "IgnoreCarrierLoss=yes\n")


def files(hosts, networks):
    """{path: text or bytes} of what the root has beside its packages.

    hosts: {name: number}, networks: {device: beginning of its addresses}.
    """
    text = {**pacemaker_files.files(), "etc/machine-id": "", "etc/hostname": "",
            "etc/fstab": "/dev/ubda / ext4 defaults,noatime 0 0\n",
            "etc/hosts": "127.0.0.1 localhost\n",
            "etc/multipath/conf.d/array.conf": MULTIPATH,
            "etc/systemd/system/systemd-udev-trigger.service.d/few.conf": UDEV}
    for at, (device, beginning) in enumerate(networks.items()):
        for host, number in hosts.items():
            address = f"{beginning}{number}"
            folder = "etc/systemd/network"
            text[f"{folder}/10-{host}-{device}.link"] = LINK.format(
                at=at, number=number, device=device)
            text[f"{folder}/20-{host}-{device}.network"] = NETWORK.format(
                host=host, device=device, address=address)
            if at == 0:
                text["etc/hosts"] += f"{address} {host}\n"
    for unit in UNITS:
        text[f"etc/systemd/system/{unit}"] = _content(os.path.join(GUEST, unit))
    return text


def _digest(parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _content(path):
    with open(path, "rb") as file:
        return file.read()


def make(root, packages, install, hosts, networks):
    """The path of the image; makes it if there is none of these inputs.

    root: a Debian root, which stays as it is. install: commands that are carried out in a copy of
    it, where apt knows the packages.
    """
    modules = os.path.dirname(vm_image.uml_kernel().modules_dir)
    more = files(hosts, networks)
    debs = sorted(glob.glob(os.path.join(packages, "*.deb")))
    name = _digest([root, modules, *install, *map(_content, debs),
                    _content(os.path.join(vm_image.HERE, "guest_exec.cc")),
                    _content(os.path.join(HERE, "image.py")),
                    *(_content(os.path.join(GUEST, script)) for script in SCRIPTS),
                    *(part for one in sorted(more.items()) for part in one)])
    folder = os.path.join(vm_image.cache_dir(), "san")
    os.makedirs(folder, exist_ok=True)
    image = os.path.join(folder, f"{name}.img")
    if os.path.exists(image):
        # No utime(): copies know the image by its time of change.
        return image
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="symnas-image-") as work:
        _fill(work, root, packages, install, modules, more)
        sh("mke2fs", "-q", "-t", "ext4", "-d", f"{work}/root", f"{image}.new", IMAGE_SIZE)
    for old in sorted(glob.glob(os.path.join(folder, "*.img")), key=os.path.getmtime)[:1 - KEPT]:
        os.unlink(old)
    os.rename(f"{image}.new", image)
    return image


def _fill(work, root, packages, install, modules, more):
    """Makes work/root: a copy, not an overlay, so nothing is to be unmounted after a kill."""
    new = f"{work}/root"
    sh("cp", "-a", root, new)
    shutil.copytree(packages, f"{new}/srv/symnas", ignore=shutil.ignore_patterns("*dbgsym*"))
    _write(new, "etc/apt/sources.list", "deb [trusted=yes] file:/srv/symnas ./\n")
    _write(new, "usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)
    for command in install:
        subprocess.run(["chroot", new, "/bin/bash", "-c", command], check=True, text=True,
                       capture_output=True, stdin=subprocess.DEVNULL,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                            "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"})
    os.unlink(f"{new}/usr/sbin/policy-rc.d")
    shutil.rmtree(f"{new}/srv/symnas")
    shutil.copytree(modules, f"{new}/usr/lib/modules/{os.path.basename(modules)}", symlinks=True)
    for path, text in more.items():
        _write(new, path, text)
    for script in SCRIPTS:
        _write(new, f"usr/local/sbin/{script}", _content(os.path.join(GUEST, script)), 0o755)
    _write(new, "usr/local/sbin/guest_exec", vm_image.compile_program("guest_exec"), 0o755)
    sh("systemctl", f"--root={new}", "--quiet", "enable", *ENABLED)
    sh("systemctl", f"--root={new}", "--quiet", "disable", *pacemaker_files.UNITS)
    sh("systemctl", f"--root={new}", "--quiet", "mask", *MASKED)


def _write(root, path, data, mode=0o644):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)
