"""One set-up of machines: what they stand on, and how all of it is taken away."""

import contextlib
import fcntl
import glob
import json
import os
import re
import shutil
import subprocess

import power
from machine import CGROUPS, Machine
from pages import Page
from symlab import netns
from symlab.errors import LabError

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
OPERATIONS = os.path.join(TOP, "docs", "operations")
LUNS, LUN_BYTES = 4, 512 << 20
NETWORK = "[Match]\nName=host0\n[Network]\nAddress={address}/24\n"
VAR_BYTES = 512 << 20


class NotSetUp(LabError):
    """Machines cannot be had here, or not now; says why."""


def sh(*argv, **how):
    done = subprocess.run(argv, text=True, capture_output=True, **how)
    if done.returncode:
        raise LabError(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def program(name):
    """A client's program of this build."""
    return os.path.join(os.environ.get("SYMNAS_BUILD", os.path.join(TOP, "build")), "bin", name)


def dependencies(packages):
    """Debian's packages that those in the folder depend on, the first of alternatives; without
    Cockpit's, which no machine has."""
    names = set()
    for deb in glob.glob(os.path.join(packages, "*.deb")):
        if os.path.basename(deb).startswith("symnas-cockpit_"):
            continue
        for wish in sh("dpkg-deb", "-f", deb, "Depends").split(","):
            name = re.match(r"\s*([a-z0-9.+-]*)", wish)[1]
            if name and not name.startswith("symnas"):
                names.add(name)
    return names


class Site:
    """repositories: folders of .debs with a Packages file, by name: `this` version, the `previous`
    one, the `next` one. installed: the name of what is installed at first; page: how.

    All names begin with the prefix and KIND, so labs of that prefix are not touched. A second run
    of the same prefix is refused; what a run that was killed has left is removed first.
    """

    KIND = "machines"
    WANTED = ("machine.txt",)  # lists of packages in deploy/packages/roots
    release = "bookworm"
    PAGE = "three_heads.md"

    def __init__(self, prefix, repositories, installed="this", operations=OPERATIONS):
        self.name = f"{prefix}-{self.KIND}"
        self.netns, self.bridge = self.name, f"{prefix}-br"
        self.client_netns = f"{self.name}-client"
        self.cgroup = self.name
        self.folder = os.path.join("/dev/shm", self.name)
        self.repositories = repositories
        self.installed = installed
        self.page = Page(os.path.join(operations, self.PAGE))
        self.machines = {}
        self.closing = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.closing = stack
            self._build(stack)
            self.closing = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.closing.close()

    def _build(self, stack):
        stack.enter_context(self._alone())
        self._remove_all()
        stack.callback(self._remove_all)
        os.mkdir(self.folder, 0o700)
        self.root = self._debian_root()
        for name in (self.netns, self.client_netns):
            netns.create(name)
        netns.create_bridge(self.netns, self.bridge)
        # Else it has that of a port: when that machine goes off, nobody finds the switch for 20 s.
        netns.ip("link", "set", self.bridge, "address", "02:00:00:99:00:fe", netns=self.netns)
        netns.ip("addr", "add", f"{power.ADDRESS}/24", "dev", self.bridge, netns=self.netns)
        netns.connect_to_bridge(self.client_netns, "eth0", "10.99.0.200/24", self.netns,
                                self.bridge, "client")
        self.loops = [self._lun(number) for number in range(LUNS)]
        os.mkdir(os.path.join(CGROUPS, self.cgroup))
        for number in (1, 2, 3):
            self._machine(f"c1n{number}")
        with netns.entered(self.netns):
            self.switch = power.Switch(self.machines)
        stack.callback(self.switch.close)

    @contextlib.contextmanager
    def _alone(self):
        """LabError while another run has this prefix."""
        path = os.path.join("/run/lock", f"symnas-{self.name}")
        with open(path, "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LabError(f"{self.name}: another run has it (--prefix)") from None
            yield

    def _remove_all(self):
        """Takes away what a run has made, as far as it came."""
        Machine("", "", self.cgroup, "", "").power_off()
        for machine in self.machines.values():
            machine.wait_off()
        for folder, _, _ in os.walk(os.path.join(CGROUPS, self.cgroup), topdown=False):
            os.rmdir(folder)
        with open("/proc/self/mounts", encoding="utf-8") as file:
            mounts = [line.split()[1] for line in file]
        for mount in reversed(mounts):
            if mount.startswith(self.folder + "/"):
                sh("umount", mount)
        for loop in json.loads(sh("losetup", "--json") or '{"loopdevices": []}')["loopdevices"]:
            if (loop["back-file"] or "").startswith(self.folder + "/"):
                sh("losetup", "--detach", loop["name"])
        for name in (self.netns, self.client_netns):
            netns.delete(name)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.folder)

    def _debian_root(self):
        """A Debian root with what our packages depend on, made once from the mirror."""
        names = dependencies(self.repositories["this"])
        for wanted in self.WANTED:
            path = os.path.join(TOP, "deploy", "packages", "roots", wanted)
            with open(path, encoding="ascii") as file:
                names |= set(file.read().split())
        names_file = os.path.join(self.folder, self.WANTED[-1])
        with open(names_file, "w", encoding="ascii") as file:
            file.write("".join(name + "\n" for name in sorted(names)))
        in_root = os.path.join(TOP, "deploy", "packages", "in_root")
        try:
            return sh(in_root, self.release, names_file, "--path", stdin=subprocess.DEVNULL).strip()
        except LabError as error:
            raise NotSetUp(" ".join(str(error).split())[-300:]) from error

    def _lun(self, number):
        path = os.path.join(self.folder, f"lun{number}")
        with open(path, "wb") as file:
            file.truncate(LUN_BYTES)
        return sh("losetup", "--find", "--show", path).strip()

    def take(self, name, version):
        """The machine's apt installs that version from now on."""
        self._write(self.machines[name].root, "etc/apt/sources.list",
                    f"deb [trusted=yes] file:/srv/{version} ./\n")

    def renew(self, name):
        """Another machine in the place of this one, as it was before it was booted first."""
        machine = self.machines[name]
        machine.power_off()
        place = os.path.dirname(machine.root)
        sh("umount", "--recursive", machine.root)
        for folder in ("upper", "work"):
            shutil.rmtree(os.path.join(place, folder))
        self._make_root(name)

    def _make_root(self, name):
        place = os.path.join(self.folder, name)
        root = os.path.join(place, "root")
        for folder in ("upper", "work", "root"):
            os.makedirs(os.path.join(place, folder), exist_ok=True)
        sh("mount", "-t", "overlay", "-o", f"lowerdir={self.root},upperdir={place}/upper,"
           f"workdir={place}/work", name, root)
        # Of its own, as a case fills it up.
        var = os.path.join(root, "var")
        sh("mount", "-t", "tmpfs", "-o", f"size={VAR_BYTES}", f"{name}-var", var)
        sh("cp", "-a", os.path.join(self.root, "var", "."), var)
        self._write(root, "etc/machine-id", "")
        self._write(root, "etc/hostname", name + "\n")
        self._write(root, "etc/hosts", "127.0.0.1 localhost\n" + "".join(
            f"10.99.0.{n} c1n{n}\n" for n in (1, 2, 3)))
        self._write(root, "etc/systemd/network/10-host0.network",
                    NETWORK.format(address=f"10.99.0.{name[-1]}"))
        self._write(root, "etc/apt/sources.list",
                    f"deb [trusted=yes] file:/srv/{self.installed} ./\n")
        self._write(root, "usr/local/sbin/fence_switch", power.AGENT, 0o755)
        sh("chroot", root, "systemctl", "enable", "systemd-networkd.service")
        return root

    def _machine(self, name):
        root = self._make_root(name)
        options = [f"--bind={loop}" for loop in self.loops]
        options += [f"--bind-ro={folder}:/srv/{version}"
                    for version, folder in self.repositories.items()]
        self.machines[name] = Machine(name, root, self.cgroup, self.netns, self.bridge, options)

    @staticmethod
    def _write(root, path, text, mode=0o644):
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def carry_out(self, commands):
        """Commands of a page (pages.py)."""
        for host, command in commands:
            machine = self.machines[host]
            copied = re.fullmatch(r"scp (\w+):(\S+) \.", command)
            if copied:
                data = self.machines[copied[1]].read_file(copied[2])
                machine.write_file(os.path.basename(copied[2]), data)
            else:
                machine.run(command)
