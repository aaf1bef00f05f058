"""A program on a pseudo-terminal: keys go in, what it writes comes out."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

DEADLINE_S = 30.0


class PtySession:
    def __init__(self, argv, environment, rows=30, columns=120):
        self.text = ""
        self.status = None
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.execvpe(argv[0], argv, environment)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys):
        os.write(self._fd, keys.encode())

    def forget(self):
        self.text = ""

    def _read(self, seconds):
        """Reads what is there; False: nothing came in that time."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # the program has ended
            data = b""
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def expect(self, wanted, deadline_s=DEADLINE_S):
        until = time.monotonic() + deadline_s
        while wanted not in self.text:
            if time.monotonic() > until:
                raise AssertionError(f"{wanted!r} has not appeared in {self.text!r}")
            self._read(0.1)

    def wait(self, deadline_s=DEADLINE_S):
        """Waits for its end; returns its exit status (-N: signal N)."""
        until = time.monotonic() + deadline_s
        while self.status is None:
            self._read(0.05)
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                raise AssertionError(f"it has not ended: {self.text!r}")
        while self._read(0.05):
            pass
        return self.status

    def interrupt(self):
        """Ctrl-C."""
        self.send("\x03")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._fd)
