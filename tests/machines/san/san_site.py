"""The set-up of the SAN's machines: two heads, and the array, which is etcd's witness, too."""

import os
import threading

import image
from place import Site, sh
from symlab import netns
from symlab.errors import LabError
from uml_machine import UmlMachine

HEADS = ("c1n1", "c1n2")
HOSTS = {"c1n1": 1, "c1n2": 2, "witness": 100}
LAN, SAN_A, SAN_B = 0, 1, 2  # numbers of networks
NETWORKS = {"host0": "10.98.0.", "san0": "10.98.1.", "san1": "10.98.2."}
HEAD_MIB, ARRAY_MIB = 1024, 512
LUN_BYTES, REGISTRATIONS_BYTES = 512 << 20, 8 << 20


def per_host(commands):
    """{host: [command]} of a page's [(host, command)]."""
    hosts = {}
    for host, command in commands:
        hosts.setdefault(host, []).append(command)
    return hosts


class SanSite(Site):
    """As Site; its machines are of User Mode Linux, and all of them are booted."""

    KIND = "san"
    WANTED = ("machine.txt", "san.txt")
    PAGE = "san.md"

    def _build(self, stack):
        stack.enter_context(self._alone())
        self._remove_all()
        stack.callback(self._remove_all)
        os.mkdir(self.folder, 0o700)
        install = per_host(self.page.commands("Install"))[HEADS[0]]  # of all it has the most
        install.append("apt-get -q -y install symnas-pacemaker")
        self.image = image.make(self._debian_root(), self.repositories["this"], install, HOSTS,
                                NETWORKS)
        for name in (self.netns, self.client_netns):
            netns.create(name)
        self.bridges = [f"br-{device}" for device in NETWORKS]
        for bridge in self.bridges:
            netns.create_bridge(self.netns, bridge)
        netns.connect_to_bridge(self.client_netns, "eth0", "10.98.0.200/24", self.netns,
                                self.bridges[LAN], "client")
        self._make_machines()

    def _make_machines(self):
        os.mkdir(os.path.join("/sys/fs/cgroup/unified", self.cgroup))
        disks = [self._file("registrations", REGISTRATIONS_BYTES)]
        sh("mke2fs", "-q", "-t", "ext4", disks[0])
        disks += [self._file(f"lun{number}", LUN_BYTES) for number in (0, 1)]
        for name, number in HOSTS.items():
            memory, mine = (HEAD_MIB, ()) if name in HEADS else (ARRAY_MIB, disks)
            self.machines[name] = UmlMachine(name, number, self, memory, mine)

    def _file(self, name, size):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.truncate(size)
        return path

    def boot_all(self):
        """The array first: what has to wait for its disks at boot takes long to find none."""
        for name in reversed(HOSTS):
            self.machines[name].start()
        for name in reversed(HOSTS):
            self.machines[name].wait_booted()

    def at_once(self, commands):
        """{host: output} of {host: [command]}, all hosts at the same time. The last command of a
        host may fail; LabError if another one does."""
        outputs, errors = {}, []

        def run(host, lines):
            try:
                for line in lines:
                    outputs[host] = self.machines[host].run(line, check=line is not lines[-1])
            except LabError as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=one) for one in commands.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in errors:
            raise error
        return outputs

    def part_heads(self, parted):
        """Whether the heads hear nothing of each other, in all networks, but all others."""
        state = "on" if parted else "off"
        for head in HEADS:
            for tap in self.machines[head].taps:
                sh("nsenter", f"--net=/run/netns/{self.netns}", "bridge", "link", "set", "dev", tap,
                   "isolated", state)
