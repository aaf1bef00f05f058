"""Who answers for an IPv4 address, and who announces one: ARP, as RFC 5227 has it."""

import contextlib
import socket
import struct
import time

from symlab import netns

_ETH_ARP, _REQUEST, _REPLY = 0x0806, 1, b"\0\x02"
ANSWER_S = 0.5


@contextlib.contextmanager
def announcements(space, device, address):
    """What is announced for the address while the body runs: yields a list that has, when the body
    has ended, the MAC addresses, as text, in the order in which they came."""
    wanted = socket.inet_aton(address)
    found = []
    with netns.entered(space):
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_ARP))
    with link:
        link.bind((device, _ETH_ARP))
        yield found
        link.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = link.recv(128)
                if frame[28:32] == wanted == frame[38:42]:
                    found.append(frame[22:28].hex(":"))


def holders(space, device, address):
    """The MAC addresses, as text, that answer for the address on the network of that device."""
    target = socket.inet_aton(address)
    found = set()
    with netns.entered(space), contextlib.closing(socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_ARP))) as link:
        link.bind((device, _ETH_ARP))
        mac = link.getsockname()[4]
        link.send(b"\xff" * 6 + mac + struct.pack(">HHHBBH", _ETH_ARP, 1, 0x0800, 6, 4, _REQUEST)
                  + mac + bytes(4) + bytes(6) + target)
        end = time.monotonic() + ANSWER_S
        while (left := end - time.monotonic()) > 0:
            link.settimeout(left)
            with contextlib.suppress(TimeoutError):
                frame = link.recv(128)
                if frame[20:22] == _REPLY and frame[28:32] == target:
                    found.add(frame[22:28].hex(":"))
    return found
