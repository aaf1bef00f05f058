"""RPCSEC_GSS as bytes, of callers who have a context (RFC 2203), and the flavors of exports."""

import os

import nfs4_attributes as attr
import nfs4_ops as ops
from gss_calls import (CREDPROBLEM, CTXPROBLEM, INTEGRITY, NONE, PRIVACY, PSEUDO_FLAVORS, TOOWEAK,
                       ContextRefused)
from lab_case import check, eventually, lab_test
from nfs4_results import Connection
from nfs4_wire import opaque, u32
from rpc_wire import Rejected, Rpc
from steps.gss import callers
from steps.kerberos import secured
from steps.nfs4 import Holder, expect, root_of
from steps.name_services import FIRST_GROUP, name_services
from steps.rpc import MOUNT, MOUNT_PORT, NFS, from_client
from symlab.kdc import DOMAIN, host_name
from symlab.service import EXPORT, VIP, VNFS

MAXSEQ = 0x80000000
CALLER = "wire1"
USER_NAME, GROUP = "symnas-user", str(FIRST_GROUP + 3).encode()
PUTROOTFH = opaque("") + u32(0, 1, ops.PUTROOTFH)  # a COMPOUND


@lab_test("operations/kerberos.md")
def calls_of_a_context_are_verified(bench):
    """Checksums, sequence numbers, services and handles that are wrong: refused or dropped as RFC
    2203 says; the context's owner goes on."""
    before = bench.service.serving()
    with callers(bench) as made, from_client(bench):
        one = made.connect(CALLER)
        for service in (NONE, INTEGRITY, PRIVACY):
            expect(one.null_call(service=service), "ok", f"service {service}")
        expect(one.null_call(break_header=True), CREDPROBLEM, "a header's checksum")
        # Patch 0161: nobody without the key moves the window.
        expect(one.null_call(break_header=True, sequence=100_000), CREDPROBLEM, "a forged number")
        expect(one.null_call(), "ok", "the owner after that")
        expect(one.null_call(handle=one.handle[:-1] + b"?"), CREDPROBLEM, "another's handle")
        expect(one.null_call(sequence=MAXSEQ + 1), CTXPROBLEM, "a number above MAXSEQ")
        check(one.null_call(gss_version=2) not in ("ok", "dropped"), "a version that nobody has")
        for service in (INTEGRITY, PRIVACY):
            seen = one.outcome(1, PUTROOTFH, service=service, break_arguments=True)
            expect(seen, "GARBAGE_ARGS", f"arguments of service {service}")
            expect(one.outcome(1, PUTROOTFH, service=service), "ok", "the owner after that")
        check_numbers_count_once(one)
        expect(one.destroy(), "ok", "the context's end")
        expect(one.null_call(), CREDPROBLEM, "after its end")
    check(bench.service.serving()["pid"] == before["pid"], "the instance was replaced")


def check_numbers_count_once(one):
    expect(one.null_call(sequence=5000), "ok", "a number")
    for sequence, what in ((5000, "sent again"), (4000, "below the window")):
        one.on_new_connection()
        one.socket.settimeout(2.0)
        expect(one.null_call(sequence=sequence), "dropped", f"a number {what}")
    one.on_new_connection()
    one.sequence = 5000
    expect(one.null_call(), "ok", "the next number")


@lab_test("operations/kerberos.md")
def weaker_flavors_are_told_which_to_take(bench):
    """An export of krb5p: WRONGSEC for all others at LOOKUP and PUTFH, SECINFO has krb5p alone
    (RFC 8881 2.6.3.1); NFSv3: AUTH_TOOWEAK, and MNT names it (RFC 2623 2.7)."""
    with callers(bench) as made, secured(bench, EXPORT, "krb5p"), from_client(bench):
        strong = made.connect(CALLER, "krb5p")
        handle = root_of(strong)
        handle3, flavors = mounted()
        weak = [Connection(VIP), made.connect(CALLER, "krb5"), made.connect(CALLER, "krb5i")]
        for one in weak:
            what = getattr(one, "service", "sys")
            seen = one.compound(0, ops.putrootfh(), ops.lookup(EXPORT), ops.getfh()).status
            expect(seen, "WRONGSEC", f"LOOKUP by {what}")
            seen = one.compound(0, ops.putfh(handle), ops.getattr_(1)).status
            expect(seen, "WRONGSEC", f"PUTFH by {what}")
            found = one.compound(0, ops.putrootfh(), ops.secinfo(EXPORT))
            expect(found.results[-1].value, [6], f"SECINFO by {what}")
            try:
                one.call(NFS, 3, 1, opaque(handle3))
                raise AssertionError(f"GETATTR of NFSv3 by {what} is answered")
            except Rejected as rejected:
                expect((rejected.how, rejected.answer.u32()), ("AUTH_ERROR", TOOWEAK),
                       f"GETATTR of NFSv3 by {what}")
        expect(strong.call(NFS, 3, 1, opaque(handle3)).u32(), 0, "GETATTR of NFSv3 by krb5p")
        expect(flavors, [PSEUDO_FLAVORS["krb5p"]], "MNT")
    with callers(bench) as made, secured(bench, EXPORT, "sys,krb5"), from_client(bench):
        root_of(Connection(VIP))
        root_of(made.connect(CALLER, "krb5"))
        expect(mounted()[1], [1, PSEUDO_FLAVORS["krb5"]], "MNT of sys and krb5")


def mounted():
    """(handle, flavors) of MNT."""
    mountd = Rpc(VIP, MOUNT_PORT, reserved=True)
    answer = mountd.call(MOUNT, 3, 1, opaque(f"/{EXPORT}"))
    mountd.close()
    check(answer.u32() == 0, "MNT is refused")
    handle = answer.opaque()
    return handle, sorted(answer.u32() for _ in range(answer.u32()))


@lab_test("operations/kerberos.md")
def names_of_any_length_are_safe(bench):
    """A principal of 256 bytes and more gets no context (patches 0164 and 0167); a shorter one that
    nobody is here is anonymous."""
    before = bench.service.serving()
    with callers(bench) as made, secured(bench, EXPORT, "krb5"), from_client(bench):
        for size in (256, 400, 900):
            try:
                made.connect("x" * size)
                raise AssertionError(f"a principal of {size} bytes has a context")
            except ContextRefused:
                pass
        root_of(made.connect("y" * 200))
    check(bench.service.serving()["pid"] == before["pid"], "the instance was replaced")


@lab_test("operations/kerberos.md", "architecture/names.md")
def groups_of_a_principal_count_everywhere(bench):
    """A RENAME between two folders that only a group may write (patch 0165): the groups of a
    principal count at the second filehandle, too."""
    with name_services(bench), callers(bench) as made, secured(bench, EXPORT, "krb5,sys"), \
            from_client(bench):
        root = Connection(VIP)
        export = root_of(root)
        folders = [folder_of_group(root, export, name) for name in ("from", "to")]
        done = root.compound(0, ops.putfh(folders[0]),
                             ops.create(ops.LNK, "moved", data=opaque("x")))
        check(done.status == "OK", f"a symbolic link: {done}")
        user = made.connect(USER_NAME)
        done = eventually(30.0, "the user is known", lambda: known(user.compound(
            0, ops.putfh(folders[0]), ops.savefh(), ops.putfh(folders[1]),
            ops.rename("moved", "moved"))))
        check(done.status == "OK", f"RENAME by a member of the group: {done}")
        for folder, name in ((folders[1], "moved"), (export, "from"), (export, "to")):
            root.compound(0, ops.putfh(folder), ops.remove(name))


@lab_test("operations/kerberos.md", "architecture/names.md")
def owners_are_of_the_domain_that_is_set(bench):
    """Owners by name: of the realm in lower case, or of the domain that the keytab was set with,
    which stays when another keytab is set."""
    with callers(bench) as made:
        kdc = made.kdc
        keytab = kdc.keytab("domain.keytab", f"nfs/{host_name(VNFS)}", new_keys=False)
        for given, good, bad in ((["--owner-domain", "Other.Example"], "other.example", DOMAIN),
                                 ([], "other.example", DOMAIN),
                                 (["--owner-domain", ""], DOMAIN, "other.example")):
            bench.symnas("vnfs", "keytab", "set", VNFS, "--file", keytab, *given)
            shown = bench.symnas("vnfs", "keytab", "show", VNFS)
            check(good in shown, f"keytab show does not name {good}: {shown}")
            with from_client(bench):
                expect(folder_of_owner(f"daemon@{good}"), "OK", f"an owner of {good}")
                expect(folder_of_owner(f"daemon@{bad}"), "BADOWNER", f"an owner of {bad}")


def folder_of_owner(owner):
    """What a folder of that owner, made and removed again, is answered."""
    root = Connection(VIP)
    export = root_of(root)
    done = eventually(30.0, "the owner is known", lambda: known(root.compound(
        0, ops.putfh(export), ops.create(ops.DIR, "owned", {attr.OWNER: owner.encode()}))))
    if done.status == "OK":
        root.compound(0, ops.putfh(export), ops.remove("owned"))
    return done.status


def known(done):
    return None if done.status == "DELAY" else done


def folder_of_group(root, where, name):
    """Makes a folder that a second group of the user may write, and nobody else."""
    done = root.compound(0, ops.putfh(where), ops.create(ops.DIR, name),
                         ops.setattr_({attr.MODE: 0o770, attr.OWNER_GROUP: GROUP}), ops.getfh())
    check(done.status == "OK", f"a folder of group {GROUP}: {done}")
    return done.results[-1].value


@lab_test("INV-7", "operations/kerberos.md", "architecture/locks.md")
def locks_are_reclaimed_by_their_principal(bench):
    """After a crash another principal that has all words of a client, and a caller without
    Kerberos, neither get nor end its locks; the client reclaims them."""
    owner, verifier = f"client {os.urandom(4).hex()}", os.urandom(8)
    with callers(bench) as made, secured(bench, EXPORT, "krb5,sys"):
        with from_client(bench):
            one = Holder(made.connect("nfs/holder"), owner, verifier)
            root = root_of(made.connect("nfs/holder"))
            one.ask(ops.reclaim_complete())
            opened, locked, file = one.lock(root, "mine", False)
            expect((opened, locked), ("OK", "OK"), "the lock")
        before = bench.service.serving()
        bench.kill_recorded(before)
        bench.service.wait_serving(other_than=before["pid"])
        with from_client(bench):
            for other in (made.connect("nfs/thief"), Connection(VIP)):
                for words in (verifier, os.urandom(8)):
                    thief = Holder(other, owner, words)
                    _, locked, _ = thief.lock(file, "mine", True)
                    check(locked != "OK", f"a lock was reclaimed by {other}")
                    thief.ask(ops.reclaim_complete())
                    thief.leave()
            again = Holder(made.connect("nfs/holder"), owner, verifier)
            opened, locked, _ = again.lock(file, "mine", True)
            expect((opened, locked), ("OK", "OK"), "the reclaim of its holder")
            again.ask(ops.reclaim_complete())
