"""An arbiter of locks and opens outside NFS: clients say what they hold, it says who is deceived.

A client is one owner. It says "hello NAME", then "enter FILE FIRST END shared|exclusive" whenever
it has been granted a lock of the slots FIRST to END (not included), beside what it holds already or
instead of it, and "leave [FILE FIRST END]" before it gives that back, "leave" everything. Each line
is answered by "ok", "enter" with how often the first slot was held exclusively. So two that are
inside one slot at once, one of them exclusively, have both been told that the lock is theirs.
"open FILE ACCESS DENY" and "closed" say the same of an open: 1 is reading, 2 writing, 3 both. Two
that are open at once, one of which does what the other denies, have both been told that they may.
"reclaimed": its open has survived its server. "beside": it has a lock under what it opened while a
CLOSE of the same open was under way. "lost TEXT": its server says that what it held is gone. "gone
TEXT": its kernel says so; "ok" says that its server does not (the arbiter is told how to find out),
and that nobody knows any more how often the slots were held exclusively: who enters next is
answered "?" and says it: "says FILE SLOT COUNT". "corrupt TEXT": what it read is not what the last
one wrote.

Thread-safe: connections have a thread each.
"""

import collections
import contextlib
import socketserver
import threading
import time

from symlab import netns

Held = collections.namedtuple("Held", "file first end exclusive since")
Opened = collections.namedtuple("Opened", "file access deny since")


def without(held, file, first, end):
    """What is left of a list of Held when an owner gives back a range."""
    left = []
    for one in held:
        if one.file != file or end <= one.first or one.end <= first:
            left.append(one)
            continue
        left += [one._replace(first=at, end=to) for at, to in ((one.first, first), (end, one.end))
                 if at < to]
    return left


class Arbiter:
    """What is held, and what went wrong; `stolen`, `lost`, `corrupt` are lists of sentences.

    kept(client, [Held]): whether a server has what the client's kernel says is gone."""

    def __init__(self, kept=lambda client, held: False):
        self._kept = kept
        self._mutex = threading.Lock()
        self._inside = {}  # client: [Held]
        self._opened = {}  # client: Opened
        self._counts = {}  # (file, slot): exclusive holders so far
        self.granted = 0
        self.judged = collections.Counter()
        self._granted_to = collections.Counter()  # by client: locks and opens
        self.stolen = []
        self.lost = []
        self.corrupt = []

    def held(self):
        """How many ranges are held now."""
        with self._mutex:
            return sum(map(len, self._inside.values()))

    def granted_to(self, name):
        """How many locks and opens clients whose names begin so were granted."""
        with self._mutex:
            return sum(n for client, n in self._granted_to.items() if client.startswith(name))

    def denying(self):
        """How many are open now that deny something."""
        with self._mutex:
            return sum(bool(one.deny) for one in self._opened.values())

    def enter(self, client, file, first, end, exclusive):
        """Returns how often the first slot was held exclusively before; None: nobody knows."""
        with self._mutex:
            now = time.strftime("%H:%M:%S")
            self.stolen += [
                f"{now} {client} was granted {file} {first} to {end}, which {other} holds "
                f"{one.first} to {one.end} since {one.since}"
                for other, held in self._inside.items() if other != client for one in held
                if file == one.file and first < one.end and one.first < end
                and (exclusive or one.exclusive)]
            held = self._inside.get(client, [])
            if held:
                self.judged["beside others"] += 1
            self._inside[client] = without(held, file, first, end) + [
                Held(file, first, end, exclusive, now)]
            self.granted += 1
            self._granted_to[client] += 1
            before = self._counts.get((file, first), 0)
            if exclusive and before is not None:
                self._counts[file, first] = before + 1
            return before

    def says(self, file, slot, count):
        with self._mutex:
            self._counts[file, slot] = count

    def gone(self, client, text):
        """Whether only the client's kernel believes so. Asks the server: may take a while."""
        with self._mutex:
            held = list(self._inside.get(client, []))
        if not held or not self._kept(client, held):
            self.complain("lost", client, text)
            return False
        with self._mutex:
            self.judged["given up by Linux"] += 1
            self._counts.update({(one.file, one.first): None for one in held if one.exclusive})
        return True

    def leave(self, client, file=None, first=0, end=0):
        """Gives back slots, or everything that is locked."""
        with self._mutex:
            if file is None:
                self._inside.pop(client, None)
                return
            self._inside[client] = without(self._inside.get(client, []), file, first, end)
            if self._inside[client]:
                self.judged["given back in parts"] += 1

    def open(self, client, file, access, deny):
        with self._mutex:
            now = time.strftime("%H:%M:%S")
            self.stolen += [
                f"{now} {client} has opened {file} for {access}, denying {deny}; {other} has it "
                f"open for {one.access}, denying {one.deny}, since {one.since}"
                for other, one in self._opened.items() if other != client
                if file == one.file and (access & one.deny or one.access & deny)]
            self._opened[client] = Opened(file, access, deny, now)
            self.judged["opens that deny" if deny else "other opens"] += 1
            self._granted_to[client] += 1

    def closed(self, client):
        with self._mutex:
            self._opened.pop(client, None)

    def count(self, what):
        with self._mutex:
            self.judged[what] += 1

    def complain(self, kind, client, text):
        """kind: of `lost`, `corrupt`."""
        with self._mutex:
            getattr(self, kind).append(
                f"{time.strftime('%H:%M:%S')} {client}: {text}, holding "
                f"{self._inside.get(client)}, {self._opened.get(client)}")

    def verdict(self):
        """One line, and whether nothing went wrong."""
        with self._mutex:
            line = f"locks lost {len(self.lost)}, locks stolen {len(self.stolen)}"
            wrong = [*self.stolen, *self.lost, *self.corrupt]
        return line, not wrong, wrong

    def seen(self):
        """{what: how many} of what was judged."""
        with self._mutex:
            return collections.Counter(
                {"ranges": self.granted, "owners": len(self._granted_to)}) + self.judged


class _Client(socketserver.StreamRequestHandler):
    def handle(self):
        arbiter = self.server.arbiter
        client = str(self.client_address)
        try:
            for line in self.rfile:
                words = line.decode().split()
                if words[:1] == ["hello"]:
                    client = " ".join(words[1:])
                self.wfile.write(self._answer(arbiter, client, words).encode())
        except OSError:
            pass  # its machine is gone
        finally:
            arbiter.leave(client)
            arbiter.closed(client)

    @staticmethod
    def _answer(arbiter, client, words):
        word, count = (words or [""])[0], len(words)
        if word == "enter" and count == 5:
            before = arbiter.enter(client, words[1], int(words[2]), int(words[3]),
                                   words[4] == "exclusive")
            return f"ok {'?' if before is None else before}\n"
        if word == "gone":
            return "ok\n" if arbiter.gone(client, " ".join(words[1:])) else "noted\n"
        if word in ("lost", "corrupt"):
            arbiter.complain(word, client, " ".join(words[1:]))
            return "noted\n"
        if word == "leave" and count in (1, 4):
            arbiter.leave(client, *words[1:2], *map(int, words[2:]))
        elif word == "says" and count == 4:
            arbiter.says(words[1], int(words[2]), int(words[3]))
        elif word == "open" and count == 4:
            arbiter.open(client, words[1], int(words[2]), int(words[3]))
        elif word == "closed":
            arbiter.closed(client)
        elif word in ("reclaimed", "beside"):
            arbiter.count(word)
        elif word != "hello":
            return "what?\n"
        return "ok\n"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextlib.contextmanager
def arbiter_at(space, address, kept):
    """Serves in namespace `space`; yields (arbiter, port). kept: as in Arbiter."""
    arbiter = Arbiter(kept)
    with netns.entered(space):
        server = _Server((address, 0), _Client)
    server.arbiter = arbiter
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield arbiter, server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
