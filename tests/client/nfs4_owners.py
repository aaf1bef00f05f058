"""An NFSv4.0 or v4.1 client id with several opens and several owners of locks.

As Linux does, it sends a request without an answer again unchanged, on a new connection, and
reclaims what it has when the server has restarted (it knows this from its client ids: their upper
half is the instance's). A claim that is refused raises Lost, and so does anything that the instance
which granted it does not know any more. Locks: only of NFSv4.1, in slots of SLOT_BYTES, all
exclusive.

Thread class: confined to one thread; one client each.
"""

import collections
import contextlib
import os
import time

from nfs4_wire import (AGAIN_S, CLOSE, CREATE_SESSION, DELAY, DENIED, EXCHANGE_ID, FORGOTTEN, GETFH,
                       GRACE, LOCK, LOCKU, LOOKUP, OK, OPEN, OPEN_CONFIRM, PUTFH, PUTROOTFH, READ,
                       RECLAIM_COMPLETE, SEQUENCE, SETCLIENTID, SETCLIENTID_CONFIRM, WRITE,
                       Connection, Gone, Refused, XdrReader, expect_ok, opaque, opened_stateid, u32,
                       u64)

SLOT_BYTES = 4096
GIVE_UP_S = 200.0
OLD_STATEID, FREE_STATEID = 10024, 45
_SEQUENCE_BYTES = 16 + 4 * 5
_CLAIM_NULL, _CLAIM_PREVIOUS, _CLAIM_FH = 0, 1, 4
_NO_DELEGATION = 0x400
_WRITE_LOCK = 2
_FILE_SYNC = 2
_CACHE_THE_REPLY = 1
_LATER = (DELAY, GRACE)


class Lost(Exception):
    """Something that was granted is gone."""


class Restarted(Exception):
    """The server has restarted: the request is not done, and what is kept has been reclaimed."""


class Uncertain(Exception):
    """Not all requests that were under way at the same time have been answered."""


class Counter:
    """The sequence number of an owner's requests in NFSv4.0; each request that reaches its
    operation counts."""

    def __init__(self):
        self.value = 0


class Opened:
    """An open file. `locks`: {lock owner: stateid}; `held`: {lock owner: set of slots}."""

    def __init__(self, owner, file, access, deny):
        self.owner = owner
        self.file = file
        self.access = access
        self.deny = deny
        self.handle = self.stateid = b""
        self.locks = {}
        self.held = {}


def runs(slots):
    """[(first, end)] of a set of slots."""
    found = []
    for slot in sorted(slots):
        if found and found[-1][1] == slot:
            found[-1] = (found[-1][0], slot + 1)
        else:
            found.append((slot, slot + 1))
    return found


def _stateid(answer):
    return answer.take(16)


class Owners:
    """`on_reclaimed(opened)` is called for each Opened that was reclaimed after a restart."""

    def __init__(self, address, export, minor, name, on_reclaimed=lambda opened: None, uid=0):
        self.address = address
        self.uid = uid
        self.path = export.strip("/").split("/")
        self.minor = minor
        self.name = name
        self.on_reclaimed = on_reclaimed
        self.kept = []  # Opened objects, which are reclaimed from a server that has restarted
        self.client_id = 0
        self.session = b""
        self.slots = {}
        self.counters = collections.defaultdict(Counter)  # by open owner
        self.answered_at = time.monotonic()
        self.connection = None
        self._connect()
        self.boot()
        self.root = self._ask(lambda: [
            (PUTROOTFH, b"", None), *((LOOKUP, opaque(part), None) for part in self.path),
            (GETFH, b"", XdrReader.opaque)])[-1]

    # --- requests

    def _connect(self):
        end = time.monotonic() + GIVE_UP_S
        while True:
            try:
                if self.connection:
                    self.connection.close()
                self.connection = Connection(self.address, self.uid)
                return
            except Gone as gone:
                if time.monotonic() > end:
                    raise Lost(f"no connection for {GIVE_UP_S:.0f} s: {gone}") from gone
                time.sleep(0.01)

    def _framed(self, operations, slot):
        wanted = [operation[:2] for operation in operations]
        if self.session:
            sequence = self.session + u32(self.slots.get(slot, 0) + 1, slot, 3, _CACHE_THE_REPLY)
            wanted.insert(0, (SEQUENCE, sequence))
        return wanted

    def _parsed(self, operations, answer, slot=0):
        """Returns what the operations' parse functions return. operations: (number, arguments,
        parse, Counters)."""
        if self.session:
            expect_ok(answer)
            answer.take(_SEQUENCE_BYTES)
            self.slots[slot] = self.slots.get(slot, 0) + 1
        results = []
        for _, _, parse, *counters in operations:
            number, status = answer.u32(), answer.u32()
            for counter in counters:
                counter.value += 1
            if status != OK:
                raise Refused(number, status, answer)
            results.append(parse(answer) if parse else None)
        return results

    def _once(self, operations):
        """Sends one request, again and again until it is answered."""
        wanted = self._framed(operations, 0)
        end = time.monotonic() + GIVE_UP_S
        xid = None
        while True:
            try:
                xid = self.connection.send(self.minor, wanted, xid)
                answer = self._answer_to(xid)
                results = self._parsed(operations, answer)
                self.answered_at = time.monotonic()
                return results
            except Gone as gone:
                if time.monotonic() > end:
                    raise Lost(f"no answer for {GIVE_UP_S:.0f} s: {gone}") from gone
                self._connect()
            except Refused as refused:  # DELAY of SEQUENCE: still being worked on
                if refused.op != SEQUENCE or refused.status != DELAY:
                    raise
                time.sleep(AGAIN_S)

    def _answer_to(self, xid):
        while True:
            answered, answer = self.connection.receive()
            if answered == xid:
                return answer

    def _ask(self, build, patient=True):
        """Sends one request, built again as long as the server says "later" (unless not patient).
        Errors: Refused, Restarted, Lost."""
        end = time.monotonic() + GIVE_UP_S
        while True:
            try:
                return self._once(build())
            except Refused as refused:
                if refused.status in _LATER and patient and time.monotonic() < end:
                    time.sleep(AGAIN_S)
                elif refused.status in FORGOTTEN:
                    self._recover(f"operation {refused.op} is answered {FORGOTTEN[refused.status]}")
                    raise Restarted from refused
                else:
                    raise

    # --- who we are

    def boot(self):
        """Begins another life under the same name: the server forgets what the last life had."""
        self.verifier = os.urandom(8)
        self.kept = []
        self._introduce_soon(lambda: None)

    def _introduce(self):
        self.session = b""
        self.counters.clear()
        if not self.minor:
            arguments = self.verifier + opaque(self.name) + u32(0x40000000) + opaque("tcp") \
                + opaque("0.0.0.0.0.0") + u32(0)
            [(self.client_id, confirm)] = self._once(
                [(SETCLIENTID, arguments, lambda a: (a.u64(), a.take(8)))])
            self._once([(SETCLIENTID_CONFIRM, u64(self.client_id) + confirm, None)])
            return
        [(self.client_id, sequence)] = self._once(
            [(EXCHANGE_ID, self.verifier + opaque(self.name) + u32(0, 0, 0),
              lambda a: (a.u64(), a.u32()))])
        channel = u32(0, 1 << 20, 1 << 20, 1 << 14, 16, 4, 0)
        [session] = self._once(
            [(CREATE_SESSION, u64(self.client_id) + u32(sequence, 0) + channel * 2
              + u32(0x40000000, 1, 0), lambda a: a.take(16))])
        self.slots = {}
        self.session = session

    def _introduce_soon(self, claim):
        """Repeats until some instance knows this client and everything that `claim` reclaims."""
        end = time.monotonic() + GIVE_UP_S
        while True:
            try:
                self._introduce()
                claim()
                if self.minor:
                    self._once([(RECLAIM_COMPLETE, u32(0), None)])
                return
            except Refused as refused:
                if refused.status not in (*_LATER, *FORGOTTEN) or time.monotonic() > end:
                    raise Lost(f"the claim is refused: {refused}") from refused
                time.sleep(AGAIN_S)

    def _recover(self, why):
        silent_s = time.monotonic() - self.answered_at
        before = self.client_id >> 32

        def claim():
            if self.client_id >> 32 == before:
                raise Lost(f"{why} by the instance that granted it, {silent_s:.1f} s after the "
                           "last answer")
            for opened in self.kept:
                self._reclaim(opened)

        self._introduce_soon(claim)
        for opened in self.kept:
            self.on_reclaimed(opened)

    def _reclaim(self, opened):
        self._open(opened, u32(_CLAIM_PREVIOUS, 0), opened.handle, self._until_later)
        opened.locks = {}
        for owner, slots in opened.held.items():
            for first, end in runs(slots):
                self._reclaim_lock(opened, owner, first, end)

    def _reclaim_lock(self, opened, owner, first, end):
        [_, opened.locks[owner]] = self._until_later(lambda: [
            self._at(opened), self._lock(opened, owner, first, end, reclaim=True)])

    def _until_later(self, build):
        end = time.monotonic() + GIVE_UP_S
        while True:
            try:
                return self._once(build())
            except Refused as refused:
                if refused.status not in _LATER or time.monotonic() > end:
                    raise
                time.sleep(AGAIN_S)

    # --- opens

    @staticmethod
    def _at(opened):
        return PUTFH, opaque(opened.handle), None

    def _sequence(self, opened):
        return 0 if self.minor else self.counters[opened.owner].value + 1

    def _open_arguments(self, opened, create=False):
        access = opened.access | (_NO_DELEGATION if self.minor else 0)
        return u32(self._sequence(opened), access, opened.deny) + u64(self.client_id) \
            + opaque(f"{self.name} {opened.owner}") + (u32(1, 0, 1, 0, 0) if create else u32(0))

    def _open(self, opened, claim, at, ask, create=False):
        _, (stateid, unconfirmed), handle = ask(lambda: [
            (PUTFH, opaque(at), None),
            (OPEN, self._open_arguments(opened, create) + claim, opened_stateid,
             self.counters[opened.owner]),
            (GETFH, b"", XdrReader.opaque)])
        if unconfirmed and not self.minor:
            _, stateid = ask(lambda: [
                (PUTFH, opaque(handle), None),
                (OPEN_CONFIRM, stateid + u32(self._sequence(opened)), _stateid,
                 self.counters[opened.owner])])
        opened.handle, opened.stateid = handle, stateid

    def open(self, opened, create=False, patient=True):
        """Opens the file with the modes of `opened`, and keeps it from now on. Errors: those of
        _ask."""
        self._open(opened, u32(_CLAIM_NULL) + opaque(opened.file), self.root,
                   lambda build: self._ask(build, patient), create)
        self.kept.append(opened)

    def close(self, opened):
        """Closes the file. A server that has restarted meanwhile does not know the open: then it is
        closed, too."""
        self.kept.remove(opened)
        with contextlib.suppress(Restarted):
            self._ask(lambda: [self._at(opened), (
                CLOSE, u32(self._sequence(opened)) + opened.stateid, _stateid,
                self.counters[opened.owner])])

    def read(self, opened, slot, stateid=None):
        """Returns the first 8 bytes of a slot as a number."""
        data = self._ask(lambda: [self._at(opened), (
            READ, (stateid or opened.stateid) + u64(slot * SLOT_BYTES) + u32(8),
            lambda a: (a.u32(), a.opaque())[1])])[1]
        return int.from_bytes(data.ljust(8, b"\0"), "little")

    def write(self, opened, slot, number, stateid=None):
        data = number.to_bytes(8, "little")
        self._ask(lambda: [self._at(opened), (
            WRITE, (stateid or opened.stateid) + u64(slot * SLOT_BYTES) + u32(_FILE_SYNC)
            + opaque(data), _stateid)])

    # --- locks of NFSv4.1

    def _lock(self, opened, owner, first, end, reclaim=False):
        stateid = opened.locks.get(owner)
        locker = u32(0) + stateid + u32(0) if stateid else \
            u32(1, 0) + opened.stateid + u32(0) + u64(self.client_id) \
            + opaque(f"{self.name} {owner}")
        return (LOCK, u32(_WRITE_LOCK, int(reclaim))
                + u64(first * SLOT_BYTES, (end - first) * SLOT_BYTES) + locker, _stateid)

    def lock(self, opened, owner, first, end):
        """Locks slots. False: somebody else has some of them."""
        try:
            opened.locks[owner] = self._ask(lambda: [
                self._at(opened), self._lock(opened, owner, first, end)])[1]
        except Refused as refused:
            if refused.status == DENIED:
                return False
            raise
        opened.held.setdefault(owner, set()).update(range(first, end))
        return True

    def unlock(self, opened, owner, first, end):
        """Unlocks slots. If the server has restarted meanwhile, they were not reclaimed and are
        unlocked, too."""
        opened.held[owner] -= set(range(first, end))
        with contextlib.suppress(Restarted):
            opened.locks[owner] = self._ask(lambda: [self._at(opened), (
                LOCKU, u32(_WRITE_LOCK, 0) + opened.locks[owner]
                + u64(first * SLOT_BYTES, (end - first) * SLOT_BYTES), _stateid)])[1]

    def forget(self, opened, owner):
        """Makes the server forget the owner, which must hold nothing."""
        stateid = opened.locks.pop(owner, None)
        opened.held.pop(owner, None)
        if stateid:
            self._ask(lambda: [(FREE_STATEID, stateid, None)])

    # --- CLOSE beside OPEN, of NFSv4.1

    def reopen(self, opened, apart_s, owner, first, end):
        """Sends an OPEN of the file, and apart_s later (earlier, if negative) a CLOSE of what was
        open until now; then a LOCK for `owner`, who has nothing yet, as soon as the OPEN is
        answered. All of them run at the same time. Returns (whether what was locked before still
        is, whether the new lock was granted). Errors: Lost: the answers cannot all be true;
        Uncertain."""
        before = opened.stateid
        at = self._at(opened)
        opens = 1, [at, (OPEN, self._open_arguments(opened) + u32(_CLAIM_FH), opened_stateid)]
        closes = 2, [at, (CLOSE, u32(0) + before, _stateid)]
        sent, answers = {}, {}
        try:
            for number, request in enumerate((opens, closes) if apart_s > 0 else (closes, opens)):
                time.sleep(abs(apart_s) * number)
                self._send_beside(sent, *request)
            while len(answers) < len(sent):
                operation, status, result = self._receive_beside(sent)
                answers[operation] = status
                if operation == OPEN and status == OK:
                    opened.stateid = result[1][0]
                    self._send_beside(sent, 0, [at, self._lock(opened, owner, first, end)])
                elif operation == LOCK and status == OK:
                    opened.locks[owner] = result[1]
        except Gone as gone:
            raise Uncertain from gone
        return self.judge(opened, before, answers, owner, range(first, end))

    def _send_beside(self, sent, slot, operations):
        xid = self.connection.send(self.minor, self._framed(operations, slot))
        sent[xid] = (slot, operations)

    def _receive_beside(self, sent):
        """Returns (operation, status, results) of the next answer. Uncertain: the operation was not
        reached."""
        xid, answer = self.connection.receive()
        slot, operations = sent[xid]
        operation = operations[1][0]
        try:
            return operation, OK, self._parsed(operations, answer, slot)
        except Refused as refused:
            if refused.op != operation:
                raise Uncertain from refused
            return operation, refused.status, None

    @staticmethod
    def judge(opened, before, answers, owner, slots):
        """Computes the result of reopen(). answers: {operation: status}."""
        same = opened.stateid[4:] == before[4:]
        opens, closes = answers[OPEN], answers[CLOSE]
        if opens in _LATER or closes in _LATER:
            raise Uncertain
        locks = answers[LOCK] if opens == OK else None
        if opens != OK or closes != (OLD_STATEID if same else OK) \
                or locks not in (OK, DENIED, *_LATER):
            raise Lost(f"OPEN is answered {opens}, with {'the same' if same else 'another'} "
                       f"stateid, CLOSE beside it {closes}, then LOCK {locks}")
        if not same:
            opened.locks = {owner: opened.locks[owner]} if locks == OK else {}
            opened.held = {}
        if locks == OK:
            opened.held[owner] = set(slots)
        return same, locks == OK
