"""An NFSv3 client's lock manager and status monitor, as far as cases need them: one call per
program run, from a port of choice.

    nlm_peer.py VIP EXPORT FILE lock|test|test_msg|cancel|unlock|free_all|notify|unknown [options]

Prints the answer's word (granted, denied, ...) or "done". test_msg: the answer is a call that
somebody else hears (nlm_callee.py). unknown: GETATTR by nobody in particular (AUTH_NONE), prints
"refused" if that is too weak. Run as root in the client's namespace:
reserved ports are bound. RFC 1813, RFC 5531, X/Open XNFS chapters 10 and 11.
"""

import argparse
import socket
import struct
import sys

PORTMAP, NFS, MOUNT, NLM, NSM = 100000, 100003, 100005, 100021, 100024
TIMEOUT_S = 20.0
NLM_WORDS = {0: "granted", 1: "denied", 2: "no_locks", 3: "blocked", 4: "grace", 5: "deadlock",
             6: "read_only", 7: "stale", 8: "too_big", 9: "failed"}
TO_THE_END = 0
TEST_MSG, FREE_ALL = 6, 23


def opaque(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


def u32(value):
    return struct.pack(">I", value & 0xffffffff)


def u64(value):
    return struct.pack(">Q", value)


class Reader:
    def __init__(self, data):
        self.data = data

    def u32(self):
        value, = struct.unpack_from(">I", self.data)
        self.data = self.data[4:]
        return value

    def opaque(self):
        size = self.u32()
        value, self.data = self.data[:size], self.data[size + (-size % 4):]
        return value


def received(stream, size):
    data = b""
    while len(data) < size:
        part = stream.recv(size - len(data))
        if not part:
            raise SystemExit("the server closed the connection")
        data += part
    return data


SENDER = [""]  # the address from which everything is sent


def connected(host, port, reserved):
    """A stream from a reserved port, or from none."""
    ports = range(900, 600, -1) if reserved else [0]
    for own in ports:
        stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        stream.settimeout(TIMEOUT_S)
        try:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stream.bind((SENDER[0], own))
            stream.connect((host, port))
            return stream
        except OSError:
            stream.close()
    raise SystemExit(f"cannot connect to {host} port {port}")


def root():
    """A credential of AUTH_SYS."""
    return u32(1) + opaque(u32(0) + opaque(b"peer") + u32(0) + u32(0) + u32(0))


def message(program, version, procedure, arguments, credential):
    body = (u32(4711) + u32(0) + u32(2) + u32(program) + u32(version) + u32(procedure)
            + credential + u32(0) + u32(0) + arguments)
    return u32(0x80000000 | len(body)) + body


def reply_to(host, port, reserved, sent):
    """A Reader of the whole reply to a message."""
    with connected(host, port, reserved) as stream:
        stream.sendall(sent)
        size = struct.unpack(">I", received(stream, 4))[0] & 0x7fffffff
        return Reader(received(stream, size))


def call(host, port, program, version, procedure, arguments, reserved=True):
    """Calls as root; returns a Reader of the results."""
    reply = reply_to(host, port, reserved, message(program, version, procedure, arguments, root()))
    for wanted in (4711, 1, 0):  # xid, REPLY, MSG_ACCEPTED
        if reply.u32() != wanted:
            raise SystemExit("the call was not accepted")
    reply.u32()
    reply.opaque()
    if reply.u32() != 0:
        raise SystemExit("the call was not executed")
    return reply


def port_of(host, program, version):
    return call(host, 111, PORTMAP, 2, 3, u32(program) + u32(version) + u32(6) + u32(0)).u32()


def checked(reply, what):
    status = reply.u32()
    if status != 0:
        raise SystemExit(f"{what}: status {status}")
    return reply


def exported(options):
    """The handle of the export."""
    return opaque(checked(call(options.vip, port_of(options.vip, MOUNT, 3), MOUNT, 3, 1,
                               opaque(options.export.encode())), "MNT").opaque())


def wait_until_told(options):
    if options.when_told:
        print("ready", flush=True)
        sys.stdin.readline()


def handle_of(options):
    """Of the file, which is made if there is none."""
    no_attributes = u32(0) * 6
    made = checked(call(options.vip, 2049, NFS, 3, 8,
                        exported(options) + opaque(options.file.encode()) + u32(0) + no_attributes),
                   "CREATE")
    if made.u32() != 1:
        raise SystemExit("CREATE: no handle")
    return made.opaque()


def lock_of(options):
    handle = opaque(handle_of(options))
    wait_until_told(options)
    return (opaque(options.name.encode()) + handle
            + opaque(f"{options.svid}@{options.name}".encode()) + u32(options.svid)
            + u64(options.start) + u64(options.length))


def nlm_call(options, procedure, arguments):
    reply = call(options.vip, port_of(options.vip, NLM, 4), NLM, 4, procedure, arguments,
                 reserved=not options.high_port)
    if procedure == FREE_ALL:
        return "done"
    reply.opaque()
    return NLM_WORDS[reply.u32()]


def test_by_message(options, port, arguments):
    with connected(options.vip, port, True) as stream:
        stream.sendall(message(NLM, 4, TEST_MSG, arguments, root()))
    return "done"


def asked_by_nobody(options):
    handle = exported(options)
    wait_until_told(options)
    reply = reply_to(options.vip, 2049, True, message(NFS, 3, 1, handle, u32(0) + opaque(b"")))
    seen = [reply.u32() for _ in range(5)]
    # REPLY, MSG_DENIED, AUTH_ERROR, AUTH_TOOWEAK
    return "refused" if seen[1:] == [1, 1, 1, 5] else f"answered {seen}"


def run(options):
    exclusive, no = u32(not options.shared), u32(0)
    block = u32(options.block)
    if options.what == "lock":
        return nlm_call(options, 2, opaque(b"c") + block + exclusive + lock_of(options) + no
                        + u32(options.state))
    if options.what == "cancel":
        return nlm_call(options, 3, opaque(b"c") + block + exclusive + lock_of(options))
    if options.what == "test":
        return nlm_call(options, 1, opaque(b"c") + exclusive + lock_of(options))
    if options.what == "test_msg":
        port = port_of(options.vip, NLM, 4)
        return test_by_message(options, port, opaque(b"c") + exclusive + lock_of(options))
    if options.what == "unknown":
        return asked_by_nobody(options)
    if options.what == "unlock":
        return nlm_call(options, 4, opaque(b"c") + lock_of(options))
    if options.what == "free_all":
        return nlm_call(options, FREE_ALL, opaque(options.name.encode()) + u32(options.state))
    call(options.vip, port_of(options.vip, NSM, 1), NSM, 1, 6,
         opaque(options.name.encode()) + u32(options.state), reserved=not options.high_port)
    return "done"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vip")
    parser.add_argument("export")
    parser.add_argument("file")
    parser.add_argument("what", choices=["lock", "test", "test_msg", "cancel", "unlock",
                                         "free_all", "notify", "unknown"])
    parser.add_argument("--name", default="peer", help="caller_name")
    parser.add_argument("--svid", type=int, default=1, help="the locking process")
    parser.add_argument("--state", type=int, default=0, help="the client's life")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--length", type=int, default=TO_THE_END)
    parser.add_argument("--block", action="store_true", help="wait for it (nobody is called back)")
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--when-told", action="store_true",
                        help="has the handle, says ready, calls when it has read a line")
    parser.add_argument("--high-port", action="store_true", help="from a port of any user")
    parser.add_argument("--from", dest="sender", default="", help="the client's address")
    options = parser.parse_args()
    SENDER[0] = options.sender
    print(run(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
