"""What a case of NFSv4 stands on: clients with ids of their own, and a fresh directory.

Thread class: confined to one thread.
"""

import os

import nfs4_attributes as attr
import nfs4_ops as ops
from nfs4_results import CONFIRM, Connection
from nfs4_wire import opaque, u32
from registry import Again, DeniedLater, Failed, check
from rpc_wire import Rejected, auth_sys

# v4.0: requests with these answers do not count in an owner's sequence (RFC 7530 section 9.1.7).
NOT_COUNTED = ("STALE_CLIENTID", "STALE_STATEID", "BAD_STATEID", "BAD_SEQID", "BADXDR", "RESOURCE",
               "NOFILEHANDLE", "MOVED")
LATER = ("DELAY", "GRACE")
KINDS = {"file": ops.REG, "directory": ops.DIR, "symlink": ops.LNK, "fifo": ops.FIFO,
         "socket": ops.SOCK, "block": ops.BLK, "char": ops.CHR}
SPECIAL = ("symlink", "fifo", "socket", "block", "char")
# What createtype4 has beside the type.
EXTRA = {"symlink": opaque("target"), "block": u32(7, 1), "char": u32(1, 3)}
USER = 1000


class Owner:
    """Of opens or locks. `seqid`: of its next request in v4.0; 0 in later versions."""

    def __init__(self, name, minor, seqid=1):
        self.name = name
        self._minor = minor
        self._seqid = seqid

    @property
    def seqid(self):
        return 0 if self._minor else self._seqid & 0xFFFFFFFF

    @seqid.setter
    def seqid(self, value):
        self._seqid = value

    def answered(self, status):
        if status not in NOT_COUNTED:
            self._seqid += 1


class Open:
    """An open file of a client."""

    def __init__(self, handle, stateid, owner):
        self.handle = handle
        self.stateid = stateid
        self.owner = owner


class Client:
    """A client id with, from v4.1 on, a session on one connection."""

    def __init__(self, server, minor, name=None, verifier=None, uid=0):
        self.server = server
        self.minor = minor
        self.name = name or f"wire {os.getpid()} {os.urandom(6).hex()}"
        self.verifier = verifier or os.urandom(8)
        self.connection = Connection(server)
        self.connection.credential = auth_sys(uid, uid)
        self.client_id = self.session = None
        self.number = 0  # of the last request on slot 0
        self.confirm = b""

    def act_as(self, uid, gid=None, groups=()):
        self.connection.credential = auth_sys(uid, uid if gid is None else gid, groups)

    # --- calls

    def raw(self, *operations, **how):
        """A COMPOUND as it is, without SEQUENCE."""
        return self.connection.compound(self.minor, *operations, **how)

    def sequence(self, **how):
        self.number += 1
        return ops.sequence(self.session.id, self.number, **how)

    def ask(self, *operations, later=False, **how):
        """A COMPOUND, from v4.1 on behind a SEQUENCE, whose result is left out. Errors: Again,
        unless `later`: DELAY and GRACE are answers as others."""
        if not self.minor:
            answer = self.raw(*operations, **how)
        else:
            answer = self.raw(self.sequence(), *operations, **how)
            if not answer.results or answer.results[0].status != "OK":
                if answer.status in LATER:
                    raise Again(answer.status)
                raise Failed(f"SEQUENCE answered {answer.status}, expected OK")
            answer = answer._replace(results=answer.results[1:])
        if answer.status in LATER and not later:
            raise Again(f"{ops.NAMES.get(answer.results[-1].op)} answered {answer.status}")
        return answer

    def expect(self, wanted, *operations, **how):
        """Sends operations, of which the last must answer one of `wanted`, the others OK. Returns
        the last one's value. Errors: Failed, Again."""
        answer = self.ask(*operations, **how)
        at = len(answer.results) - 1
        name = ops.NAMES.get(operations[at][0], "operation")
        check(answer.status, wanted if at == len(operations) - 1 else "OK", name)
        check(answer.results[-1].status, answer.status, f"{name}: the status of the COMPOUND is "
              f"{answer.status}; its last result")
        if len(answer.results) != len(operations):
            raise Failed(f"{len(answer.results)} results of {len(operations)} operations")
        return answer.results[-1].value

    def values(self, *operations):
        """The values of operations that must succeed."""
        answer = self.ask(*operations)
        for operation, result in zip(operations, answer.results, strict=False):
            check(result.status, "OK", ops.NAMES[operation[0]])
        return [result.value for result in answer.results]

    def undecodable(self, *operations, also="", **how):
        """Sends what no server can decode: it may refuse the operation or the call. also: other
        statuses that are right."""
        try:
            said = self.ask(*operations, **how).status
        except Rejected as rejected:
            said = str(rejected)
        check(said, f"BADXDR GARBAGE_ARGS {also}", "what cannot be decoded")

    # --- who we are

    def introduce(self):
        if self.minor:
            self.exchange()
            self.create_session()
            self.expect("OK", ops.reclaim_complete())
        else:
            self.set_client_id()
            check(self.raw(ops.setclientid_confirm(self.client_id, self.confirm)).status, "OK",
                  "SETCLIENTID_CONFIRM")
        return self

    def set_client_id(self):
        answer = self.raw(ops.setclientid(self.verifier, self.name))
        check(answer.status, "OK", "SETCLIENTID")
        self.client_id, self.confirm = answer.results[0].value

    def exchange(self, flags=0):
        answer = self.raw(ops.exchange_id(self.name, self.verifier, flags))
        check(answer.status, "OK", "EXCHANGE_ID")
        self.exchanged = answer.results[0].value
        self.client_id = self.exchanged.client_id
        return self.exchanged

    def create_session(self, **how):
        answer = self.raw(ops.create_session(self.client_id, self.exchanged.sequence, **how))
        check(answer.status, "OK", "CREATE_SESSION")
        self.session, self.number = answer.results[0].value, 0
        return self.session

    def end(self):
        """Gives back what it can; no effect on a server that has forgotten it."""
        try:
            if self.session:
                self.raw(ops.destroy_session(self.session.id))
                self.raw(ops.destroy_clientid(self.client_id))
        except Exception:
            pass  # a case may have broken the connection; its outcome stands
        self.connection.close()

    # --- opens

    def owner(self, name="owner"):
        return Owner(name, self.minor)

    def open_operation(self, owner, claim, access=ops.BOTH, deny=0, how=ops.NO_CREATE):
        wanted = access | (ops.NO_DELEGATION if self.minor else 0)
        return ops.open_(claim, self.client_id, owner.name, wanted, deny, how, owner.seqid)

    def try_open(self, directory, name, owner=None, claim=None, **how):
        """(status, Open or None, the result's value) of an OPEN, which v4.0 confirms if asked."""
        owner = owner or self.owner()
        operation = self.open_operation(owner, claim or ops.claim_null(name), **how)
        try:
            answer = self.ask(ops.putfh(directory), operation, ops.getfh())
        except Again as again:
            raise (DeniedLater if how.get("deny") else Again)(str(again)) from again
        check(answer.results[0].status, "OK", "PUTFH")
        owner.answered(answer.results[1].status)
        if answer.results[1].status != "OK":
            return answer.results[1].status, None, None
        value = answer.results[1].value
        opened = Open(answer.results[2].value, value.stateid, owner)
        if value.flags & CONFIRM and not self.minor:
            opened.stateid = self.expect("OK", ops.putfh(opened.handle),
                                         ops.open_confirm(opened.stateid, owner.seqid))
            owner.answered("OK")
        return "OK", opened, value

    def open(self, directory, name, owner=None, **how):
        status, opened, _ = self.try_open(directory, name, owner, **how)
        check(status, "OK", f"OPEN of {name!r}")
        return opened

    def close(self, opened, wanted="OK", stateid=None, seqid=None):
        used = opened.owner.seqid if seqid is None else seqid
        answer = self.ask(ops.putfh(opened.handle), ops.close(stateid or opened.stateid, used))
        opened.owner.answered(answer.status)
        check(answer.status, wanted, "CLOSE")
        return answer.results[-1].value

    def downgrade(self, opened, access, deny=0, wanted="OK"):
        answer = self.ask(ops.putfh(opened.handle), ops.open_downgrade(
            opened.stateid, access, deny, opened.owner.seqid))
        opened.owner.answered(answer.status)
        check(answer.status, wanted, "OPEN_DOWNGRADE")
        if answer.status == "OK":
            opened.stateid = answer.results[-1].value

    # --- locks

    def lock_owner(self, name="locker"):
        return LockOwner(name, self.minor)

    def try_lock(self, opened, owner, kind=ops.WRITE_LT, start=0, length=ops.TO_END, reclaim=False):
        """(status, the DENIED) of a LOCK; `owner` keeps its stateid."""
        new = opened not in owner.stateids
        if new:
            locker = ops.new_locker(opened.owner.seqid, opened.stateid, owner.seqid,
                                    self.client_id, owner.name)
        else:
            locker = ops.old_locker(owner.stateids[opened], owner.seqid)
        answer = self.ask(ops.putfh(opened.handle), ops.lock(kind, start, length, locker, reclaim))
        if new:
            opened.owner.answered(answer.status)
        if not new or answer.status == "OK":
            owner.answered(answer.status)
        if answer.status == "OK":
            owner.stateids[opened] = answer.results[-1].value
        return answer.status, answer.results[-1].value

    def lock(self, opened, owner, *range_, wanted="OK", **how):
        status, value = self.try_lock(opened, owner, *range_, **how)
        check(status, wanted, "LOCK")
        return value

    def unlock(self, opened, owner, start=0, length=ops.TO_END, wanted="OK", kind=ops.WRITE_LT):
        answer = self.ask(ops.putfh(opened.handle), ops.locku(
            kind, start, length, owner.stateids[opened], owner.seqid))
        owner.answered(answer.status)
        check(answer.status, wanted, "LOCKU")
        if answer.status == "OK":
            owner.stateids[opened] = answer.results[-1].value

    def test_lock(self, handle, kind=ops.WRITE_LT, start=0, length=ops.TO_END, wanted="OK",
                  owner="somebody else"):
        return self.expect(wanted, ops.putfh(handle),
                           ops.lockt(kind, start, length, self.client_id, owner))


class LockOwner(Owner):
    """`stateids`: of the files that it has locked, by Open."""

    def __init__(self, name, minor):
        super().__init__(name, minor)
        self.stateids = {}


class Bed:
    """A case's directory `dir`, whose path in the export is `where`, and its client."""

    def __init__(self, options, minor, run_dir, name):
        self.options = options
        self.minor = minor
        self._clients = []
        self.client = self.new_client()
        self.dir = self.client.values(
            ops.putfh(run_dir),
            ops.create(ops.DIR, name, {attr.MODE: 0o777}), ops.getfh())[2]
        self.run_dir = run_dir
        self.name = name

    def new_client(self, introduced=True, **how):
        client = Client(self.options.server, self.minor, **how)
        self._clients.append(client)
        return client.introduce() if introduced else client

    def end(self):
        for client in self._clients:
            client.end()

    def expect(self, wanted, *operations):
        return self.client.expect(wanted, *operations)

    def values(self, *operations):
        return self.client.values(*operations)

    def make(self, kind, name=None, values=None, where=None):
        """The handle of a new object of this kind (KINDS), called by it unless `name` is given."""
        name, where = name or kind, where or self.dir
        values = {attr.MODE: 0o777 if kind == "directory" else 0o666, **(values or {})}
        if kind == "file":
            opened = self.client.open(where, name, self.client.owner(f"makes {name!r}"),
                                      how=ops.guarded(values))
            self.client.close(opened)
            return opened.handle
        if kind == "symlink":
            del values[attr.MODE]
        return self.values(ops.putfh(where), ops.create(KINDS[kind], name, values, EXTRA.get(
            kind, b"")), ops.getfh())[2]

    def file(self, text=b"", name="file", **how):
        """The handle of a new file with this text."""
        handle = self.make("file", name, **how)
        if text:
            self.put(handle, text)
        return handle

    def open(self, name="file", text=None, **how):
        """An open file, new unless text is None."""
        if text is not None:
            self.file(text, name)
        return self.client.open(self.dir, name, **how)

    def put(self, handle, text, offset=0):
        self.expect("OK", ops.putfh(handle), ops.write(ops.ANONYMOUS, text, offset))

    def text(self, handle, count=65536):
        return self.expect("OK", ops.putfh(handle), ops.read(ops.ANONYMOUS, 0, count))[1]

    def attributes(self, handle, *numbers):
        return self.expect("OK", ops.putfh(handle), ops.getattr_(*numbers))

    def supported(self, handle=None):
        return self.attributes(handle or self.dir, attr.SUPPORTED)[attr.SUPPORTED]

    def names(self, handle=None):
        listing = self.expect("OK", ops.putfh(handle or self.dir), ops.readdir())
        return [entry.name for entry in listing.entries]
