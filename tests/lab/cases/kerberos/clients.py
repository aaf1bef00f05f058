"""Client ids belong to the principal that has made them: RFC 8881 18.35.4 and 18.36.4, RFC 7530
16.33.5 and 16.34.5."""

import os

import nfs4_ops as ops
from lab_case import check, lab_test
from nfs4_results import Connection
from steps.gss import callers
from steps.kerberos import secured
from steps.nfs4 import Holder, expect, root_of
from steps.rpc import from_client
from symlab.service import EXPORT, VIP

IN_USE = "CLID_INUSE"


def others(made):
    """Who is not nfs/holder: another machine, and a caller without Kerberos."""
    return made.connect("nfs/thief"), Connection(VIP)


@lab_test("operations/kerberos.md")
def client_ids_of_v41_belong_to_a_principal(bench):
    """While a client has state nobody else introduces himself with its words, nor confirms what it
    has begun; without state the words are his who sends them last (case 3)."""
    owner, verifier = f"client {os.urandom(4).hex()}", os.urandom(8)
    with callers(bench) as made, secured(bench, EXPORT, "krb5,sys"), from_client(bench):
        mine = made.connect("nfs/holder")
        begun = mine.compound(1, ops.exchange_id(owner, verifier)).results[0].value
        for other in others(made):
            seen = other.compound(1, ops.create_session(begun.client_id, begun.sequence))
            expect(seen.status, IN_USE, "CREATE_SESSION for another's client id")
        one = Holder(mine, owner, verifier)
        one.ask(ops.reclaim_complete())
        expect(one.lock(root_of(mine), "mine", False)[:2], ("OK", "OK"), "the lock")
        for other in others(made):
            for words in (verifier, os.urandom(8)):
                seen = other.compound(1, ops.exchange_id(owner, words))
                expect(seen.status, IN_USE, "EXCHANGE_ID with another's words")
        # The same principal by another connection: the same client.
        again = made.connect("nfs/holder").compound(1, ops.exchange_id(owner, verifier))
        expect((again.status, again.results[0].value.client_id), ("OK", one.client_id), "again")
        expect(one.ask(ops.putrootfh()).status, "OK", "the holder after that")
        give_up_state(one)
        thief = others(made)[0]
        taken = thief.compound(1, ops.exchange_id(owner, verifier))
        expect(taken.status, "OK", "EXCHANGE_ID once it has no state")
        check(taken.results[0].value.client_id != one.client_id, "the client id is handed over")
        expect(one.ask(ops.putrootfh()).status, "BADSESSION", "the holder after that")
        value = taken.results[0].value
        made_session = thief.compound(1, ops.create_session(value.client_id, value.sequence))
        expect(made_session.status, "OK", "the confirmation")
        thief.compound(1, ops.destroy_session(made_session.results[0].value.id))
        thief.compound(1, ops.destroy_clientid(value.client_id))


def give_up_state(one):
    file, stateid = one.opened
    one.ask(ops.putfh(file), ops.locku(ops.WRITE_LT, 0, 10, one.locked))
    expect(one.ask(ops.putfh(file), ops.close(stateid)).status, "OK", "CLOSE")
    one.opened = None


class Client40:
    """A client of NFSv4.0."""

    def __init__(self, connection, owner, verifier):
        self.connection = connection
        self.owner, self.verifier = owner, verifier

    def introduce(self, connection=None, verifier=None):
        return (connection or self.connection).compound(
            0, ops.setclientid(verifier or self.verifier, self.owner))

    def confirm(self, introduced, connection=None):
        return (connection or self.connection).compound(
            0, ops.setclientid_confirm(*introduced.results[0].value)).status

    def open(self, client_id, export):
        """(handle, stateid) of a file that is open."""
        done = self.connection.compound(0, ops.putfh(export), ops.open_(
            ops.claim_null("mine"), client_id, "o", ops.BOTH, how=ops.unchecked(), seqid=1),
                                        ops.getfh())
        check(done.status == "OK", f"OPEN: {done}")
        handle = done.results[-1].value
        done = self.connection.compound(0, ops.putfh(handle), ops.open_confirm(
            done.results[1].value.stateid, 2))
        check(done.status == "OK", f"OPEN_CONFIRM: {done}")
        return handle, done.results[1].value


@lab_test("operations/kerberos.md")
def client_ids_of_v40_belong_to_a_principal(bench):
    """The same of SETCLIENTID and SETCLIENTID_CONFIRM."""
    owner, verifier = f"client {os.urandom(4).hex()}", os.urandom(8)
    with callers(bench) as made, secured(bench, EXPORT, "krb5,sys"), from_client(bench):
        mine = made.connect("nfs/holder")
        one = Client40(mine, owner, verifier)
        introduced = one.introduce()
        for other in others(made):
            expect(one.confirm(introduced, other), IN_USE, "another's SETCLIENTID_CONFIRM")
        expect(one.confirm(introduced), "OK", "SETCLIENTID_CONFIRM")
        client_id = introduced.results[0].value[0]
        export = root_of(mine)
        file, stateid = one.open(client_id, export)
        for other in others(made):
            for words in (verifier, os.urandom(8)):
                expect(one.introduce(other, words).status, IN_USE, "another's SETCLIENTID")
        expect(mine.compound(0, ops.renew(client_id)).status, "OK", "the holder after that")
        closed = mine.compound(0, ops.putfh(file), ops.close(stateid, 3))
        expect(closed.status, "OK", "CLOSE")
        thief = others(made)[0]
        taken = one.introduce(thief, os.urandom(8))
        expect(taken.status, "OK", "SETCLIENTID once it has no state")
        expect(mine.compound(0, ops.renew(client_id)).status, "OK",
               "the holder until that is confirmed")
        expect(one.confirm(taken, thief), "OK", "the confirmation")
        expect(mine.compound(0, ops.renew(client_id)).status,
               ("STALE_CLIENTID", "EXPIRED"), "the holder after that")
        mine.compound(0, ops.putfh(export), ops.remove("mine"))
