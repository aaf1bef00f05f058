"""Which operation says that a flavor is wrong, and who is told the flavors (RFC 8881 2.6.3.1.1)."""

import os

import nfs4_ops as ops
from lab_case import lab_test
from nfs4_results import Connection
from steps.exports import another_export
from steps.gss import callers
from steps.kerberos import secured
from steps.nfs4 import Holder, expect, root_of
from steps.rpc import from_client
from symlab.service import EXPORT, VIP

CALLER = "nfs/wire1"  # a machine: root
SYS, GSS = 1, 6
CURRENT, PARENT = 0, 1  # secinfo_style4
WRONG = "WRONGSEC"
PUTROOTFH, SAVEFH, GETFH = ops.putrootfh(), ops.savefh(), ops.getfh()


class Caller:
    """COMPOUNDs of one minor version; with a session of its own from 1 on."""

    def __init__(self, connection, minor):
        self.minor = minor
        self.connection = connection
        self.holder = None
        if minor:
            self.holder = Holder(connection, f"secinfo {os.urandom(4).hex()}", os.urandom(8))
            self.holder.ask(ops.reclaim_complete())
        self.client_id = self.holder.client_id if minor else 0

    def statuses(self, *operations):
        """Of each operation that was carried out; what the last one has answered."""
        found = self.holder.ask(*operations) if self.minor \
            else self.connection.compound(0, *operations)
        results = found.results[1:] if self.minor else found.results
        return [result.status for result in results], results[-1].value if results else None

    def expect(self, wanted, *operations):
        """wanted: the statuses, with spaces between them; returns what the last one answers."""
        seen, value = self.statuses(*operations)
        expect(seen, wanted.split(), f"v4.{self.minor}: {[number for number, _ in operations]}")
        return value

    def open(self, claim):
        """For reading."""
        return ops.open_(claim, self.client_id, "o", 1 | ops.NO_DELEGATION)

    def leave(self):
        if self.holder:
            self.holder.leave()


def tree_of(caller):
    """Handles of the export, of a folder in it, and of a file in that."""
    where = [PUTROOTFH, ops.lookup(EXPORT)]
    export = caller.expect("OK OK OK", *where, GETFH)
    folder = caller.expect("OK OK OK OK", *where, ops.create(ops.DIR, "told"), GETFH)
    opened = caller.expect("OK OK", ops.putfh(folder), ops.open_(
        ops.claim_null("file"), caller.client_id, "o", ops.BOTH | ops.NO_DELEGATION,
        how=ops.unchecked()))
    file = caller.expect("OK OK OK", ops.putfh(folder), ops.lookup("file"), GETFH)
    caller.holder.opened = file, opened.stateid  # until it leaves
    return export, folder, file


def remove_tree(caller, export, folder):
    caller.expect("OK OK", ops.putfh(folder), ops.remove("file"))
    caller.expect("OK OK", ops.putfh(export), ops.remove("told"))


@lab_test("operations/kerberos.md")
def flavors_are_wrong_where_the_rfc_says(bench):
    """NFSv4.1, an export of krb5p: PUTFH leaves WRONGSEC to LOOKUP, LOOKUPP and OPEN by name, and
    says it before everything else; SECINFO and SECINFO_NO_NAME are answered, and leave no
    filehandle."""
    with callers(bench) as made, secured(bench, EXPORT, "krb5p"), from_client(bench):
        strong = Caller(made.connect(CALLER, "krb5p"), 1)
        export, folder, file = tree_of(strong)
        for connection in (Connection(VIP), made.connect(CALLER, "krb5i")):
            weak = Caller(connection, 1)
            names_are_refused(weak, export, folder)
            handles_are_refused(weak, folder, file)
            flavors_are_told(weak, export, folder)
            weak.leave()
        flavors_are_told(strong, export, folder)
        strong.expect("OK OK OK", ops.putfh(folder), SAVEFH, ops.lookup("file"))
        remove_tree(strong, export, folder)
        strong.leave()


def names_are_refused(weak, export, folder):
    for name in ("told", "nobody"):
        weak.expect(f"OK {WRONG}", ops.putfh(export), ops.lookup(name))
        weak.expect(f"OK {WRONG}", ops.putfh(export), weak.open(ops.claim_null(name)))
    weak.expect(f"OK {WRONG}", ops.putfh(folder), ops.open_(
        ops.claim_null("new"), weak.client_id, "o", ops.BOTH | ops.NO_DELEGATION,
        how=ops.unchecked()))
    weak.expect(f"OK {WRONG}", ops.putfh(folder), ops.lookupp())
    weak.expect("OK OK OK", ops.putfh(export), ops.lookupp(), GETFH)  # the root of all exports


def handles_are_refused(weak, folder, file):
    weak.expect("OK", ops.putfh(file))
    weak.expect("OK OK OK", ops.putfh(file), PUTROOTFH, ops.getattr_(1))
    for operation in (ops.getattr_(1), GETFH, SAVEFH, ops.read(ops.ANONYMOUS),
                      weak.open(ops.CLAIM_FH), ops.setattr_({}), ops.access(1)):
        weak.expect(WRONG, ops.putfh(file), operation)
        weak.expect(f"OK {WRONG}", ops.putfh(folder), ops.putfh(file), operation)
    weak.expect(WRONG, ops.putfh(folder), ops.readdir())
    weak.expect(WRONG, ops.putfh(folder), SAVEFH, PUTROOTFH, ops.restorefh(), ops.getattr_(1))


def flavors_are_told(caller, export, folder):
    for asked in ((ops.putfh(export), ops.secinfo("told")),
                  (ops.putfh(folder), ops.secinfo_no_name(CURRENT)),
                  (ops.putfh(folder), ops.secinfo_no_name(PARENT)),
                  (PUTROOTFH, ops.secinfo(EXPORT))):
        expect(caller.expect("OK OK", *asked), [GSS], "flavors")
        for operation in (GETFH, ops.read(ops.ANONYMOUS), ops.lookup("file"), SAVEFH):
            caller.expect("OK OK NOFILEHANDLE", *asked, operation)
    caller.expect("OK NOENT", ops.putfh(export), ops.secinfo("nobody"))
    told = caller.expect("OK OK", ops.putfh(export), ops.secinfo_no_name(PARENT))
    expect(SYS in told and GSS in told, True, f"flavors of the root of all exports: {told}")


@lab_test("operations/kerberos.md")
def secinfo_of_v40_keeps_the_filehandle(bench):
    """NFSv4.0 (RFC 7530 16.31): the current filehandle is the same after SECINFO, also of a name
    that leads into another export; PUTFH says WRONGSEC itself."""
    with callers(bench) as made, secured(bench, EXPORT, "krb5p"), from_client(bench):
        strong, weak = Caller(made.connect(CALLER, "krb5p"), 0), Caller(Connection(VIP), 0)
        top = weak.expect("OK OK", PUTROOTFH, GETFH)
        expect(weak.expect("OK OK OK", PUTROOTFH, ops.secinfo(EXPORT), GETFH), top, "the handle")
        export = root_of(strong.connection)
        strong.expect("OK OK", ops.putfh(export), ops.create(ops.DIR, "told"))
        expect(strong.expect("OK OK OK", ops.putfh(export), ops.secinfo("told"), GETFH), export,
               "the handle")
        weak.expect(WRONG, ops.putfh(export), ops.lookup("told"))
        strong.expect("OK OK", ops.putfh(export), ops.remove("told"))


@lab_test("operations/kerberos.md")
def nested_exports_have_their_own_flavors(bench):
    """An export of sys inside one of krb5p: who comes by one flavor crosses into what takes it,
    down and up, and into nothing else."""
    with callers(bench) as made, secured(bench, EXPORT, "krb5p"), from_client(bench):
        strong, weak = Caller(made.connect(CALLER, "krb5p"), 1), Caller(Connection(VIP), 1)
        export, folder, _ = tree_of(strong)
        with another_export(bench, "inner", "--path", "/told", "--pseudo", f"/{EXPORT}/told"):
            bench.symnas("export", "set", EXPORT, "--sec", "sys")
            inner = weak.expect("OK OK OK OK", PUTROOTFH, ops.lookup(EXPORT),
                                ops.lookup("told"), GETFH)
            bench.symnas("export", "set", EXPORT, "--sec", "krb5p")
            for caller in (Caller(Connection(VIP), 0), weak):
                caller.expect("OK OK", ops.putfh(inner), ops.getattr_(1))
                caller.expect(f"OK {WRONG}", ops.putfh(inner), ops.lookupp(), ops.readdir())
            borders_hold(weak, strong, export, inner)
        remove_tree(strong, export, folder)
        strong.leave()
        weak.leave()


def borders_hold(weak, strong, export, inner):
    through = [PUTROOTFH, ops.lookup(EXPORT), ops.lookup("told"), GETFH]
    weak.expect(f"OK {WRONG}", *through)
    strong.expect(f"OK OK {WRONG}", *through)
    expect(strong.expect("OK OK", ops.putfh(export), ops.secinfo("told")), [SYS], "SECINFO")
    expect(weak.expect("OK OK OK", ops.putfh(export), ops.lookup("told"), GETFH), inner, "LOOKUP")
    weak.expect(f"OK {WRONG}", ops.putfh(export), ops.lookup("nobody"))
    expect(weak.expect("OK OK", ops.putfh(inner), ops.secinfo_no_name(PARENT)), [GSS], "parent")
    strong.expect("OK OK OK", ops.putfh(inner), ops.lookupp(), GETFH)
    strong.expect(WRONG, ops.putfh(inner), ops.getattr_(1))
