"""The LUNs of a lab served by tests/support/fuse_lun: one view per head, faults on command."""

import os
import socket

from . import mounts, processes, product
from .errors import LabDeadEnd, LabError
from .wait import eventually

PROGRAM = "fuse_lun"
PROCESS = "luns"  # name of the server in the lab's records
VIEW = "luns"  # a head's view, in the head's directory
SHARED = "san"  # where each head sees its own view, in the lab's directory
SOCKET = "luns.sock"
LOG = "luns.log"
READY_S = 10.0
COMMAND_S = 30.0
STOP_S = 3.0


def _view(head):
    return os.path.join(head["dir"], VIEW)


def shared_dir(directory):
    """The directory where every head sees its own view: all heads use the same path for a LUN."""
    return os.path.join(directory, SHARED)


def binds(state, head):
    """The bind mounts through which the processes of a head see its view there."""
    return [(_view(head), shared_dir(state.directory))]


def path_of(state, name):
    """The path of the LUN on every head."""
    return os.path.join(shared_dir(state.directory), name)


def view_path(head, name):
    """The path of the same inode as path_of() on that head, for programs outside it."""
    return os.path.join(_view(head), name)


def start(state, files):
    """Serves files ({name: path}) to every head of the lab."""
    if not os.path.exists("/dev/fuse"):
        raise LabError("LUNS=fuse: this machine has no /dev/fuse")
    argv = [product.program(PROGRAM), "--socket", os.path.join(state.directory, SOCKET)]
    os.makedirs(shared_dir(state.directory), exist_ok=True)
    for head in state.data["heads"]:
        state.note("mounts", _view(head))
        os.makedirs(_view(head), exist_ok=True)
        argv += ["--view", f"{head['name']}={_view(head)}"]
    for name, path in files.items():
        argv += ["--lun", f"{name}={path}"]
    log = os.path.join(state.directory, LOG)
    record = processes.spawn(argv, log, cgroup=state.data["cgroup"])
    state.note_process(PROCESS, record)

    def serves():
        if not processes.is_alive(record):
            with open(log, encoding="utf-8", errors="replace") as file:
                raise LabDeadEnd(f"{PROGRAM} has ended: {file.read()[-500:].strip()}")
        return all(os.path.exists(os.path.join(_view(head), name))
                   for head in state.data["heads"] for name in files)
    eventually(READY_S, f"{PROGRAM} serves", serves)


def command(state, *words):
    """Sends one command; returns its output. LabError: the server's error."""
    line = " ".join(str(word) for word in words)
    if state.data.get("lun_kind") != "fuse":
        raise LabError(f"`{line}`: the lab's LUNs are not served by {PROGRAM}: `lab up LUNS=fuse`")
    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(COMMAND_S)
        try:
            server.connect(os.path.join(state.directory, SOCKET))
            server.sendall(line.encode() + b"\n")
            answer = ""
            while not answer.endswith(("\nok\n", "ok\n")) and "error: " not in answer:
                piece = server.recv(65536)
                if not piece:
                    raise LabError(f"`{line}`: {PROGRAM} closed the connection")
                answer += piece.decode()
        except OSError as error:
            raise LabError(f"`{line}`: no answer of {PROGRAM}: {error}") from error
    if "error: " in answer:
        raise LabError(f"`{line}`: {answer.strip()}")
    return answer.removesuffix("ok\n")


def stop(state):
    """Ends the server and removes its mounts; may be repeated."""
    processes.stop(state.data["processes"].get(PROCESS), STOP_S)
    mounts.unmount(state.data.get("mounts", []))
