"""Callers with Kerberos that speak NFS themselves (tests/client/gss_calls.py).

Thread class: confined to one thread.
"""

import contextlib
import os

from gss_calls import GssConnection
from steps.kerberos import give_keytab, kdc_of
from symlab.kdc import REALM, host_name
from symlab.service import VIP, VNFS


class Callers:
    """Makes principals of the lab's realm, and connections of them."""

    def __init__(self, kdc):
        self.kdc = kdc
        self.keytabs = {}

    def connect(self, name, flavor="krb5", **where):
        """A connection of that principal, which is made when it is first named. where: as
        GssConnection's, if it is not NFS."""
        if name not in self.keytabs:
            path = self.kdc.path(f"caller{len(self.keytabs)}.keytab")
            if os.path.exists(path):
                os.remove(path)
            with contextlib.suppress(Exception):
                self.kdc.add_principal(name)  # an earlier case has made it
            self.keytabs[name] = self.kdc.keytab(os.path.basename(path), name)
        return GssConnection(VIP, f"nfs/{host_name(VNFS)}@{REALM}", f"{name}@{REALM}",
                             self.keytabs[name], flavor, **where)


@contextlib.contextmanager
def callers(bench):
    """REQUIRES of what is connected: the calling thread is in the client's network."""
    kdc = kdc_of(bench)
    give_keytab(bench, kdc, VNFS)
    before = os.environ.get("KRB5_CONFIG")
    os.environ["KRB5_CONFIG"] = kdc.path("krb5.conf")
    made = Callers(kdc)
    try:
        yield made
    finally:
        if before is None:
            del os.environ["KRB5_CONFIG"]
        else:
            os.environ["KRB5_CONFIG"] = before
