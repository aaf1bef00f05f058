"""Bytes that a client has received and its server's kernel knows nothing of: as if the last reply
had left after the numbers of the connection were read. TCP: RFC 9293, 3.1; tcp_repair of Linux."""

import socket
import struct

_REPAIR, _QUEUE, _SEQUENCE = 19, 20, 21  # of setsockopt(IPPROTO_TCP), linux/tcp.h
_OFF_WITHOUT_PROBE, _ON = -1, 1
_RECEIVED, _SENT = 1, 2
_PUSH_AND_ACK = 0x18
_WINDOW = 1024


def _sequence(connection, queue):
    connection.setsockopt(socket.IPPROTO_TCP, _QUEUE, queue)
    return connection.getsockopt(socket.IPPROTO_TCP, _SEQUENCE) & 0xffffffff


def _checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def receive(connection, data):
    """The socket, of IPv4, receives data (an even number of bytes) that its peer has not sent. Call
    from the socket's network namespace."""
    connection.setsockopt(socket.IPPROTO_TCP, _REPAIR, _ON)
    received, sent = _sequence(connection, _RECEIVED), _sequence(connection, _SENT)
    connection.setsockopt(socket.IPPROTO_TCP, _REPAIR, _OFF_WITHOUT_PROBE)
    (peer, peer_port), (own, own_port) = connection.getpeername(), connection.getsockname()
    ends = socket.inet_aton(peer) + socket.inet_aton(own)

    def segment(checksum):
        return struct.pack(">HHIIBBHHH", peer_port, own_port, received, sent, 5 << 4,
                           _PUSH_AND_ACK, _WINDOW, checksum, 0) + data

    pseudo = ends + struct.pack(">HH", socket.IPPROTO_TCP, len(segment(0)))
    tcp = segment(_checksum(pseudo + segment(0)))
    # The kernel fills in the length, the identification and the checksum: ip(7), IP_HDRINCL.
    header = struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_TCP, 0) + ends
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.sendto(header + tcp, (own, 0))
