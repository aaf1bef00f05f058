"""Clients that send COMPOUNDs themselves (tests/client/nfs4_ops.py).

Thread class: confined to one thread.
"""

import nfs4_ops as ops
from lab_case import check
from symlab.service import EXPORT


def expect(seen, wanted, what):
    check(seen == wanted or (isinstance(wanted, tuple) and seen in wanted),
          f"{what}: {seen}, expected {wanted}")


def root_of(connection, export=EXPORT):
    """The export's handle."""
    found = connection.compound(0, ops.putrootfh(), ops.lookup(export), ops.getfh())
    check(found.status == "OK", f"LOOKUP of {export}: {found}")
    return found.results[-1].value


class Holder:
    """A client of NFSv4.1 with an open file and a lock in it."""

    def __init__(self, connection, owner, verifier):
        self.connection = connection
        made = self.done(ops.exchange_id(owner, verifier))[0].value
        self.client_id = made.client_id
        self.session = self.done(ops.create_session(made.client_id, made.sequence))[0].value.id
        self.number = 0
        self.opened = None  # (handle, stateid)
        self.locked = None  # the lock's stateid

    def ask(self, *operations):
        self.number += 1
        return self.connection.compound(1, ops.sequence(self.session, self.number), *operations)

    def done(self, *operations):
        """The results of what has to be answered OK."""
        found = self.connection.compound(1, *operations)
        check(found.status == "OK", f"{found}")
        return found.results

    def leave(self):
        if self.opened:
            self.ask(ops.putfh(self.opened[0]), ops.close(self.opened[1]))
        self.done(ops.destroy_session(self.session))
        self.done(ops.destroy_clientid(self.client_id))

    def lock(self, handle, name, reclaim):
        """The statuses of OPEN and LOCK."""
        claim = ops.claim_previous() if reclaim else ops.claim_null(name)
        how = ops.NO_CREATE if reclaim else ops.unchecked()
        opened = self.ask(ops.putfh(handle), ops.open_(claim, self.client_id, "o",
                                                       ops.BOTH | ops.NO_DELEGATION, how=how),
                          ops.getfh())
        if opened.status != "OK":
            return opened.status, None, None
        stateid, file = opened.results[2].value.stateid, opened.results[3].value
        self.opened = file, stateid
        locked = self.ask(ops.putfh(file), ops.lock(
            ops.WRITE_LT, 0, 10, ops.new_locker(0, stateid, 0, self.client_id, "l"), reclaim))
        self.locked = locked.results[-1].value
        return "OK", locked.status, file
