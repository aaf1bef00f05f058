"""Kerberos in the lab of a site: a KDC, the VNFS's keytab, an export that takes one flavor, users
whom the heads know, and a client VM that has the machine's keytab and a ticket of each user.

Thread class: confined to one thread.
"""

import os
import shutil

import kerberos_disk
from symlab import kdc, processes
from symlab.service import EXPORT, VIP, VNFS

# The users of the cases (cases/case.h); each is in the group of its own number.
USERS = {f"user{uid}": uid for uid in (1000, 1001, 1002)}
PASSWORD = "of no value"
PASSWD = "{name}:x:{uid}:{uid}::/tmp:/bin/sh"
GROUP = "{name}:x:{uid}:"
TICKET = """
echo '{passwd}' >> /etc/passwd && echo '{group}' >> /etc/group
echo '{password}' | kinit -c /tmp/krb5cc_{uid} {name} >/dev/null && chown {uid} /tmp/krb5cc_{uid}
"""


class Secured:
    def __init__(self, lab, flavor):
        self.lab = lab
        self.flavor = flavor
        self.kdc = kdc.Kdc(lab)
        self.kdc.create()
        for name in USERS:
            self.kdc.add_principal(name, PASSWORD)
        self._make_users_known()
        lab.symnas()("vnfs", "keytab", "set", VNFS, "--file", self.kdc.add_server(VNFS))
        lab.symnas()("export", "set", EXPORT, "--sec", flavor)
        kerberos_disk.add_client(self.kdc)

    def _make_users_known(self):
        """The heads get name services with the users; the VNFS is served by another instance."""
        etc = os.path.join(self.lab.directory, "etc")
        shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True)
        for file, line in (("passwd", PASSWD), ("group", GROUP)):
            with open(os.path.join(etc, file), "a", encoding="utf-8") as out:
                out.writelines(line.format(name=name, uid=uid) + "\n"
                               for name, uid in USERS.items())
        for head in self.lab.state.data["heads"]:
            processes.stop(self.lab.process(f"vnfsd.{head['name']}"), 0)
            self.lab.start_vnfsd(head["name"], binds=[(etc, "/etc")])
        self.lab.symnas()("vnfs", "restart", VNFS)

    def disk(self, client):
        return kerberos_disk.make(self.kdc.directory, {client: kerberos_disk.CLIENT,
                                                       VIP: kdc.host_name(VNFS)})

    def start_script(self, device):
        """Of a VM with that disk."""
        tickets = [TICKET.format(name=name, uid=uid, password=PASSWORD,
                                 passwd=PASSWD.format(name=name, uid=uid),
                                 group=GROUP.format(name=name, uid=uid))
                   for name, uid in USERS.items()]
        start = kerberos_disk.start_script(self.kdc).replace("/dev/vda", device)
        return "\n".join([start, *tickets])
