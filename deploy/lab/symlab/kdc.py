"""A Kerberos KDC of Debian in a namespace of the lab, its realm, principals and keytabs.

Namespace `<prefix>-kdc`: eth1 10.0.0.250. Programs: `deploy/setup/setup kerberos`, unpacked in the
cache. The realm's database and the master key's stash lie in the lab's directory, and go with it.

Thread class: confined to one thread.
"""

import os
import secrets
import socket
import subprocess

from . import netns, processes
from .errors import LabError
from .wait import eventually

REALM = "SYMNAS.LAB"
DOMAIN = "symnas.lab"
ADDRESS = "10.0.0.250"
PORT = 88
PROCESS = "kdc"
READY_S = 20.0
STOP_S = 3.0
TOOL_S = 30.0
# How long a ticket lives unless a principal has a shorter life of its own.
TICKET_LIFE = "10h"

KRB5_CONF = f"""[libdefaults]
  default_realm = {REALM}
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = {TICKET_LIFE}
[realms]
  {REALM} = {{
    kdc = {ADDRESS}:{PORT}
  }}
[domain_realm]
  .{DOMAIN} = {REALM}
  {DOMAIN} = {REALM}
"""


def programs_dir():
    root = os.path.join(os.environ.get("SYMNAS_CACHE", "/var/cache/symnas"), "kerberos")
    if not os.path.exists(os.path.join(root, "usr/sbin/krb5kdc")):
        raise LabError(f"no usr/sbin/krb5kdc under {root}: run `deploy/setup/setup kerberos` first")
    return root


def library_dir(root):
    return os.path.join(root, "usr/lib/x86_64-linux-gnu")


def host_name(vnfs):
    """The name by which clients of the lab mount a VNFS with Kerberos."""
    return f"{vnfs}.{DOMAIN}"


class Kdc:
    """The lab's KDC, running or not."""

    def __init__(self, lab):
        self.lab = lab
        self.root = programs_dir()
        self.directory = os.path.join(lab.directory, "kdc")

    @property
    def netns(self):
        return f"{self.lab.prefix}-kdc"

    def path(self, name):
        return os.path.join(self.directory, name)

    def create(self):
        """Makes namespace and realm, and starts the KDC. Does nothing if it is there."""
        if os.path.isdir(self.directory):
            return
        self.lab.make_netns(self.netns)
        netns.connect_to_bridge(self.netns, "eth1", f"{ADDRESS}/24", self.lab.hub_netns, "br-nfs",
                                "kdc-nfs")
        os.makedirs(self.directory, mode=0o700)
        plugins = os.path.join(library_dir(self.root), "krb5/plugins/kdb")
        self._write("krb5.conf", KRB5_CONF + f"""[dbdefaults]
  database_module = db
[dbmodules]
  db_module_dir = {plugins}
  db = {{
    db_library = db2
  }}
""")
        self._write("kdc.conf", f"""[kdcdefaults]
  kdc_listen = {PORT}
  kdc_tcp_listen = {PORT}
[realms]
  {REALM} = {{
    database_name = {self.path('principal')}
    key_stash_file = {self.path('stash')}
    acl_file = {self.path('acl')}
    max_life = {TICKET_LIFE}
    supported_enctypes = aes256-cts:normal aes128-cts:normal
  }}
[logging]
  kdc = FILE:{self.path('kdc.log')}
""")
        # The master key's password is asked for twice; nobody needs it again.
        password = secrets.token_hex(16)
        self._run("kdb5_util", "create", "-s", "-r", REALM, text=f"{password}\n{password}\n")
        self.start()

    def start(self):
        record = processes.spawn([self._program("krb5kdc"), "-n"], self.path("krb5kdc.out"),
                                 netns=self.netns, cgroup=self.lab.cgroup(), env=self._env())
        self.lab.state.note_process(PROCESS, record)
        eventually(READY_S, "the KDC answers", self._answers)

    def stop(self):
        processes.stop(self.lab.process(PROCESS), STOP_S)

    def add_principal(self, principal, password=None, life=None):
        """password: None gives it a random key; life: of its tickets, as "20 seconds"."""
        words = ["addprinc"]
        if life:
            words += ["-maxlife", f'"{life}"']
        words += ["-randkey"] if password is None else ["-pw", f'"{password}"']
        self._kadmin(f"{' '.join(words)} {principal}")

    def set_life(self, principal, life):
        self._kadmin(f'modprinc -maxlife "{life}" {principal}')

    def keytab(self, name, *principals, new_keys=True):
        """Writes the principals' keys to a keytab file and returns its path. new_keys: makes new
        ones, with the next kvno; False adds those that are there."""
        path = self.path(name)
        if not new_keys and os.path.exists(path):
            os.remove(path)
        for principal in principals:
            self._kadmin(f"ktadd -q -k {path} {'' if new_keys else '-norandkey '}{principal}")
        return path

    def add_server(self, vnfs):
        """A principal for a VNFS; returns the path of its keytab."""
        principal = f"nfs/{host_name(vnfs)}"
        self.add_principal(principal)
        return self.keytab(f"{vnfs}.keytab", principal)

    # --- details

    def _write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def _program(self, name):
        return os.path.join(self.root, "usr/sbin", name)

    def _env(self):
        return {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": library_dir(self.root),
                "KRB5_CONFIG": self.path("krb5.conf"),
                "KRB5_KDC_PROFILE": self.path("kdc.conf")}

    def _kadmin(self, query):
        """One query of kadmin.local, on its standard input: passwords are no arguments."""
        output = self._run("kadmin.local", "-r", REALM, text=query + "\n")
        complaints = [line for line in output.splitlines()
                      if " while " in line or line.startswith("usage:")]
        if complaints:
            raise LabError(f"kadmin.local: {' '.join(complaints)}")

    def _run(self, program, *args, text=""):
        result = subprocess.run([self._program(program), *args], input=text, text=True,
                                capture_output=True, env=self._env(), timeout=TOOL_S)
        if result.returncode != 0:
            raise LabError(f"{program} {' '.join(args)}: {result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def _answers(self):
        try:
            with netns.entered(self.netns), socket.create_connection((ADDRESS, PORT), 2.0):
                return True
        except OSError as error:
            raise LabError(f"the KDC at {ADDRESS}: {error.strerror}") from error
