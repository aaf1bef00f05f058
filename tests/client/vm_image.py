"""The client VM's initial file system: busybox, our programs, what NFSv3 locks need, modules.

Built for one Kernel from Debian's unpacked packages, busybox-static and the machine's libraries. It
is kept under a name that contains a hash of all its inputs, so that it is made once per change.
"""

import glob
import hashlib
import os
import re
import stat
import subprocess
import tempfile
import typing

from symlab.errors import LabError

HERE = os.path.dirname(os.path.abspath(__file__))
BUSYBOX = "/bin/busybox"
GUEST_PROGRAMS = ("guest_exec", "guest_file", "guest_gaps", "guest_locks", "guest_ranges",
                  "guest_xattr", "nfsmount")
GUEST_HEADERS = ("guest_arbiter.h", "guest_slots.h")
SCRIPTS = ("guest_init", "guest_statd")
RPCBIND = "/usr/sbin/rpcbind"
# Files in which the libraries of these programs look up names and transports.
LOOKED_UP = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n"
                  b"_rpc:x:101:101::/run/rpcbind:/bin/false\n",
    "etc/group": b"root:x:0:\nuser:x:1000:\n_rpc:x:101:\n",
    "etc/hosts": b"127.0.0.1 localhost\n",
    "etc/nsswitch.conf": b"passwd: files\nhosts: files\nservices: files\nprotocols: files\n",
}
COPIED = ("etc/netconfig", "etc/services", "etc/protocols")
COMPILE_FLAGS = ("-std=gnu++20", "-Os", "-static", "-s", "-Wall", "-Wextra", "-Werror")
_NFS = ("nfsv3", "nfsv4", "nfs")


class Kernel(typing.NamedTuple):
    """What a client VM boots."""

    name: str          # a word for the file name of its initial file system
    image: str
    modules_dir: str
    modules: tuple     # loaded in this order, each after those it depends on


def cache_dir():
    return os.environ.get("SYMNAS_CACHE", "/var/cache/symnas")


def debian_kernel():
    """The newest stock kernel unpacked in the cache, as a PC boots it."""
    root = os.environ.get("SYMNAS_KERNEL", os.path.join(cache_dir(), "kernel"))
    modules = _modules_under(f"{root}/lib/modules", "kernel")
    release = os.path.basename(os.path.dirname(modules))
    drivers = ("virtio_pci", "virtio_console", "virtio_net", "virtio_blk")
    for image in (f"{root}/vmlinuz", f"{root}/boot/vmlinuz-{release}"):
        if os.path.exists(image):
            return Kernel("qemu", image, modules, drivers + _NFS)
    raise LabError(f"no vmlinuz for {release} under {root}: the kernel package is incomplete")


def uml_kernel():
    """User Mode Linux, unpacked in the cache: its drivers are part of the image."""
    root = os.path.join(cache_dir(), "uml")
    modules = _modules_under(f"{root}/modules", "uml")
    return Kernel("uml", f"{root}/linux.uml", modules, ("ipv6", *_NFS))


def _modules_under(root, step):
    modules = sorted(glob.glob(f"{root}/*/kernel"))
    if not modules:
        raise LabError(f"no */kernel under {root}: run `deploy/setup/setup {step}` first")
    return modules[-1]


def _statd_programs():
    """{name: path} of the programs that need libraries."""
    root = os.path.join(cache_dir(), "statd")
    programs = {name: os.path.join(root, name)
                for name in ("rpc.statd", "sm-notify", "mount.nfs", "quota")}
    for path in programs.values():
        if not os.path.exists(path):
            raise LabError(f"no {path}: run deploy/setup/setup first")
    return {"rpcbind": RPCBIND, **programs}


def libraries(programs, beside=""):
    """The files that the dynamic linker loads for them, itself included.

    beside: a folder with libraries that this machine does not have installed.
    """
    found = set()
    for path in programs:
        result = subprocess.run(["ldd", path], capture_output=True, text=True, check=False,
                                env={**os.environ, "LD_LIBRARY_PATH": beside})
        if result.returncode != 0 or "not found" in result.stdout:
            raise LabError(f"client VM image: ldd {path}: {result.stdout}{result.stderr}")
        found.update(re.findall(r"(/\S+) \(0x", result.stdout))
    return sorted(found)


def _module_field(path, field):
    with open(path, "rb") as file:
        data = file.read()
    at = data.find(b"\0" + field + b"=")
    return data[at + len(field) + 2:data.index(b"\0", at + 1)].decode() if at >= 0 else ""


def modules_in_order(directory, names):
    """The files of these modules and of those they need, dependencies first (there is no
    modules.dep)."""
    files = {}
    for path in glob.glob(f"{directory}/**/*.ko", recursive=True):
        files[os.path.basename(path)[:-3].replace("-", "_")] = path
    order = []

    def add(name):
        if name not in files:
            return  # built into this kernel
        if files[name] in order:
            return
        needs = _module_field(files[name], b"depends").split(",")
        needs += _module_field(files[name], b"softdep").removeprefix("pre: ").split()
        for need in needs:
            add(need.replace("-", "_"))
        order.append(files[name])

    for name in names:
        add(name)
    return order


class _Cpio:
    """A newc archive (Documentation/driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self):
        self._parts = []
        self._inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self._inode += 1
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        for part in (header + name.encode() + b"\0", data):
            self._parts.append(part + b"\0" * (-len(part) % 4))

    def directory(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def file(self, name, data):
        self.add(name, stat.S_IFREG | 0o755, data)

    def finish(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self._parts)


def _compile(target_dir, program):
    source = os.path.join(HERE, program + ".cc")
    target = os.path.join(target_dir, program)
    command = ["g++", *COMPILE_FLAGS, "-o", target, source]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"{' '.join(command)}:\n{result.stderr}")
    with open(target, "rb") as file:
        return file.read()


def compile_program(program):
    """The bytes of one of GUEST_PROGRAMS, which need no library."""
    with tempfile.TemporaryDirectory() as work_dir:
        return _compile(work_dir, program)


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise LabError(f"client VM image: {path}: {error.strerror}") from error


def _assemble(work_dir, module_files):
    archive = _Cpio()
    programs = _statd_programs()
    library_files = libraries(programs.values())
    folders = {"bin", "dev", "proc", "sys", "modules", "etc", "root", "run"}
    for path in library_files:
        parts = os.path.dirname(path).strip("/").split("/")
        folders.update("/".join(parts[:at + 1]) for at in range(len(parts)))
    for name in sorted(folders):
        archive.directory(name)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.file("bin/busybox", _read(BUSYBOX))
    applets = subprocess.run([BUSYBOX, "--list"], capture_output=True, text=True, check=True)
    for applet in applets.stdout.split():
        if applet != "busybox":
            archive.add(f"bin/{applet}", stat.S_IFLNK | 0o777, b"busybox")
    for program in GUEST_PROGRAMS:
        archive.file(f"bin/{program}", _compile(work_dir, program))
    for path in module_files:
        archive.file(f"modules/{os.path.basename(path)}", _read(path))
    order = "\n".join(os.path.basename(path) for path in module_files) + "\n"
    archive.file("modules/order", order.encode())
    for name, path in programs.items():
        archive.file(f"bin/{name}", _read(path))
    for path in library_files:
        archive.file(path.strip("/"), _read(path))
    for name, text in LOOKED_UP.items():
        archive.file(name, text)
    for name in COPIED:
        archive.file(name, _read("/" + name))
    archive.file("bin/guest_statd", _read(os.path.join(HERE, "guest_statd")))
    archive.file("init", _read(os.path.join(HERE, "guest_init")))
    return archive.finish()


def build(kernel):
    """Returns the initial file system for a kernel; builds it when an input has changed."""
    inputs = [os.path.join(HERE, name + ".cc") for name in GUEST_PROGRAMS]
    inputs += [os.path.join(HERE, name) for name in SCRIPTS + GUEST_HEADERS]
    inputs += [os.path.abspath(__file__), BUSYBOX, *_statd_programs().values()]
    digest = hashlib.sha256(kernel.modules_dir.encode())
    for path in inputs:
        digest.update(_read(path))
    directory = os.path.join(cache_dir(), "client-vm")
    os.makedirs(directory, exist_ok=True)
    stem = os.path.join(directory, f"initrd-{kernel.name}")
    target = f"{stem}-{digest.hexdigest()[:16]}.cpio"
    if not os.path.exists(target):
        for old in glob.glob(f"{stem}-*.cpio"):
            os.unlink(old)
        with tempfile.TemporaryDirectory(dir=directory) as work_dir:
            data = _assemble(work_dir, modules_in_order(kernel.modules_dir, kernel.modules))
        with open(target + ".new", "wb") as file:
            file.write(data)
        os.rename(target + ".new", target)
    return target
