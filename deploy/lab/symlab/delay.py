#!/usr/bin/env python3
"""Delays the packets of a head's link, in both directions: a relay between its port and its bridge.

This kernel has no netem. The relay takes the port off the bridge, puts a tap there instead, and
carries frames between the two. It sends each frame after the delay, and never before an earlier
one. Offloads pass through it (virtio_net_hdr), so that checksums and segments stay as they are.

Run as a program: delay.py PORT TAP_FD DELAY_MS JITTER_MS, in the namespace of the port.
"""

import collections
import contextlib
import os
import random
import select
import signal
import socket
import sys
import time

_ETH_P_ALL = 0x0003
_SOL_PACKET = 263
_PACKET_ADD_MEMBERSHIP = 1  # with PACKET_MR_PROMISC
_PACKET_VNET_HDR = 15
_PACKET_IGNORE_OUTGOING = 23
_PACKET_MR_PROMISC = 1
_FRAME_BYTES = 65_536 + 128
_QUEUE_FRAMES = 20_000  # with so many frames under way, further ones are dropped, as by a router


def open_port(device):
    """A packet socket for what arrives at the device and leaves by it, with virtio_net_hdr in
    front."""
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    port.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    port.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
    port.bind((device, _ETH_P_ALL))
    index = socket.if_nametoindex(device)
    port.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP,
                    index.to_bytes(4, sys.byteorder)
                    + _PACKET_MR_PROMISC.to_bytes(2, sys.byteorder) + bytes(10))
    port.setblocking(False)
    return port


class Direction:
    def __init__(self, read, write, delay_s, jitter_s):
        self.read, self.write = read, write
        self.delay_s, self.jitter_s = delay_s, jitter_s
        self.frames = collections.deque()  # (due, frame)
        self.last_due = 0.0

    def take(self, now):
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = self.read()
                if len(self.frames) >= _QUEUE_FRAMES:
                    continue
                due = now + self.delay_s + random.uniform(0, self.jitter_s)
                self.last_due = max(self.last_due, due)
                self.frames.append((self.last_due, frame))

    def give(self, now):
        while self.frames and self.frames[0][0] <= now:
            with contextlib.suppress(OSError):  # link down or queue full: frame lost
                self.write(self.frames[0][1])
            self.frames.popleft()


def relay(device, tap, delay_s, jitter_s):
    """Carries frames until SIGTERM."""
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    port = open_port(device)
    os.set_blocking(tap, False)
    directions = [
        Direction(lambda: port.recv(_FRAME_BYTES), lambda frame: os.write(tap, frame), delay_s,
                  jitter_s),
        Direction(lambda: os.read(tap, _FRAME_BYTES), port.send, delay_s, jitter_s)]
    while not ended:
        dues = [d.frames[0][0] for d in directions if d.frames]
        timeout = max(min(dues) - time.monotonic(), 0) if dues else 1.0
        ready, _, _ = select.select([port, tap], [], [], timeout)
        now = time.monotonic()
        if port in ready:
            directions[0].take(now)
        if tap in ready:
            directions[1].take(now)
        for direction in directions:
            direction.give(time.monotonic())


if __name__ == "__main__":
    relay(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) / 1000, float(sys.argv[4]) / 1000)
