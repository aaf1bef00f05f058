"""A session of NFSv4.2 whose operations are written as bytes. Thread class: one thread."""

import os

from lab_case import check
from nfs4_wire import CREATE_SESSION, EXCHANGE_ID, OK, SEQUENCE, Connection, opaque, u32, u64
from symlab.service import VIP

SEQUENCE_BYTES = 36


class Session:
    """One session of NFSv4.2."""

    def __init__(self):
        self.connection = Connection(VIP)
        channel = u32(0, 1 << 20, 1 << 20, 4096, 16, 4, 0)
        answer = self.connection.compound(2, [
            (EXCHANGE_ID, os.urandom(8) + opaque(f"optional {os.getpid()}") + u32(0, 0, 0))])
        check((answer.u32(), answer.u32()) == (EXCHANGE_ID, OK), "EXCHANGE_ID is refused")
        client, sequence = answer.u64(), answer.u32()
        self.client = client
        answer = self.connection.compound(2, [
            (CREATE_SESSION, u64(client) + u32(sequence, 0) + channel * 2
             + u32(0x40000000, 1, 0))])
        check((answer.u32(), answer.u32()) == (CREATE_SESSION, OK), "CREATE_SESSION is refused")
        self.session = answer.take(16)
        self.sequence = 0

    def ask(self, *operations):
        """The (operation, status) of the last one that was answered, and what follows."""
        self.sequence += 1
        answer = self.connection.compound(2, [
            (SEQUENCE, self.session + u32(self.sequence, 0, 0, 0)), *operations])
        check((answer.u32(), answer.u32()) == (SEQUENCE, OK), "SEQUENCE is refused")
        answer.take(SEQUENCE_BYTES)
        for number, _ in operations:
            answered = answer.u32(), answer.u32()
            if answered[1] != OK or number == operations[-1][0]:
                return answered, answer
        raise AssertionError("no operation was answered")
