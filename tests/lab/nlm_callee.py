"""The machine of an NFSv3 client that is called back: a portmapper and a lock manager that hears
GRANTED_MSG and TEST_RES, and never answers them.

    nlm_callee.py [--refuses | --resets | --closes]

--refuses: its lock manager takes no connections. --resets: it takes them and resets them at once.
--closes: it closes them after the first call. Prints "ready", then "SVID START LENGTH" for each
GRANTED_MSG, and for each TEST_RES of what is held by somebody, of whose lock. Run as root in the
client's namespace, where no portmapper runs. RFC 1833, RFC 5531, X/Open XNFS chapter 10.
"""

import socket
import struct
import sys
import threading

from nlm_peer import NLM, PORTMAP, Reader, opaque, u32

PORTMAP_PORT, NLM_PORT = 111, 4045
GETPORT, GRANTED_MSG, TEST_RES = 3, 10, 11
DENIED = 1
BACKLOG = 16


def tell(reader, svid):
    print(svid, *struct.unpack_from(">QQ", reader.data), flush=True)


def answer_to(call, host):
    """The reply to a call, or None: there is none."""
    reader = Reader(call)
    xid = reader.u32()
    for _ in range(2):
        reader.u32()
    program, version, procedure = reader.u32(), reader.u32(), reader.u32()
    for _ in range(2):
        reader.u32()
        reader.opaque()
    result = b""
    if program == PORTMAP and procedure == GETPORT:
        universal = f"{host}.{NLM_PORT >> 8}.{NLM_PORT & 255}".encode()
        result = u32(NLM_PORT) if version == 2 else opaque(universal)
    elif program == NLM and procedure == GRANTED_MSG:
        reader.opaque()
        reader.u32()
        for _ in range(3):
            reader.opaque()
        tell(reader, reader.u32())
        return None
    elif program == NLM and procedure == TEST_RES:
        reader.opaque()
        if reader.u32() == DENIED:
            reader.u32()
            svid = reader.u32()
            reader.opaque()
            tell(reader, svid)
        return None
    return u32(xid) + u32(1) + u32(0) + u32(0) + u32(0) + u32(0) + result


def received(stream, size):
    """Fewer bytes: it is closed."""
    data = b""
    while len(data) < size and (more := stream.recv(size - len(data))):
        data += more
    return data


def serve_one_call(stream):
    with stream:
        if len(mark := received(stream, 4)) == 4:
            answer_to(received(stream, struct.unpack(">I", mark)[0] & 0x7fffffff), "")


def reset(stream):
    with stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def serve(stream):
    host = stream.getsockname()[0]
    with stream:
        while len(mark := received(stream, 4)) == 4:
            reply = answer_to(received(stream, struct.unpack(">I", mark)[0] & 0x7fffffff), host)
            if reply:
                stream.sendall(u32(0x80000000 | len(reply)) + reply)


LOCK_MANAGERS = {"--resets": reset, "--closes": serve_one_call}


def accept_all(listener, handle):
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=handle, args=(stream,), daemon=True).start()


def listen(port, handle):
    listener = socket.create_server(("", port), backlog=BACKLOG)
    threading.Thread(target=accept_all, args=(listener, handle), daemon=True).start()


def main():
    option = sys.argv[1] if len(sys.argv) > 1 else ""
    listen(PORTMAP_PORT, serve)
    if option != "--refuses":
        listen(NLM_PORT, LOCK_MANAGERS.get(option, serve))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("", PORTMAP_PORT))
        print("ready", flush=True)
        while True:
            call, peer = datagrams.recvfrom(1 << 16)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as path:
                path.connect(peer)  # the address that the caller sees
                host = path.getsockname()[0]
            datagrams.sendto(answer_to(call, host), peer)


if __name__ == "__main__":
    sys.exit(main())
