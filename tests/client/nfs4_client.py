"""A synchronous NFSv4.0 and v4.1 client that can read, write, open and lock, and not much more.

Around a server's restart it does what the Linux client does, without waiting: it makes a new
connection as soon as the old one is reset, sends the same request again, makes a new client id or
session when the server does not know the old one, and reclaims opens by CLAIM_PREVIOUS or, where
the server has no grace period (NO_GRACE), opens them again. Formats: RFC 5531, 7530, 8881.

Thread class: confined to one thread; one client each.
"""

import os
import socket
import struct
import time

PORT = 2049
ANSWER_S = 10.0
AGAIN_S = 0.2  # wait after DELAY and GRACE
GIVE_UP_S = 300.0
RECORD_MAX = 4 << 20

OK = 0
GRACE, DELAY, NO_GRACE, EXIST = 10013, 10008, 10033, 17
DENIED, RECLAIM_BAD = 10010, 10034
# Statuses that mean: the server has restarted, or has forgotten this client.
FORGOTTEN = {10022: "STALE_CLIENTID", 10023: "STALE_STATEID", 10025: "BAD_STATEID",
             10011: "EXPIRED", 10052: "BADSESSION", 10078: "DEADSESSION",
             10055: "CONN_NOT_BOUND_TO_SESSION", 10063: "SEQ_MISORDERED", 10026: "BAD_SEQID"}

(CLOSE, GETATTR, GETFH, LOCK, LOCKU, LOOKUP, OPEN, OPEN_CONFIRM, PUTFH, PUTROOTFH, READ,
 SETCLIENTID, SETCLIENTID_CONFIRM, WRITE, EXCHANGE_ID, CREATE_SESSION, SEQUENCE,
 RECLAIM_COMPLETE) = (
     4, 9, 10, 12, 14, 15, 18, 20, 22, 24, 25, 35, 36, 38, 42, 43, 53, 58)
_SEQUENCE_BYTES = 16 + 4 * 5  # length of its result
_CLAIM_FH = 4
_BOTH_WAYS = 3  # OPEN4_SHARE_ACCESS_BOTH
_NO_DELEGATION = 0x400  # OPEN4_SHARE_ACCESS_WANT_NO_DELEG
_CONFIRM = 2  # OPEN4_RESULT_CONFIRM
_CONN_BACK_CHAN = 2  # CREATE_SESSION4_FLAG_CONN_BACK_CHAN
_CALL = 0
_WRITE_LOCK, _AWAITED_WRITE_LOCK = 2, 4
_FILE_SYNC = 2
_SIZE_BIT = 1 << 4


class Gone(Exception):
    """The connection has ended, or an answer did not come in time."""


class _Restarted(Exception):
    """A stateid from before the server's restart must not be sent again."""


class Refused(Exception):
    """The status with which the server refused an operation. answer: what follows the status."""

    def __init__(self, op, status, answer=None):
        super().__init__(f"operation {op}: status {status}")
        self.op = op
        self.status = status
        self.answer = answer


def u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def u64(*values):
    return struct.pack(f">{len(values)}Q", *values)


def opaque(data):
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


class Answer:
    """Reads XDR."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise Gone(f"an answer of {len(self.data)} bytes is cut off")
        self.at += size
        return self.data[self.at - size:self.at]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.take(8))[0]

    def opaque(self):
        size = self.u32()
        data = self.take(size)
        self.take(-size % 4)
        return data

    def bitmap(self):
        for _ in range(self.u32()):
            self.u32()


class Connection:
    """Calls of the COMPOUND procedure, one at a time."""

    def __init__(self, address):
        self.xid = int.from_bytes(os.urandom(4), "big")
        try:
            self.socket = socket.create_connection((address, PORT))
        except OSError as error:
            raise Gone(str(error)) from error
        self.socket.settimeout(ANSWER_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.socket.close()

    def _receive(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise Gone("closed by the server")
            data += more
        return data

    def compound(self, minor, operations):
        """operations: [(number, arguments)]. Returns the Answer behind its count of results."""
        xid = self.send(minor, operations)
        while True:
            answered, answer = self.receive()
            if answered == xid:
                return answer

    def send(self, minor, operations, again=None):
        """Sends a call and returns its xid, which receive() returns with the answer. `again`: the
        xid of a call that is sent again."""
        if again is None:
            self.xid = (self.xid + 1) & 0xFFFFFFFF
        xid = self.xid if again is None else again
        credential = u32(0) + opaque("nfs4") + u32(0, 0, 0)  # stamp, machine, uid, gid, no others
        call = u32(xid, 0, 2, 100003, 4, 1, 1) + opaque(credential) + u32(0, 0)
        call += opaque("") + u32(minor, len(operations))
        call += b"".join(u32(number) + arguments for number, arguments in operations)
        try:
            self.socket.sendall(u32(0x80000000 | len(call)) + call)
        except OSError as error:
            raise Gone(str(error)) from error
        return xid

    def ignore_call(self):
        """Waits for a call by the server. It is never answered."""
        message = self._message()
        message.u32()
        if message.u32() != _CALL:
            raise Gone("an answer to nothing")

    def _message(self):
        data, last = b"", False
        try:
            while not last:
                mark = struct.unpack(">I", self._receive(4))[0]
                last = bool(mark & 0x80000000)
                data += self._receive(min(mark & 0x7FFFFFFF, RECORD_MAX))
        except OSError as error:
            raise Gone(str(error)) from error
        return Answer(data)

    def receive(self):
        """Returns (xid, Answer behind its count of results) of the next answer."""
        answer = self._message()
        xid = answer.u32()
        kind, state = answer.u32(), answer.u32()
        answer.u32()
        answer.opaque()  # verifier
        if kind != 1 or state != 0 or answer.u32() != 0:
            raise Gone("the call was not accepted")
        answer.u32()  # the status of the last operation is its own
        answer.opaque()
        answer.u32()
        return xid, answer


def expect_ok(answer):
    """Reads the head of an operation's result. Errors: Refused."""
    number, status = answer.u32(), answer.u32()
    if status != OK:
        raise Refused(number, status, answer)


def opened_stateid(answer):
    """The stateid of an OPEN, and whether it must be confirmed (v4.0)."""
    stateid = answer.take(16)
    answer.take(20)
    flags = answer.u32()
    answer.bitmap()
    if answer.u32() == 3 and answer.u32() in (1, 2):  # OPEN_DELEGATE_NONE_EXT
        answer.u32()
    return stateid, flags & _CONFIRM


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

    def _once(self, *operations):
        """Sends one COMPOUND; `parse` functions read the Answer at each operation's result.

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
        """As _once, until the server answers: over new connections, after recovery, after DELAY.

        operations may be callables, which are called again for each attempt.
        """
        return self._until_answered(
            lambda: self._once(*[op() if callable(op) else op for op in operations]))

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
            [(self.client_id, sequence)] = self._once(
                (EXCHANGE_ID, arguments, lambda a: (a.u64(), a.u32())))
            channel = u32(0, 1 << 20, 1 << 20, 4096, 16, 4, 0)
            flags = _CONN_BACK_CHAN if self.called_back else 0
            arguments = u64(self.client_id) + u32(sequence, flags) + channel * 2 \
                + u32(0x40000000, 1, 0)
            [self.session] = self._once((CREATE_SESSION, arguments, lambda a: a.take(16)))
            self.slot_sequence = 0
            self.slots = {}
            return
        arguments = self.verifier + opaque(self.owner) + u32(0x40000000) + opaque("tcp") \
            + opaque("0.0.0.0.0.0") + u32(0)
        [(self.client_id, confirm)] = self._once(
            (SETCLIENTID, arguments, lambda a: (a.u64(), a.take(8))))
        self._once((SETCLIENTID_CONFIRM, u64(self.client_id) + confirm, None))

    def _reclaim_locks(self):
        self.ranges = self.ranges[:self.reclaims]
        for held in list(self.ranges):
            try:
                self.held = self._once(self._here(), self._lock(*held, _WRITE_LOCK, True))[1]
            except Refused as refused:
                if refused.status not in (DENIED, RECLAIM_BAD):
                    raise
                self.ranges.remove(held)

    def _reclaim_complete(self):
        if self.minor:
            self._once((RECLAIM_COMPLETE, u32(0), None))

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
                            (GETFH, b"", Answer.opaque))
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
        _, (stateid, unconfirmed), handle = self._once(
            (PUTFH, opaque(at), None), (OPEN, arguments + claim, opened_stateid),
            (GETFH, b"", Answer.opaque))
        if unconfirmed and not self.minor:
            _, stateid = self._once(
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
            self._once(self._here(), (READ, self.stateid + u64(0) + u32(1), None))
        except Refused as refused:
            return refused.status
        return OK

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
            locker = u32(0) + self.held[1] + u32(self._next_lock_sequence())
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

        def wanted():
            return LOCK, u32(_WRITE_LOCK, 0) + u64(0, (1 << 64) - 1) + u32(
                1, self._next_owner_sequence()) + self.stateid + u32(0) + u64(self.client_id) \
                + opaque(f"{self.owner} lock {self.locks}"), lambda a: a.take(16)

        def given_back():
            if self.recoveries != at:
                raise _Restarted
            return LOCKU, u32(_WRITE_LOCK, 1) + held + u64(0, (1 << 64) - 1), lambda a: a.take(16)

        while True:
            held = self.call(self._here, wanted)[1]
            at = self.recoveries
            try:
                self.call(self._here, given_back)
                return
            except _Restarted:
                pass
