// Who may use the API over the network, and what administrators did.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kAccessSchemas = R"json({
"Tokens": {
  "tokens": "list of TokenKept: by name; at most 256"
},
"TokenKept": {
  "name": "text",
  "role": "one of viewer|operator|admin",
  "state": "one of good|expired",
  "made_ns": "count: ns since 1970",
  "expires_ns": "count: ns since 1970; 0 = never",
  "made_by": "text: root, or the name of a token"
},
"Token": {
  "name": "text: of whoever uses it; it stands in the audit log",
  "role": "one of viewer|operator|admin",
  "lifetime_s?": "count: at most ten years; 0, or missing: for ever"
},
"TokenMade": {
  "done": "list of text",
  "token?": "text: the secret, this once; missing if nothing was done (dry_run)"
},
"ListenerRequest": {
  "names?": "list of text: host names and IP addresses beside the head's own; at most 16"
},
"Certificates": {
  "certificates": "list of CertificateKept: by name, then by time; at most 1,024"
},
"CertificateKept": {
  "name": "text: of the client, or of the listener's head",
  "serial": "text: hex digits",
  "use": "one of client|server",
  "state": "one of good|revoked|expired",
  "made_ns": "count: ns since 1970",
  "not_after_ns": "count: when it ends, ns since 1970",
  "made_by": "text: root",
  "revoked_ns": "count: ns since 1970; 0 = it is not revoked",
  "revoked_by": "text: root, or the name of a token"
},
"CertificateRequest": {
  "name": "text: of the client, or of the listener's head",
  "request": "text: PKCS #10, PEM; only its key counts",
  "for_listener?": "flag: it is good as a server only; false if it is missing",
  "names?": "list of text: host names and IP addresses of the listener; at most 16",
  "days?": "count: how long it is good: 1 to 825; 365 if it is missing"
},
"CertificateIssued": {
  "done": "list of text",
  "certificate?": "text: PEM; missing if nothing was done (dry_run)",
  "authority?": "text: the certificate of its authority, PEM"
},
"Audit": {
  "entries": "list of AuditEntry: in order; each head keeps its last 512",
  "revision": "count: where to go on: ?after="
},
"AuditEntry": {
  "revision": "count: of etcd",
  "head": "text: that was asked",
  "at_ns": "count: when it was answered, ns since 1970",
  "who": "text: name of the token, or root",
  "role": "one of viewer|operator|admin",
  "from": "text: address of the client; empty = root's socket on the head",
  "certificate": "text: name in the client's certificate; empty = none",
  "login_uid": "text: who logged in on the head, as the kernel knows it; empty = nobody",
  "method": "text",
  "path": "text: with the parameters; at most 400 bytes",
  "outcome": "text: done, dry-run, or the code of the error",
  "text": "text: what was done, or why not; at most 400 bytes"
},
"EndingCertificate": {
  "what": "text: whose, and what for",
  "path": "text: of its file on this head",
  "ends_ns": "count: ns since 1970"
}
})json";

}  // namespace symnas::vnfsd::api
