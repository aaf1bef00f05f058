"""A volume, filesystem, export and VNFS on a lab, made with the commands of the documentation."""

import json
import os
import subprocess

from . import client_networks, product
from .errors import LabError
from .wait import eventually

VNFS = "vnfs1"
EXPORT = "u04"
VIP = "10.0.0.101"
READY_S = 60.0


class Service:
    """What clients of a lab use: VNFS `vnfs1`, export `u04`, VIP 10.0.0.101."""

    def __init__(self, lab):
        self.lab = lab
        self.url = f"nfs://{VIP}/{EXPORT}"

    def commands(self):
        """The CLI calls that make the service, in order."""
        luns = self.lab.state.data["luns"]
        names = ",".join(lun["name"] for lun in luns)
        heads = ",".join(head["name"] for head in self.lab.state.data["heads"])
        return [
            ["network", "create", "nfs0", "--device", "eth1"],
            ["lun", "import", *(f"{lun['name']}={lun['path']}" for lun in luns)],
            ["volume", "create", "v1", "--luns", names, "--stripe-unit", "256K"],
            ["fs", "create", EXPORT, "--volume", "v1"],
            # The clients of a lab are root and own what they make.
            ["export", "create", EXPORT, "--fs", EXPORT, "--path", "/",
             "--clients", "10.0.0.0/24", "--access", "rw", "--squash", "none"],
            ["vnfs", "create", VNFS, "--vip", f"{VIP}/24", "--network", "nfs0",
             "--exports", EXPORT, "--heads", heads],
        ]

    def create(self):
        for command in self.commands():
            self.lab.symnas()(*command)
        self.wait_serving()

    def vnfs(self, name=VNFS):
        for vnfs in self.lab.symnas().json("status").get("vnfs", []):
            if vnfs["name"] == name:
                return vnfs
        raise LabError(f"`symnas status` shows no {name}")

    def serving(self, name=VNFS):
        """The instance ({pid, epoch, restarts, ...}) if it serves, else None."""
        vnfs = self.vnfs(name)
        if vnfs["state"] != "serving" or not vnfs.get("instance", {}).get("pid"):
            error = vnfs.get("instance", {}).get("error", "")
            raise LabError(f"{name} is {vnfs['state']}{': ' if error else ''}{error}")
        return vnfs["instance"]

    def wait_serving(self, name=VNFS, other_than=0):
        """Waits for an instance with another pid than `other_than`; returns it."""
        def found():
            instance = self.serving(name)
            return instance if instance["pid"] != other_than else None
        return eventually(READY_S, f"{name} serves", found)

    # --- user-space clients in the client namespace

    def start_tool(self, name, *args, url=None, where="client"):
        """Starts a client program of tests/client (in Lab.space_of); its output is piped."""
        words = [product.program(name), *args, "--url", url or self.url]
        return self.lab.popen_in(where, words, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)

    def run_tool(self, name, *args, timeout_s=120.0, url=None, where="client"):
        """Runs a client program to its end and returns its standard output."""
        process = self.start_tool(name, *args, url=url, where=where)
        return finish_tool(process, timeout_s)


class HeadService(Service):
    """The VNFS of one head, with its own filesystem on its own LUN.

    Head n: VNFS `vnfs<n>`, volume `v<n>` on LUN<n-1>, export `u<n>`, VIP 10.0.0.100+n.
    """

    def __init__(self, lab, number, backups=False):
        super().__init__(lab)
        self.number = number
        self.home = self.head = f"c1n{number}"
        self.backups = backups
        self.name = f"vnfs{number}"
        self.filesystem = f"u{number}"
        self.vip = f"10.0.0.{100 + number}"
        self.url = f"nfs://{self.vip}/{self.filesystem}"

    @classmethod
    def network_commands(cls):
        return [["network", "create", "nfs0", "--device", "eth1"]]

    def commands(self):
        """The CLI calls that make it, on a lab whose network and LUNs exist."""
        return [
            ["volume", "create", f"v{self.number}", "--luns", f"LUN{self.number - 1}",
             "--stripe-unit", "256K"],
            ["fs", "create", self.filesystem, "--volume", f"v{self.number}"],
            ["export", "create", self.filesystem, "--fs", self.filesystem,
             "--clients", "10.0.0.0/24", "--squash", "none"],
            self.vnfs_command(),
        ]

    def vnfs_command(self):
        heads = [self.home]
        if self.backups:
            others = [head["name"] for head in self.lab.state.data["heads"]]
            at = others.index(self.home)
            heads = others[at:] + others[:at]
        return ["vnfs", "create", self.name, "--vip", f"{self.vip}/24", "--network", "nfs0",
                "--exports", self.filesystem, "--heads", ",".join(heads)]

    def rehost(self, head):
        """Moves it to another head, by an order to the head that it is on."""
        self.lab.symnas(self.head)("vnfs", "rehost", self.name, head)
        self.head = head

    def vnfs(self, name=None):
        """The VNFS as its own head shows it: other heads do not know its pid."""
        for vnfs in self.lab.symnas(self.head).json("status").get("vnfs", []):
            if vnfs["name"] == (name or self.name):
                return vnfs
        raise LabError(f"`symnas status` on {self.head} shows no {name or self.name}")

    def serving(self, name=None):
        return super().serving(name or self.name)

    def wait_serving(self, name=None, other_than=0):
        return super().wait_serving(name or self.name, other_than)


class SharedService(HeadService):
    """The VNFS of one head; all of them export the same filesystem `u04` on all LUNs."""

    def __init__(self, lab, number, backups=False):
        super().__init__(lab, number, backups)
        self.filesystem = EXPORT
        self.url = f"nfs://{self.vip}/{EXPORT}"

    def commands(self):
        luns = ",".join(lun["name"] for lun in self.lab.state.data["luns"])
        if self.number > 1:
            return [self.vnfs_command()]
        return [["volume", "create", "v1", "--luns", luns, "--stripe-unit", "256K"],
                ["fs", "create", EXPORT, "--volume", "v1"],
                ["export", "create", EXPORT, "--fs", EXPORT, "--clients", "10.0.0.0/24",
                 "--squash", "none"],
                self.vnfs_command()]


class NetworksService(SharedService):
    """As SharedService, in a lab with four networks: four VIPs, of both families.

    nfs1 (eth1) has IPv4, nfs2 IPv6, nfs3 IPv4, nfs4 IPv6; each a router for either family. The last
    VNFS has no VIP in nfs4, but two in nfs3.
    """

    NETWORKS = 4
    CLIENTS = ("10.0.0.0/24", "10.0.2.0/24", "10.0.9.0/24", "fd00:0:0:1::/64",
               f"{client_networks.address6(2, client_networks.CLIENT_HOST)}", "fd00:0:0:3::/64",
               "fd00:0:0:4::/64", "fd00:0:0:9::/64")

    def __init__(self, lab, number, backups=False):
        super().__init__(lab, number, backups)
        host = 100 + number
        last = 3 if number == len(lab.state.data["heads"]) else 4
        self.vips = {client_networks.address(1, host): ("nfs1", 1),
                     client_networks.address6(2, host): ("nfs2", 2),
                     client_networks.address(3, host): ("nfs3", 3),
                     client_networks.address6(last, host): (f"nfs{last}", last)}

    def url_of(self, vip):
        return f"nfs://{vip}/{self.filesystem}"

    @classmethod
    def network_commands(cls):
        router = client_networks.ROUTER_HOST
        return [["network", "create", f"nfs{number}", "--device", client_networks.device(number),
                 "--gateway", f"{client_networks.address(number, router)},"
                 f"{client_networks.address6(number, router)}"]
                for number in range(1, cls.NETWORKS + 1)]

    def commands(self):
        if self.number > 1:
            return [self.vnfs_command()]
        *first, _, _ = super().commands()
        return [*first, ["export", "create", EXPORT, "--fs", EXPORT, "--squash", "none",
                         "--clients", ",".join(self.CLIENTS)], self.vnfs_command()]

    def vnfs_command(self):
        words = super().vnfs_command()
        at = words.index("--vip")
        del words[at:at + 4]
        for vip, (network, _) in self.vips.items():
            words += ["--vip", f"{vip}/{64 if ':' in vip else 24}", "--network", network]
        return words


def create_head_services(lab, kind=HeadService, backups=False):
    """Makes a serving service of that kind for every head of the lab. backups: all other heads, in
    turn."""
    luns = lab.state.data["luns"]
    for command in kind.network_commands():
        lab.symnas()(*command)
    lab.symnas()("lun", "import", *(f"{lun['name']}={lun['path']}" for lun in luns))
    services = [kind(lab, n + 1, backups) for n in range(len(lab.state.data["heads"]))]
    for service in services:
        service.create()
    return services


def finish_tool(process, timeout_s):
    """Waits for a started tool; returns its standard output. LabError: it failed."""
    name = os.path.basename(process.args[0])
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise LabError(f"{name} has not ended after {timeout_s:g} s") from error
    if process.returncode != 0:
        raise LabError(f"{' '.join(process.args)} ended with {process.returncode}:\n{out}{err}")
    return out


def last_json(text):
    """The JSON document in the last line of a tool's output."""
    return json.loads(text.strip().splitlines()[-1])


def wait_for_line(process, beginning):
    """Reads a started tool's output until a line begins so. LabError: the tool ends before that."""
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    raise LabError(f"{process.args[0]} ended before it said '{beginning}':\n"
                   + process.stderr.read())
