"""What a case of a database is made of: the decorator, and what happens to each server.

Thread class: confined to one thread.
"""

import contextlib

from lab_case import check

_cases = []
LONGEST_TOLD = 400
KILLED_MAX_S = 300


class Case:
    def __init__(self, function, short, whole):
        self.function = function
        self.name = function.__name__
        self.summary = function.__doc__.strip().splitlines()[0]
        self.short = short
        self.whole = whole


def engine_case(short=False, whole=True):
    """Marks a case: a function of place and guest that returns what is worth telling. short: it is
    part of the short form; whole: of the whole one, too, where no other case contains it."""
    def mark(function):
        _cases.append(Case(function, short, whole))
        return function
    return mark


def all_cases():
    return list(_cases)


def told(lines):
    return " | ".join(lines)[:LONGEST_TOLD]


def waits(guest, place, log):
    """How long a writer waited for an answer in each of the things that happened, as text."""
    return "longest waits: " + ", ".join(
        f"{what} {gap:.1f} s" for what, gap in guest.gaps(log, place.spans).items())


class Fire:
    """A server's load and a writer of rows while the body does something to the VNFSs; then,
    kill_and_start(): the server is killed under load, and started again."""

    def __init__(self, server, guest, engine, target, seconds):
        self.server = server
        self.guest = guest
        self.engine = engine
        self.target = target
        self.seconds = seconds
        self.logs = [f"{engine}.acked"]
        self.output = ""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.load = stack.enter_context(self.server.load(self.seconds))
            self.writer = stack.enter_context(self.guest.write_rows(
                self.engine, self.target, self.logs[0], self.seconds - 2))
            self.let_run(5)
            self._stack = stack.pop_all()
        return self

    def let_run(self, seconds):
        self.writer.let_run(seconds)

    def __exit__(self, kind, *_):
        with self._stack:
            if kind is None:
                self.output = self.load.end()
                ended = self.writer.end()
                check('"lost": 0' in ended, f"connections were lost: {ended}")

    def kill_and_start(self):
        """SIGKILL of the server under load, and a start; the writer goes on with the new one."""
        self.logs.append(f"{self.engine}-killed.acked")
        with self.server.load(KILLED_MAX_S), \
                self.guest.write_rows(self.engine, self.target, self.logs[1], KILLED_MAX_S,
                                      first=1_000_000) as writer:
            writer.let_run(8)
            self.server.kill()
            self.server.start()
            writer.let_run(5)
            self.guest.stop_rows(self.logs[1])
            ended = writer.end()
            check('"lost": 0' not in ended, f"the server was not missed: {ended}")
