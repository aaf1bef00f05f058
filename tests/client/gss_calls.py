"""Calls with RPCSEC_GSS and Kerberos as bytes (RFC 2203), right ones and wrong ones.

GSS-API is python3-gssapi, which `deploy/setup/setup kerberos` unpacks. KRB5_CONFIG has to be set
before this module is used; the KDC is asked from the network of the calling thread.

Thread class: confined to one thread.
"""

import os
import sys

from nfs4_results import Connection
from nfs4_wire import Gone, XdrReader, opaque, receive_record, u32
from rpc_wire import ACCEPTED, DENIED, Rejected

_PACKAGES = os.path.join(os.environ.get("SYMNAS_CACHE", "/var/cache/symnas"),
                         "kerberos/usr/lib/python3/dist-packages")
RPCSEC_GSS = 6
DATA, INIT, CONTINUE_INIT, DESTROY = range(4)
NONE, INTEGRITY, PRIVACY = 1, 2, 3
SERVICES = {"krb5": NONE, "krb5i": INTEGRITY, "krb5p": PRIVACY}
PSEUDO_FLAVORS = {"krb5": 390003, "krb5i": 390004, "krb5p": 390005}
# auth_stat
TOOWEAK, CREDPROBLEM, CTXPROBLEM = 5, 13, 14
NFS_PORT, NFS = 2049, (100003, 4)
_CALL = 0


def gssapi():
    if _PACKAGES not in sys.path:
        sys.path.append(_PACKAGES)
    import gssapi as module  # pylint: disable=import-outside-toplevel
    return module


def _ticket_of(principal, keytab):
    gss = gssapi()
    name = gss.Name(principal, gss.NameType.kerberos_principal)
    store = {"client_keytab": f"FILE:{keytab}", "ccache": f"MEMORY:{os.urandom(6).hex()}"}
    return gss.Credentials(name=name, usage="initiate", store=store)


class ContextRefused(Exception):
    """The server made no context."""


class GssConnection(Connection):
    """A connection whose calls have a context. `service` is that of all calls from now on."""

    def __init__(self, address, server, principal, keytab, flavor="krb5", port=NFS_PORT,
                 program=NFS):
        """server, principal: of Kerberos; keytab: of the latter; program: (number, version) of what
        answers at the port. Errors: ContextRefused."""
        super().__init__(address, port)
        self.address, self.port = address, port
        self.program = program
        self.service = SERVICES[flavor]
        self.sequence = 0
        self.sent = {}  # xid: (sequence, service)
        gss = gssapi()
        flags = gss.RequirementFlag.mutual_authentication | gss.RequirementFlag.integrity \
            | gss.RequirementFlag.confidentiality
        self.context = gss.SecurityContext(
            name=gss.Name(server, gss.NameType.kerberos_principal), usage="initiate",
            creds=_ticket_of(principal, keytab), flags=flags)
        self.handle, self.window = self._make_context()

    def _make_context(self):
        token = self.context.step()
        self.credential = self.credential_of(INIT, 0, NONE, b"")
        xid = Connection.send(self, *self.program, 0, opaque(token))
        try:
            answer = Connection.answer_to(self, xid)
        except Rejected as rejected:
            raise ContextRefused(rejected.how) from rejected
        handle, major, _ = answer.opaque(), answer.u32(), answer.u32()
        window, token = answer.u32(), answer.opaque()
        if major != 0:
            raise ContextRefused(f"major status {major:#x}")
        self.context.step(token)
        return handle, window

    @staticmethod
    def credential_of(procedure, sequence, service, handle, version=1):
        body = u32(version, procedure, sequence, service) + opaque(handle)
        return u32(RPCSEC_GSS) + opaque(body)

    def on_new_connection(self):
        """The same context, as after a connection was lost."""
        self.close()
        fresh = Connection(self.address, self.port)
        self.socket = fresh.socket

    def send(self, program, version, procedure, arguments, xid=None, rpc_version=2, **wrong):
        """As Rpc.send(). wrong: sequence, service, handle, gss_version, gss_procedure; break_header
        and break_arguments: their checksum does not fit."""
        if xid is None:
            self.xid = xid = (self.xid + 1) & 0xFFFFFFFF
        sequence = wrong.get("sequence")
        if sequence is None:
            self.sequence += 1
            sequence = self.sequence
        service = wrong.get("service", self.service)
        self.sent[xid] = sequence, service
        credential = self.credential_of(wrong.get("gss_procedure", DATA), sequence, service,
                                        wrong.get("handle", self.handle),
                                        wrong.get("gss_version", 1))
        header = u32(xid, _CALL, rpc_version, program, version, procedure) + credential
        signed = bytearray(self.context.get_signature(header))
        if wrong.get("break_header"):
            signed[-1] ^= 1
        verifier = u32(RPCSEC_GSS) + opaque(bytes(signed))
        self.send_record(header + verifier
                         + self._protected(arguments, sequence, service, wrong))
        return xid

    def _protected(self, arguments, sequence, service, wrong):
        body = u32(sequence) + arguments
        if service == INTEGRITY:
            signed = bytearray(self.context.get_signature(body))
            if wrong.get("break_arguments"):
                signed[-1] ^= 1
            return opaque(body) + opaque(bytes(signed))
        if service == PRIVACY:
            sealed = bytearray(self.context.wrap(body, True).message)
            if wrong.get("break_arguments"):
                sealed[-1] ^= 1
            return opaque(bytes(sealed))
        return arguments

    def answer_to(self, xid):
        """As Rpc.answer_to(); the server's checksums are verified."""
        if xid not in self.sent:
            return super().answer_to(xid)
        while True:
            answer = XdrReader(receive_record(self.socket))
            if answer.u32() == xid and answer.u32() == 1:
                break
        sequence, service = self.sent[xid]
        if answer.u32() != 0:
            raise Rejected(DENIED.get(answer.u32(), "?"), answer)
        answer.u32()
        self.context.verify_signature(u32(sequence), answer.opaque())
        how = answer.u32()
        if how != 0:
            raise Rejected(ACCEPTED.get(how, f"accept_stat {how}"), answer)
        if service == NONE:
            return answer
        body = answer.opaque()
        if service == INTEGRITY:
            self.context.verify_signature(body, answer.opaque())
        else:
            body = self.context.unwrap(body).message
        body = XdrReader(body)
        if body.u32() != sequence:
            raise Gone("an answer with the sequence number of another call")
        return body

    def null_call(self, **wrong):
        """The outcome() of a NULL call."""
        return self.outcome(0, b"", **wrong)

    def outcome(self, procedure, arguments, **wrong):
        """auth_stat of a call of NFSv4 that is denied, "ok", the name of another refusal, or
        "dropped": there is no answer."""
        try:
            self.answer_to(self.send(*self.program, procedure, arguments, **wrong))
        except Rejected as rejected:
            return rejected.answer.u32() if rejected.how == "AUTH_ERROR" else rejected.how
        except Gone:
            return "dropped"
        return "ok"

    def destroy(self):
        return self.null_call(gss_procedure=DESTROY)
