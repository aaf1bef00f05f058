"""Whether a server answers: an NFSv3 NULL call, each over a connection of its own (RFC 5531)."""

import concurrent.futures
import socket
import struct
import time

from symlab import netns

PORT = 2049
_CALL = struct.pack(">IIIIII16x", 0x5E55, 0, 2, 100003, 3, 0)  # no credential, no verifier
NULL_CALL = struct.pack(">I", 0x80000000 | len(_CALL)) + _CALL  # with its record mark
_REPLY_BYTES = 4 + 24
_TRY_S = 0.5
_BETWEEN_S = 0.02


def answers(address, timeout_s=_TRY_S):
    """One try, from the namespace of the calling thread."""
    try:
        with socket.create_connection((address, PORT), timeout_s) as server:
            server.sendall(NULL_CALL)
            return len(server.recv(_REPLY_BYTES, socket.MSG_WAITALL)) == _REPLY_BYTES
    except OSError:
        return False


def wait_for_all(space, addresses, deadline_s, since):
    """Asks all at once until each has answered: {address: seconds from `since`, a time.monotonic(),
    until then; None: never}."""

    def wait_for(address):
        with netns.entered(space):
            while time.monotonic() - since < deadline_s:
                if answers(address):
                    return time.monotonic() - since
                time.sleep(_BETWEEN_S)
        return None

    with concurrent.futures.ThreadPoolExecutor(len(addresses)) as pool:
        return dict(zip(addresses, pool.map(wait_for, addresses), strict=True))
