"""An arbiter of locks outside NFS: clients say what they hold, it says who is deceived.

A client says "hello NAME", then "enter FILE FIRST END shared|exclusive" whenever it has been
granted a lock of the slots FIRST to END (not included), and "leave" before it gives the lock back;
each line is answered by "ok", "enter" with how often the first slot was held exclusively. So two
that are inside at once, one of them exclusively, have both been told that the lock is theirs.
"lost TEXT": its kernel says that the lock is gone. "corrupt TEXT": what it read is not what the
last one wrote.

Thread-safe: connections have a thread each.
"""

import contextlib
import socketserver
import threading
import time

from symlab import netns


class Arbiter:
    """What is held, and what went wrong; `stolen`, `lost`, `corrupt` are lists of sentences."""

    def __init__(self):
        self._mutex = threading.Lock()
        self._inside = {}  # client: (file, first, end, exclusive, since)
        self._counts = {}  # (file, slot): exclusive holders so far
        self.granted = 0
        self._granted_to = {}  # client: how many
        self.stolen = []
        self.lost = []
        self.corrupt = []

    def held(self):
        """How many locks are held now."""
        with self._mutex:
            return len(self._inside)

    def granted_to(self, name):
        """How many locks clients whose names begin so were granted."""
        with self._mutex:
            return sum(n for client, n in self._granted_to.items() if client.startswith(name))

    def enter(self, client, file, first, end, exclusive):
        """Returns how often the first slot was held exclusively before."""
        with self._mutex:
            now = time.strftime("%H:%M:%S")
            for other, (its_file, its_first, its_end, its_exclusive, since) \
                    in self._inside.items():
                if file == its_file and first < its_end and its_first < end \
                        and (exclusive or its_exclusive):
                    self.stolen.append(f"{now} {client} was granted {file} {first} to {end}, which "
                                       f"{other} holds {its_first} to {its_end} since {since}")
            self._inside[client] = (file, first, end, exclusive, now)
            self.granted += 1
            self._granted_to[client] = self._granted_to.get(client, 0) + 1
            before = self._counts.get((file, first), 0)
            if exclusive:
                self._counts[file, first] = before + 1
            return before

    def leave(self, client):
        with self._mutex:
            self._inside.pop(client, None)

    def complain(self, kind, client, text):
        """kind: of `lost`, `corrupt`."""
        with self._mutex:
            getattr(self, kind).append(f"{time.strftime('%H:%M:%S')} {client}: {text}, "
                                       f"holding {self._inside.get(client)}")

    def verdict(self):
        """One line, and whether nothing went wrong."""
        with self._mutex:
            line = f"locks lost {len(self.lost)}, locks stolen {len(self.stolen)}"
            wrong = [*self.stolen, *self.lost, *self.corrupt]
        return line, not wrong, wrong


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

    @staticmethod
    def _answer(arbiter, client, words):
        if words[:1] == ["enter"] and len(words) == 5:
            before = arbiter.enter(client, words[1], int(words[2]), int(words[3]),
                                   words[4] == "exclusive")
            return f"ok {before}\n"
        if words[:1] == ["hello"]:
            return "ok\n"
        if words == ["leave"]:
            arbiter.leave(client)
            return "ok\n"
        if words[:1] in (["lost"], ["corrupt"]):
            arbiter.complain(words[0], client, " ".join(words[1:]))
            return "noted\n"
        return "what?\n"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextlib.contextmanager
def arbiter_at(space, address):
    """Serves in namespace `space`; yields (arbiter, port)."""
    arbiter = Arbiter()
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
