"""A synchronous NFSv4.0 and v4.1 client that can read, write, open and lock, and not much more.

Around a server's restart it does what the Linux client does, without waiting: it makes a new
connection as soon as the old one is reset, sends the same request again, makes a new client id or
session when the server does not know the old one, and reclaims opens by CLAIM_PREVIOUS or, where
the server has no grace period (NO_GRACE), opens them again.

Thread class: confined to one thread; one client each.
"""

import os
import time

from nfs4_wire import (AGAIN_S, CLOSE, CREATE_SESSION, DELAY, DENIED, EXCHANGE_ID, FORGOTTEN,
                       GETATTR, GETFH, GRACE, LOCK, LOCKU, LOOKUP, NO_GRACE, OK, OPEN, OPEN_CONFIRM,
                       PUTFH, PUTROOTFH, READ, RECLAIM_BAD, RECLAIM_COMPLETE, SEQUENCE, SETCLIENTID,
                       SETCLIENTID_CONFIRM, WRITE, Connection, Gone, Refused, XdrReader,
                       expect_ok, opaque, opened_stateid, u32, u64)

GIVE_UP_S = 300.0
_SEQUENCE_BYTES = 16 + 4 * 5  # length of its result
_CLAIM_FH = 4
_BOTH_WAYS = 3  # OPEN4_SHARE_ACCESS_BOTH
_NO_DELEGATION = 0x400  # OPEN4_SHARE_ACCESS_WANT_NO_DELEG
_CONN_BACK_CHAN = 2  # CREATE_SESSION4_FLAG_CONN_BACK_CHAN
_WRITE_LOCK, _AWAITED_WRITE_LOCK = 2, 4
_FILE_SYNC = 2
_SIZE_BIT = 1 << 4


class _Restarted(Exception):
    """A stateid from before the server's restart must not be sent again."""


class Client:
    """One client id with one open file, over NFSv4.`minor`."""

    def __init__(self, address, export, minor, owner=None, called_back=False):
        """`owner`: the owner of another Client, of which this one is the next life; each life has
        its own verifier. called_back: the connection has a back channel (RFC 8881 section
        2.10.3.1)."""
        self.address = address
        self.path = export.strip("/").split("/")
        self.minor = minor
        self.called_back = called_back
        self.owner = owner or f"nfs4_client {os.getpid()} {os.urandom(6).hex()}"
        self.verifier = os.urandom(8)
        self.reconnects = 0
        self.recoveries = 0
        self.locks = 0
        self.connection = Connection(address)
        self.client_id = 0
        self.session = b""
        self.slot_sequence = 0  # sequence of slot 0
        self.slots = {}  # sequences of the other slots
        self.owner_sequence = 0  # sequence of the open owner
        self.lock_sequence = 0  # sequence of the lock owner of hold(); the first request has 0
        self.name = None
        self.deny = 0
        self.handle = self.root = b""
        self.stateid = b"\0" * 16
        self.held = None  # of hold(): (value of recoveries at that time, stateid)
        self.ranges = []  # (start, length) that hold() has locked
        self.reclaims = None  # how many of them are reclaimed from a server that has restarted
        self._recover(time.monotonic() + GIVE_UP_S)
        self.root = self._find_root()

    # --- calls

    def once(self, *operations):
        """Sends one COMPOUND; `parse` functions read the answer at each operation's result.

        operations: (number, arguments, parse); returns what the parse functions returned.
        """
        wanted = [(number, arguments) for number, arguments, _ in operations]
        if self.minor and self.session:
            self.slot_sequence += 1
            arguments = self.session + u32(self.slot_sequence, 0, 0, 0)
            wanted.insert(0, (SEQUENCE, arguments))
        answer = self.connection.compound(self.minor, wanted)
        results = []
        if self.minor and self.session:
            expect_ok(answer)
            answer.take(_SEQUENCE_BYTES)
        for _, _, parse in operations:
            expect_ok(answer)
            results.append(parse(answer) if parse else None)
        return results

    def call(self, *operations):
        """As once(), until the server answers: over new connections, after recovery, after DELAY.

        operations may be callables, which are called again for each attempt.
        """
        return self._until_answered(
            lambda: self.once(*[op() if callable(op) else op for op in operations]))

    def _until_answered(self, attempt):
        end = time.monotonic() + GIVE_UP_S
        while True:
            try:
                return attempt()
            except Gone:
                if time.monotonic() > end:
                    raise
                self._reconnect(end)
            except Refused as refused:
                if refused.status in (GRACE, DELAY) and time.monotonic() < end:
                    time.sleep(AGAIN_S)
                elif refused.status in FORGOTTEN and time.monotonic() < end:
                    self._recover(end)
                else:
                    raise

    def _reconnect(self, end):
        self.reconnects += 1
        self.connection.close()
        while True:
            try:
                self.connection = Connection(self.address)
                return
            except Gone:
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)

    # --- who we are

    def _introduce(self):
        self.session = b""
        if self.minor:
            arguments = self.verifier + opaque(self.owner) + u32(0, 0, 0)
            [(self.client_id, sequence)] = self.once(
                (EXCHANGE_ID, arguments, lambda a: (a.u64(), a.u32())))
            channel = u32(0, 1 << 20, 1 << 20, 4096, 16, 4, 0)
            flags = _CONN_BACK_CHAN if self.called_back else 0
            arguments = u64(self.client_id) + u32(sequence, flags) + channel * 2 \
                + u32(0x40000000, 1, 0)
            [self.session] = self.once((CREATE_SESSION, arguments, lambda a: a.take(16)))
            self.slot_sequence = 0
            self.slots = {}
            return
        arguments = self.verifier + opaque(self.owner) + u32(0x40000000) + opaque("tcp") \
            + opaque("0.0.0.0.0.0") + u32(0)
        [(self.client_id, confirm)] = self.once(
            (SETCLIENTID, arguments, lambda a: (a.u64(), a.take(8))))
        self.once((SETCLIENTID_CONFIRM, u64(self.client_id) + confirm, None))

    def _reclaim_locks(self):
        self.ranges = self.ranges[:self.reclaims]
        for held in list(self.ranges):
            try:
                self.held = self.once(self._here(), self._lock(*held, _WRITE_LOCK, True))[1]
            except Refused as refused:
                if refused.status not in (DENIED, RECLAIM_BAD):
                    raise
                self.ranges.remove(held)

    def _reclaim_complete(self):
        if self.minor:
            self.once((RECLAIM_COMPLETE, u32(0), None))

    def _recover(self, end):
        """Reclaims what this client held from a server that has restarted."""
        self.recoveries += 1
        while True:
            try:
                self._introduce()
                if self.name is not None:
                    try:
                        self._open(u32(1, 0), self.handle)  # CLAIM_PREVIOUS, no delegation
                    except Refused as refused:
                        if refused.status != NO_GRACE:
                            raise
                        self._open(u32(0) + opaque(self.name), self.root)
                    self._reclaim_locks()
                self._reclaim_complete()
                return
            except Gone:
                self._reconnect(end)
            except Refused as refused:
                if time.monotonic() > end or refused.status not in (GRACE, DELAY, *FORGOTTEN):
                    raise
                time.sleep(AGAIN_S)

    def _find_root(self):
        handles = self.call((PUTROOTFH, b"", None),
                            *((LOOKUP, opaque(name), None) for name in self.path),
                            (GETFH, b"", XdrReader.opaque))
        return handles[-1]

    # --- files

    def _next_owner_sequence(self):
        if self.minor:
            return 0
        self.owner_sequence += 1
        return self.owner_sequence

    def _next_lock_sequence(self):
        self.lock_sequence += 0 if self.minor else 1
        return self.lock_sequence

    def _open(self, claim, at, create=False, owner="file"):
        """Opens by the claim `claim` relative to the handle `at`; sets the file's handle and
        stateid."""
        access = _BOTH_WAYS | (_NO_DELEGATION if self.minor else 0)
        arguments = u32(self._next_owner_sequence(), access, self.deny) + u64(self.client_id) \
            + opaque(f"{self.owner} {owner}")
        arguments += u32(1, 0, 1, 0, 0) if create else u32(0)  # UNCHECKED4, no attributes
        _, (stateid, unconfirmed), handle = self.once(
            (PUTFH, opaque(at), None), (OPEN, arguments + claim, opened_stateid),
            (GETFH, b"", XdrReader.opaque))
        if unconfirmed and not self.minor:
            _, stateid = self.once(
                (PUTFH, opaque(handle), None),
                (OPEN_CONFIRM, stateid + u32(self._next_owner_sequence()), lambda a: a.take(16)))
        self.handle, self.stateid = handle, stateid

    def open(self, name, deny=0):
        """Opens a file of the export, created if needed, and keeps it open over restarts.

        deny: OPEN4_SHARE_DENY_...: 1 reading, 2 writing."""
        self.deny = deny
        self._until_answered(lambda: self._open(u32(0) + opaque(name), self.root, create=True))
        self.name = name
        self.held = None

    def reopen(self, apart_s):
        """NFSv4.1: sends an OPEN of the file, and apart_s later, before the answer, a CLOSE of what
        was open until now. Returns the statuses of OPEN and CLOSE."""
        before = self.stateid
        claim = u32(0, _BOTH_WAYS | _NO_DELEGATION, self.deny) + u64(self.client_id) \
            + opaque(f"{self.owner} file") + u32(0, _CLAIM_FH)
        slots = {self._send_on(1, (OPEN, claim)): 0}
        time.sleep(apart_s)
        slots[self._send_on(2, (CLOSE, u32(0) + before))] = 1
        statuses = [None, None]
        for _ in slots:
            xid, answer = self.connection.receive()
            expect_ok(answer)
            answer.take(_SEQUENCE_BYTES)
            expect_ok(answer)
            answer.u32()
            statuses[slots[xid]] = answer.u32()
            if slots[xid] == 0 and statuses[0] == OK:
                self.stateid = answer.take(16)
        return statuses

    def _send_on(self, slot, operation):
        self.slots[slot] = self.slots.get(slot, 0) + 1
        sequence = self.session + u32(self.slots[slot], slot, slot, 0)
        return self.connection.send(self.minor, [(SEQUENCE, sequence), self._here()[:2], operation])

    def status_of_read(self):
        """The status of a READ that is sent once, whatever the answer is."""
        try:
            self.once(self._here(), (READ, self.stateid + u64(0) + u32(1), None))
        except Refused as refused:
            return refused.status
        return OK

    def status_of_open(self, by_handle):
        """The status of another OPEN of the file, by CLAIM_FH or by its name, that is sent once."""
        try:
            if by_handle:
                self._open(u32(_CLAIM_FH), self.handle)
            else:
                self._open(u32(0) + opaque(self.name), self.root)
        except Refused as refused:
            return refused.status
        return OK

    def status_of_lock(self):
        """The status of a LOCK of the whole file by a new owner that is sent once, whatever the
        answer is."""
        self.locks += 1
        try:
            self.once(self._here(), self._lock_all())
        except Refused as refused:
            return refused.status
        return OK

    def _lock_all(self):
        """A LOCK of the whole file by the latest owner of lock() or status_of_lock()."""
        return LOCK, u32(_WRITE_LOCK, 0) + u64(0, (1 << 64) - 1) + u32(
            1, self._next_owner_sequence()) + self.stateid + u32(0) + u64(self.client_id) \
            + opaque(f"{self.owner} lock {self.locks}"), lambda a: a.take(16)

    def _here(self):
        return PUTFH, opaque(self.handle), None

    def read(self, offset, size):
        return self.call(self._here, lambda: (
            READ, self.stateid + u64(offset) + u32(size),
            lambda a: (a.u32(), a.opaque())[1]))[1]

    def write(self, offset, data):
        self.call(self._here, lambda: (
            WRITE, self.stateid + u64(offset) + u32(_FILE_SYNC) + opaque(data),
            lambda a: a.take(16)))

    def getattr(self):
        self.call(self._here, (GETATTR, u32(1, _SIZE_BIT), lambda a: (a.bitmap(), a.opaque())))

    def hold(self, start, length, waits=False):
        """Locks a range of the open file for writing, and keeps the lock. False: somebody else has
        a lock (self.conflict: its start and length). waits: the server may keep a place in the
        queue for it."""
        kind = _AWAITED_WRITE_LOCK if waits else _WRITE_LOCK
        try:
            self.held = self.call(self._here, lambda: self._lock(start, length, kind))[1]
        except Refused as refused:
            if refused.status != DENIED:
                raise
            self.conflict = refused.answer.u64(), refused.answer.u64()
            return False
        if (start, length) not in self.ranges:
            self.ranges.append((start, length))
        return True

    def _lock(self, start, length, kind, reclaim=False):
        """The LOCK of hold(), by its only lock owner."""
        if self.held and self.held[0] == self.recoveries:
            stateid = self.held[1]
            if self.minor:  # its latest sequence: an answer may have been lost (RFC 8881, 8.2.2)
                stateid = u32(0) + stateid[4:]
            locker = u32(0) + stateid + u32(self._next_lock_sequence())
        else:
            self.lock_sequence = 0
            locker = u32(1, self._next_owner_sequence()) + self.stateid + u32(0) \
                + u64(self.client_id) + opaque(f"{self.owner} holds")
        return (LOCK, u32(kind, int(reclaim)) + u64(start, length) + locker,
                lambda a: (self.recoveries, a.take(16)))

    def release(self, start, length):
        """Unlocks what hold() has locked since the server last learned to know this client."""
        def unwanted():
            if not self.held or self.held[0] != self.recoveries:
                raise _Restarted
            return (LOCKU, u32(_WRITE_LOCK, self._next_lock_sequence()) + self.held[1]
                    + u64(start, length), lambda a: (self.recoveries, a.take(16)))
        self.held = self.call(self._here, unwanted)[1]
        self.ranges = [held for held in self.ranges if held != (start, length)]

    def lock(self):
        """Locks the whole file for writing and unlocks it; after a restart in between, locks
        again."""
        self.locks += 1

        def given_back():
            if self.recoveries != at:
                raise _Restarted
            return LOCKU, u32(_WRITE_LOCK, 1) + held + u64(0, (1 << 64) - 1), lambda a: a.take(16)

        while True:
            held = self.call(self._here, self._lock_all)[1]
            at = self.recoveries
            try:
                self.call(self._here, given_back)
                return
            except _Restarted:
                pass
