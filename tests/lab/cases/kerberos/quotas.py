"""RQUOTA asked with Kerberos: who the caller is then, and that weaker flavors are not answered."""

from lab_case import check, eventually, lab_test
from nfs4_wire import opaque, u32
from rpc_wire import Rejected, Rpc, auth_sys
from steps.gss import callers
from steps.kerberos import secured
from steps.name_services import USER, name_services
from steps.nfs4 import expect
from steps.rpc import RQUOTA, RQUOTA_PORT, from_client
from steps.user_quotas import counted
from symlab.service import EXPORT, VIP

OK, EPERM = 1, 3  # qr_status
GETQUOTA = 1
USER_KIND = 0
OTHER = 1002
ANSWERED_S = 60.0
WHERE = {"port": RQUOTA_PORT, "program": (RQUOTA, 2)}


def status(connection, uid):
    """qr_status; None: no answer, as while the caller's name is looked up."""
    arguments = opaque(f"/{EXPORT}") + u32(USER_KIND, uid)
    try:
        return connection.call(RQUOTA, 2, GETQUOTA, arguments).u32()
    except Rejected as rejected:
        return rejected.how


@lab_test("operations/quotas.md", "operations/kerberos.md")
def rquota_with_kerberos(bench):
    """A user with a ticket is told of himself, a machine of everybody, a caller without Kerberos,
    or with less than the export wants, of nobody."""
    with name_services(bench), callers(bench) as made, secured(bench, EXPORT, "krb5p"), \
            counted(bench):
        for uid in (USER, OTHER):
            bench.symnas("quota", "set", EXPORT, "--user", str(uid), "--bytes", "8M")
        with from_client(bench):
            user = made.connect("symnas-user", "krb5p", **WHERE)
            machine = made.connect("nfs/wire1", "krb5p", **WHERE)
            eventually(ANSWERED_S, "the user is told", lambda: status(user, USER) == OK)
            expect(status(user, OTHER), EPERM, "a user who asks about another one")
            for uid in (USER, OTHER):
                expect(status(machine, uid), OK, "a machine that asks about a user")
            weak = Rpc(VIP, RQUOTA_PORT)
            for uid in (0, USER):
                weak.credential = auth_sys(uid, uid)
                check(status(weak, USER) != OK, "a caller without Kerberos is told")
            check(status(made.connect("symnas-user", "krb5i", **WHERE), USER) != OK,
                  "a caller with krb5i is told what the export has under krb5p")
        for uid in (USER, OTHER):
            bench.symnas("quota", "rm", EXPORT, "--user", str(uid))
