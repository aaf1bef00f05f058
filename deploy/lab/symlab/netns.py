"""Network namespaces, bridges, veth pairs and taps, made with ip(8) and setns(2).

The caller chooses the names; nothing here remembers them. Every `delete_*` succeeds when the object
is already gone, so that a teardown may run twice.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import re
import struct
import subprocess

from .errors import LabError

RUN_DIR = "/run/netns"
_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_IFF_VNET_HDR = 0x4000
_IFNAMSIZ = 16

_libc = ctypes.CDLL(None, use_errno=True)


def setns(fd, kind=_CLONE_NEWNET):
    """Moves the calling thread into the namespace behind `fd`."""
    if _libc.setns(fd, kind) != 0:
        raise OSError(ctypes.get_errno(), "setns failed")


def ip(*args, netns=None):
    """Runs ip(8), in a namespace if one is given; raises LabError with ip's message."""
    command = ["ip"] + (["-n", netns] if netns else []) + [str(a) for a in args]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout


def exists(name):
    return os.path.exists(os.path.join(RUN_DIR, name))


def names_beginning(prefix):
    names = os.listdir(RUN_DIR) if os.path.isdir(RUN_DIR) else []
    return sorted(name for name in names if name.startswith(prefix))


def create(name):
    if exists(name):
        raise LabError(f"namespace {name} exists: another lab with this prefix? (`lab down`)")
    ip("netns", "add", name)
    ip("link", "set", "lo", "up", netns=name)


def delete(name):
    if exists(name):
        ip("netns", "del", name)


@contextlib.contextmanager
def entered(name):
    """Runs the body with the calling thread inside namespace `name` (None: the current one)."""
    if name is None:
        yield
        return
    there = os.open(os.path.join(RUN_DIR, name), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with entered_file(there):
            yield
    finally:
        os.close(there)


@contextlib.contextmanager
def entered_file(there):
    """As entered(), with an open file of a namespace, which need not have a name or processes."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        setns(there)
        yield
    finally:
        setns(home)
        os.close(home)


def remove_links(there):
    """Removes the links of a namespace that is to end: sockets without a process keep it for
    minutes."""
    with entered_file(there):
        for link in json.loads(ip("-j", "link", "show")):
            with contextlib.suppress(LabError):  # the loopback, and links made by the kernel
                ip("link", "delete", link["ifname"])


def sysctl(netns, name, value):
    """Sets /proc/sys/`name` of a namespace."""
    with entered(netns):
        try:
            with open(f"/proc/sys/{name}", "w", encoding="ascii") as file:
                file.write(str(value))
        except OSError as error:
            raise LabError(f"/proc/sys/{name} in {netns}: {error.strerror}") from error


def raise_neighbours(wanted):
    """Raises the bounds of the machine's tables of neighbours to those of the text of a
    sysctl.conf(5): one table serves all namespaces, and beyond its bound packets are lost."""
    for name, value in re.findall(r"^(net\.ipv[46]\.neigh\.\S+) = (\d+)$", wanted, re.M):
        path = "/proc/sys/" + name.replace(".", "/")
        with open(path, "r+", encoding="ascii") as file:
            if int(file.read()) < int(value):
                file.seek(0)
                file.write(value)


def create_bridge(netns, bridge):
    ip("link", "add", bridge, "type", "bridge", "forward_delay", "0", netns=netns)
    ip("link", "set", bridge, "up", netns=netns)


def connect_to_bridge(netns, device, address, bridge_netns, bridge, port):
    """Gives `netns` a device with `address`; its other end, `port`, is attached to the bridge."""
    ip("link", "add", device, "netns", netns, "type", "veth",
       "peer", "name", port, "netns", bridge_netns)
    ip("link", "set", port, "master", bridge, "up", netns=bridge_netns)
    ip("addr", "add", address, "dev", device, netns=netns)
    ip("link", "set", device, "up", netns=netns)


def open_tap(netns, bridge, device):
    """Makes a tap on the bridge and returns its descriptor; closing that removes the tap."""
    with entered(netns):
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        flags = _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR
        request = struct.pack(f"{_IFNAMSIZ}sH22x", device.encode(), flags)
        try:
            fcntl.ioctl(fd, _TUNSETIFF, request)
        except OSError as error:
            os.close(fd)
            raise LabError(f"tap {device} in {netns}: {error.strerror}") from error
    ip("link", "set", device, "master", bridge, "up", netns=netns)
    return fd


def create_tap(netns, bridge, device):
    """Makes a tap on the bridge for a program that opens it by its name; it stays until it is
    deleted."""
    ip("tuntap", "add", device, "mode", "tap", netns=netns)
    ip("link", "set", device, "master", bridge, "up", netns=netns)


def delete_link(netns, device):
    if netns is not None and not exists(netns):
        return
    with contextlib.suppress(LabError):
        ip("link", "delete", device, netns=netns)


def processes_inside(names):
    """The pids whose network namespace is one of the named ones."""
    inodes = set()
    for name in names:
        with contextlib.suppress(OSError):
            inodes.add(os.stat(os.path.join(RUN_DIR, name)).st_ino)
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{entry}/ns/net").st_ino in inodes:
                    found.append(int(entry))
    return found
