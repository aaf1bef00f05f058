// Caller: who asks the API, and from where. A value type.
#pragma once

#include <string>

#include "vnfsd/api/role.h"

namespace symnas::vnfsd::api {

// Who is not named may only read.
struct Caller {
  std::string name;  // "root" on this head's socket, else the name of the token
  Role role = Role::kViewer;
  std::string from = {};         // address of the client; "": this head's socket of root
  std::string certificate = {};  // name in the client's certificate
  std::string login_uid = {};    // on the socket: who logged in, as the kernel knows it; "": nobody
  bool over_network() const { return !from.empty(); }
};

// What a request over the network carries; symnas-apid cannot make one up. A value type.
struct Credential {
  std::string token;        // secret: as the client sent it
  std::string certificate;  // SHA-256 of the client's certificate, 64 hex digits
  std::string serial;       // of it, hex digits
};

// The caller on the unix socket, which answers root only.
inline Caller root_caller() { return {"root", Role::kAdmin}; }

}  // namespace symnas::vnfsd::api
