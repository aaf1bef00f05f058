// GateServer: the unix socket of symnas-apid. Thread class: made and destroyed by one thread.
// Invariant: only symnas-apid's user and root are answered (a folder of mode 0750, a socket of mode
// 0660, and SO_PEERCRED of every connection), and only what the Gate lets in.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "vnfsd/api/gate.h"
#include "vnfsd/http/http_server.h"

namespace symnas::vnfsd::api {

// Makes the socket's folder, and the socket. user: name or decimal uid of symnas-apid's user.
// REQUIRES: no other vnfsd of this head runs. Errors: kNotFound (no such user), kIo.
Result<std::unique_ptr<HttpServer>> start_gate(const std::string& socket, const std::string& user,
                                               Gate& gate);

}  // namespace symnas::vnfsd::api
