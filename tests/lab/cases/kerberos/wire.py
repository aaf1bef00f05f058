"""RPCSEC_GSS as bytes (RFC 2203): what has no context is refused, and costs nobody anything."""

import os
import struct

from lab_case import check, lab_test
from steps.kerberos import give_keytab, kdc_of
from steps.rpc import NFS, ask_by_stream, check_answers, from_client
from symlab.service import VNFS

RPCSEC_GSS = 6
CREDPROBLEM = 13
INIT, DATA, DESTROY = 1, 0, 3
HANDLES = (0, 1, 8, 15, 16, 17, 32, 300)


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def gss_call(procedure, handle, service=1, sequence=1, body=b"", version=1):
    """A NULL call of NFSv4 with that credential and a verifier of nobody."""
    credential = struct.pack(">IIII", version, procedure, sequence, service) + opaque(handle)
    return (struct.pack(">IIIIII", 0x5E56, 0, 2, NFS, 4, 0)
            + struct.pack(">I", RPCSEC_GSS) + opaque(credential)
            + struct.pack(">I", RPCSEC_GSS) + opaque(bytes(28)) + body)


def auth_status(reply):
    """auth_stat of a call that was denied with AUTH_ERROR; None: it was not."""
    words = struct.unpack(">5I", reply[:20]) if reply and len(reply) >= 20 else None
    return words[4] if words and words[2] == 1 and words[3] == 1 else None


@lab_test("operations/kerberos.md")
def handles_of_no_context_are_refused(bench):
    """Handles of any length that nobody was given: CREDPROBLEM; garbage as tokens; it goes on."""
    give_keytab(bench, kdc_of(bench), VNFS)
    before = bench.service.serving()
    with from_client(bench):
        for procedure in (DATA, DESTROY):
            for size in HANDLES:
                for service in (1, 2, 3):
                    seen = auth_status(ask_by_stream(gss_call(procedure, bytes(size), service)))
                    check(seen == CREDPROBLEM, f"a handle of {size} bytes is answered {seen}")
                seen = auth_status(ask_by_stream(gss_call(procedure, os.urandom(size))))
                check(seen == CREDPROBLEM, f"a random handle of {size} bytes is answered {seen}")
        for token in (b"", b"\x60", os.urandom(2000), b"\x60\x82\xff\xff" + bytes(200)):
            ask_by_stream(gss_call(INIT, b"", body=opaque(token)))
        for version, sequence, service in ((0, 1, 1), (2, 1, 1), (1, 0xFFFFFFFF, 1), (1, 1, 9)):
            ask_by_stream(gss_call(DATA, bytes(16), service, sequence, version=version))
        check_answers("after requests of no context")
    after = bench.service.serving()
    check(after["pid"] == before["pid"], "the instance was replaced")
