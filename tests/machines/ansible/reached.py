"""Machines that ansible-playbook reaches by ssh, as a control host would."""

import json
import os
import re
import shutil
import subprocess

from place import TOP, Site, sh
from symlab.errors import LabError

PLAYBOOKS = os.path.join(TOP, "deploy", "ansible")
RUN_S = 280.0
REPOSITORY = "/srv/symnas"  # in a machine: what its apt installs from
SECRET = "of-the-power-switch"


class ReachedSite(Site):
    """A site with sshd and python in its machines, a key of this run, and an inventory.

    variables: of the inventory's group; heads: the names in it. Cases change both.
    """

    KIND = "ansible"
    WANTED = ("machine.txt", "ansible.txt")

    def _build(self, stack):
        super()._build(stack)
        self.heads = ["c1n1", "c1n2"]
        self.variables = {
            "ansible_user": "root",
            "symnas_cluster": "prod",
            "symnas_repository": f"file:{REPOSITORY} ./",
            "symnas_repository_trusted": True,
            "symnas_lun_paths": ["/dev/loop*"],
            "symnas_fence_agent": "/usr/local/sbin/fence_switch",
            "symnas_fence_cuts": "power",
            "symnas_fence_options": {"passwd": SECRET},
            "symnas_networks": [{"name": "nfs0", "device": "host0"}],
            "symnas_luns": [{"name": f"LUN{number}", "path": loop}
                            for number, loop in enumerate(self.loops)],
            "symnas_volumes": [{"name": "v1", "luns": ["LUN0", "LUN1"], "stripe_unit": "1M"}],
            "symnas_filesystems": [{"name": "data", "volume": "v1", "mode": "1777"}],
            "symnas_exports": [{"name": "data", "filesystem": "data", "clients": ["*"],
                                "squash": "none"}],
            "symnas_vnfs": [{"name": "vnfs1", "vips": ["10.99.0.101/24"], "networks": ["nfs0"],
                             "exports": ["data"]}],
        }

    def _make_root(self, name):
        root = super()._make_root(name)
        key = os.path.join(self.folder, "key")
        if not os.path.exists(key):
            sh("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        folder = os.path.join(root, "root", ".ssh")
        os.makedirs(folder, 0o700, exist_ok=True)
        shutil.copy(key + ".pub", os.path.join(folder, "authorized_keys"))
        os.symlink("this", os.path.join(root, REPOSITORY.lstrip("/")))
        self._write(root, "etc/apt/sources.list", "")  # the role names the repository
        with open(os.path.join(root, "etc/ssh/ssh_host_ed25519_key.pub"), encoding="ascii") as file:
            host_key = " ".join(file.read().split()[:2])
        with open(os.path.join(self.folder, "known_hosts"), "a", encoding="ascii") as file:
            file.write(f"10.99.0.{name[-1]} {host_key}\n")
        return root

    def bring(self, version):
        """The repository of all machines has that version from now on."""
        for machine in self.machines.values():
            machine.run(f"ln -sfn {version} {REPOSITORY}")

    def play(self, book, *options):
        """Runs a playbook of deploy/ansible; returns a Played."""
        addresses = {name: f"10.99.0.{name[-1]}" for name in self.heads}
        inventory = {"symnas": {
            "hosts": {name: {"ansible_host": address, "symnas_address": address}
                      for name, address in addresses.items()},
            "vars": self.variables}}
        path = os.path.join(self.folder, "inventory.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(inventory, file)
        environment = {
            **os.environ, "ANSIBLE_HOME": os.path.join(self.folder, "ansible"),
            "ANSIBLE_PRIVATE_KEY_FILE": os.path.join(self.folder, "key"),
            "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=20s "
                                f"-o UserKnownHostsFile={self.folder}/known_hosts",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": os.path.join(self.folder, "cp"),
            "ANSIBLE_PIPELINING": "1", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_NOCOWS": "1"}
        try:
            done = subprocess.run(
                ["nsenter", f"--net=/run/netns/{self.netns}", "ansible-playbook", "-i", path,
                 os.path.join(PLAYBOOKS, book), *options], env=environment, text=True,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=RUN_S)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{book}: not done after {RUN_S:g} s: {error.stdout[-2000:]}") from error
        return Played(book, done.returncode, done.stdout + done.stderr)


class Played:
    """What a playbook has printed. changed: tasks, of all heads."""

    def __init__(self, book, code, text):
        self.book, self.code, self.text = book, code, text
        self.changed = sum(map(int, re.findall(r"(?m)^\S+ +: ok=\d+ +changed=(\d+)", text)))

    def succeeded(self):
        """Itself; LabError if it has failed."""
        if self.code:
            raise LabError(f"{self.book} ended with {self.code}: {self.text[-3000:]}")
        return self

    def refused(self, words):
        """LabError unless it has failed and said so."""
        said = re.sub(r"\s+", " ", self.text)
        if not self.code or words not in said:
            raise LabError(f"{self.book} ended with {self.code}, and did not say '{words}': "
                           f"{self.text[-3000:]}")
