"""Extended attributes of one filesystem through several heads."""

import contextlib
import threading
import time

import labs
from lab_case import check, lab_test
from nfs4_wire import OK
from steps.cluster import heads_from, others, victim
from steps.deadlines import BETWEEN_S
from steps.rpc import from_client
from steps.xattrs import CREATE, EXIST, NOXATTR, REPLACE, XattrClient, status_of

TURNS = 40
RACES = 40


@contextlib.contextmanager
def one_file(bench, name, services):
    """A client of the same file through each service."""
    with from_client(bench), contextlib.ExitStack() as stack:
        clients = []
        for service in services:
            clients.append(XattrClient(service.vip, service.filesystem, name))
            stack.callback(clients[-1].close)
        yield clients


def race(clients, name):
    """Each creates the attribute, at once; returns their statuses."""
    together = threading.Barrier(len(clients))
    statuses = [None] * len(clients)

    def create(at):
        together.wait()
        statuses[at] = status_of(clients[at].set, name, f"of {at}", CREATE)

    threads = [threading.Thread(target=create, args=(at,)) for at in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


@lab_test("INV-2", "INV-4", "operations/xattrs.md", lab=labs.THREE_HEADS)
def xattrs_are_coherent(bench):
    """What one head sets or removes, the others show at once; of two creations one is refused."""
    with one_file(bench, "xattr-coherent", bench.services) as clients:
        for turn in range(TURNS):
            setting, reading = clients[turn % 3], clients[(turn + 1) % 3]
            value = f"{turn}".encode() * (1 + turn * 100)
            setting.set("turn", value)
            check(reading.get("turn") == value, f"turn {turn}: an old value")
            check(reading.change() == setting.change(), f"turn {turn}: another change attribute")
            setting.set("now", b"")
            check(reading.names() == [b"now", b"turn"], f"turn {turn}: {reading.names()}")
            reading.remove("now")
            answered = status_of(setting.get, "now")
            check(answered == NOXATTR, f"turn {turn}: removed, then status {answered}")
        for turn in range(RACES):
            statuses = race(clients, f"race{turn}")
            check(sorted(statuses) == [OK, EXIST, EXIST], f"race {turn}: {statuses}")
            winner = f"of {statuses.index(OK)}".encode()
            seen = {client.get(f"race{turn}") for client in clients}
            check(seen == {winner}, f"race {turn}: {seen}, won by {winner}")


class Counter(threading.Thread):
    """Sets an attribute to 1, 2, 3, ..., each after the one before was acknowledged."""

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.acknowledged = 0
        self.stopping = False
        self.failed = None

    def run(self):
        try:
            while not self.stopping:
                number = self.acknowledged + 1
                self.client.set("count", str(number), REPLACE)
                self.acknowledged = number
        except Exception as error:  # pylint: disable=broad-except  # told by the case
            self.failed = error


@lab_test("INV-2", "INV-4", "architecture/moves.md", lab=labs.THREE_HEADS)
def xattrs_while_a_vnfs_moves(bench):
    """An attribute is set again and again while its VNFS moves through every head and home."""
    service, other = victim(bench), others(bench)[0]
    with one_file(bench, "xattr-moves", (service, other)) as (moving, beside):
        moving.set("count", b"0")
        counter = Counter(moving)
        counter.start()
        try:
            for head in heads_from(service):
                check_counted(counter, beside)
                service.rehost(head)
        finally:
            counter.stopping = True
            counter.join()
        check(counter.failed is None, f"SETXATTR: {counter.failed}")
        check(int(beside.get("count")) == counter.acknowledged, "not the last value")
    check(counter.acknowledged > 0, "nothing was set")


def check_counted(counter, beside):
    """For a while: what the other head shows is not older than what was acknowledged before."""
    end = time.monotonic() + BETWEEN_S
    while time.monotonic() < end and counter.failed is None:
        before = counter.acknowledged
        seen = int(beside.get("count"))
        after = counter.acknowledged + 1
        check(before <= seen <= after, f"{seen} is shown, {before} acknowledged before")
