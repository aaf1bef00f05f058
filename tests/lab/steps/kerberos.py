"""A KDC in a lab, VNFSs with keytabs, and a Linux client with tickets.

Thread class: confined to one thread.
"""

import contextlib
import os
import struct

import kerberos_disk
from lab_case import Skip, check
from symlab.cluster import NFS_BRIDGE
from symlab.errors import LabError
from symlab.kdc import Kdc, host_name
from uml_client import UmlClient
from uml_vm import UmlVm

NAME = "krb1"
ADDRESS = "10.0.0.206"
# Of the machine on which the lab runs: heads look users up there. (name, uid)
USER = ("daemon", 1)
PASSWORD = "of no value"
VIPS = {f"10.0.0.{100 + number}": host_name(f"vnfs{number}") for number in range(1, 5)}
VERSIONS = {"v3": "vers=3,lock", "v41": "vers=4.1", "v42": "vers=4.2"}
FLAVORS = ("krb5", "krb5i", "krb5p")


def kdc_of(bench):
    """The lab's KDC, made when a case first asks for it."""
    try:
        kdc = Kdc(bench.lab)
    except LabError as error:
        raise Skip(str(error)) from error
    kdc.create()
    return kdc


def give_keytab(bench, kdc, vnfs):
    """A principal and a keytab for a VNFS that has none."""
    rows = bench.symnas.json("vnfs", "ls")["vnfs"]
    if next(row for row in rows if row["name"] == vnfs)["keytab"]:
        return
    bench.symnas("vnfs", "keytab", "set", vnfs, "--file", kdc.add_server(vnfs))


@contextlib.contextmanager
def secured(bench, export, flavors):
    """The export takes these flavors until the body ends."""
    bench.symnas("export", "set", export, "--sec", flavors)
    try:
        yield
    finally:
        bench.symnas("export", "set", export, "--sec", "sys")


class KerberosClient(UmlClient):
    """A client VM with a machine's keytab and rpc.gssd; tickets of users by become()."""

    def mount_with(self, flavor, version, vip, export, point=None):
        """Mounts; returns the path. Fails as run() does."""
        point = point or f"/mnt/{version}{flavor}"
        self.run(f"guest_statd; mkdir -p {point} && nfsmount -o {VERSIONS[version]},sec={flavor},"
                 f"actimeo=0 {vip}:/{export} {point}", 90.0)
        return point

    def refused_mount(self, options, vip, export, within_s):
        """The mount fails in time; returns what was said."""
        result = self.vm.run(f"mkdir -p /mnt/refused; nfsmount -o {options} {vip}:/{export} "
                             "/mnt/refused && umount /mnt/refused && echo mounted", within_s)
        check(result.status not in (0, 124) and "mounted" not in result.output,
              f"a mount with {options} ended with {result.status}: {result.output}")
        return result.output.strip()

    def restart_gssd(self):
        """Forgets every ticket."""
        self.run("kill $(pidof rpc.gssd) 2>/dev/null; sleep 0.2; rm -f /tmp/krb5cc*; "
                 + kerberos_disk.GSSD.format(more=""))

    def become(self, life=""):
        """A ticket for USER, of that length."""
        name, uid = USER
        self.run(f"echo '{PASSWORD}' | kinit {life} -c /tmp/krb5cc_{uid} {name} >/dev/null && "
                 f"chown {uid} /tmp/krb5cc_{uid}")

    def as_user(self, script):
        """The script's words for run(): carried out as USER."""
        return f"su -s /bin/sh {USER[0]} -c '{script}'"


@contextlib.contextmanager
def kerberos_client(bench, kdc):
    folder = os.path.join(kdc.directory, "client")
    os.makedirs(folder, exist_ok=True)
    disk = kerberos_disk.make(folder, {ADDRESS: kerberos_disk.CLIENT, **VIPS})
    if not os.path.exists(kdc.path(kerberos_disk.CLIENT_KEYTAB)):
        kdc.add_principal(USER[0], PASSWORD)
    kerberos_disk.add_client(kdc)
    vm = UmlVm(NAME, bench.lab.vm_root())
    vm.stop()
    vm.start(f"{ADDRESS}/24", NFS_BRIDGE, bench.lab.hub_netns, disks=[disk],
             cgroup=bench.lab.cgroup())
    client = KerberosClient(vm, "")
    try:
        name, uid = USER
        client.run(f"echo '{name}:x:{uid}:{uid}::/:/bin/sh' >> /etc/passwd\n"
                   f"echo '{name}:x:{uid}:' >> /etc/group\n" + kerberos_disk.start_script(kdc))
        yield client
    finally:
        vm.stop()


def keytab_of(*entries):
    """The bytes of a keytab. entries: (principal without realm, realm, kvno, enctype, key)."""
    def counted(data):
        return struct.pack(">H", len(data)) + data
    out = b"\x05\x02"
    for principal, realm, kvno, enctype, key in entries:
        parts = principal.split("/")
        body = struct.pack(">H", len(parts)) + counted(realm.encode())
        body += b"".join(counted(part.encode()) for part in parts)
        body += struct.pack(">IIBH", 1, 1_700_000_000, kvno & 0xff, enctype) + counted(key)
        body += struct.pack(">I", kvno)
        out += struct.pack(">i", len(body)) + body
    return out
