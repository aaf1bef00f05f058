"""Scripts that run in a client VM: the frames of guest_exec.cc, over a socket or a pair of FIFOs.

Thread class: a Job belongs to one thread.
"""

import contextlib
import os
import secrets
import select
import struct
import time

KILL_TIMEOUT_S = 5.0       # a killed job in an uninterruptible system call does not report
STATUS_TIMED_OUT = 124     # as timeout(1)
STATUS_VM_GONE = 125
CHUNK_BYTES = 65536

_MAGIC = b"SYMF"
_HEADER = struct.Struct("<4scII")


class Fifos:
    """A connection over two FIFOs, as far as a Job uses a socket.

    An OSError is raised when nobody reads `to_vm`: the VM has ended.
    """

    def __init__(self, to_vm, from_vm):
        self._in = os.open(to_vm, os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(self._in, True)
        self._out = os.open(from_vm, os.O_RDONLY | os.O_NONBLOCK)

    def fileno(self):
        return self._out

    def recv(self, size):
        return os.read(self._out, size)

    def sendall(self, data):
        while data:
            data = data[os.write(self._in, data):]

    def close(self):
        for fd in (self._in, self._out):
            if fd >= 0:
                os.close(fd)
        self._in = self._out = -1


class Job:
    """One script running in the VM. `output` grows as poll() or wait() are called."""

    def __init__(self, port_lock, connection, script):
        self._lock = port_lock
        self._connection = connection
        self._id = secrets.randbits(32)
        self._input = b""
        self.output = b""
        self.status = None
        self._send(b"R", script.encode() if isinstance(script, str) else script)

    def _send(self, kind, payload=b""):
        with contextlib.suppress(BrokenPipeError):
            self._connection.sendall(_HEADER.pack(_MAGIC, kind, self._id, len(payload)) + payload)

    def _take_frames(self):
        while True:
            at = self._input.find(_MAGIC)
            if at < 0:
                return
            self._input = self._input[at:]
            if len(self._input) < _HEADER.size:
                return
            _, kind, job, length = _HEADER.unpack_from(self._input)
            if len(self._input) < _HEADER.size + length:
                return
            payload = self._input[_HEADER.size:_HEADER.size + length]
            self._input = self._input[_HEADER.size + length:]
            if job == self._id and kind == b"O":
                self.output += payload
            elif job == self._id and kind == b"X":
                self.status = struct.unpack("<I", payload)[0]

    def poll(self, timeout_s=0.0):
        """Takes what the VM has sent, waiting at most timeout_s for it; returns the status."""
        if self.status is None and select.select([self._connection], [], [], timeout_s)[0]:
            data = self._connection.recv(CHUNK_BYTES)
            if not data:
                self.status = STATUS_VM_GONE
            self._input += data
            self._take_frames()
        if self.status is not None:
            self.close()
        return self.status

    def wait(self, timeout_s):
        """Waits for the end; kills the job after timeout_s (status 124). Returns the status."""
        deadline = time.monotonic() + timeout_s
        while self.status is None and time.monotonic() < deadline:
            self.poll(max(0.0, deadline - time.monotonic()))
        if self.status is None:
            self.kill()
        return self.status

    def kill(self):
        if self.status is None:
            self._send(b"K")
            deadline = time.monotonic() + KILL_TIMEOUT_S
            while self.status is None and time.monotonic() < deadline:
                self.poll(max(0.0, deadline - time.monotonic()))
            self.status = STATUS_TIMED_OUT
            self.close()

    def close(self):
        self._connection.close()
        self._lock.close()


class Result:
    """Exit status and output (stdout and stderr together, decoded) of a finished script."""

    def __init__(self, status, output):
        self.status = status
        self.output = output.decode(errors="replace")
