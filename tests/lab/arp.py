"""Who answers for an IPv4 address, and who announces one: ARP, as RFC 5227 has it; for IPv6 the
unsolicited neighbour advertisements of RFC 4861."""

import contextlib
import socket
import struct
import time

from symlab import netns

_ETH_ARP, _REQUEST, _REPLY = 0x0806, 1, b"\0\x02"
_ETH_IPV6, _ICMPV6, _ADVERTISEMENT = 0x86dd, b"\x3a", b"\x88"
ANSWER_S = 0.5


def announced_by(frame, address):
    """The MAC, as text, if an Ethernet frame announces the address, else None."""
    if ":" not in address:
        wanted = socket.inet_aton(address)
        return frame[22:28].hex(":") if frame[28:32] == wanted == frame[38:42] else None
    # Ethernet (14 bytes) and IPv6 (40 bytes), type, code, checksum, flags; target; option 2.
    solicited = frame[58:59] and frame[58] & 0x40
    if frame[20:21] != _ICMPV6 or frame[54:55] != _ADVERTISEMENT or solicited:
        return None
    wanted = socket.inet_pton(socket.AF_INET6, address)
    return frame[80:86].hex(":") if frame[62:78] == wanted else None


@contextlib.contextmanager
def announcements(space, device, address):
    """What is announced for the address while the body runs: yields a function that returns the MAC
    addresses, as text, in the order in which they have come so far."""
    protocol = _ETH_IPV6 if ":" in address else _ETH_ARP
    found = []
    with netns.entered(space):
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))

    def so_far():
        with contextlib.suppress(BlockingIOError):
            while True:
                mac = announced_by(link.recv(256), address)
                if mac:
                    found.append(mac)
        return found

    with link:
        link.bind((device, protocol))
        link.setblocking(False)
        yield so_far


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
