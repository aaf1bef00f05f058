// Who may use the API over the network, and what administrators did. `AccessBackend` is implemented
// by vnfsd/daemon/access; it is none of Backends, because it needs nothing of the agent.
// docs/decisions/0018 says what trusts what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/api/caller.h"
#include "vnfsd/names/mode.h"

namespace symnas::vnfsd::api {

struct TokenRequest {
  std::string name;
  Role role = Role::kViewer;
  std::int64_t lifetime_s = 0;  // 0: for ever
};

struct CertificateRequest {
  std::string name;
  std::string request_pem;         // vnfsd/pki/request.h
  bool for_listener = false;       // else for a client
  std::vector<std::string> names;  // of the listener: host names and addresses
  int days = 1;                    // 1 to kCertificateDaysMax
};

// One request that changed something, or was refused. Holds no secret.
struct AuditEntry {
  Caller caller;
  std::string method;
  std::string path;     // with the query
  std::string outcome;  // "done", "dry-run", or the word of an ErrorCode
  std::string text;
};

class AccessBackend {
 public:
  virtual ~AccessBackend() = default;

  // Who that is: read from etcd for every request, so what was revoked on any head is refused at
  // once. Errors: kPermission (unknown, expired or revoked: the message does not say more than
  // whoever has the credential may know), those of the store.
  virtual Result<Caller> authenticate(const Credential& credential) = 0;

  // {"tokens": [...]}, without anything of the secrets.
  virtual Result<nlohmann::json> tokens() = 0;
  // {"done": [...], "token": text}; kDryRun: without the token. Errors: kAlreadyExists,
  // kInvalidArgument.
  virtual Result<nlohmann::json> create_token(const TokenRequest& request, const Caller& by,
                                              Mode mode) = 0;
  // Errors: kNotFound.
  virtual Result<std::string> revoke_token(const std::string& name, Mode mode) = 0;

  // Makes the API's authority if there is none, and a certificate of this head's listener; their
  // files are on this head. Errors: kConflict (another head has the authority's key).
  // names: host names and addresses of the listener beside the head's own.
  virtual Result<std::string> switch_on(const std::vector<std::string>& names, const Caller& by,
                                        Mode mode) = 0;
  // {"certificates": [...], "authority": {...} unless there is none}.
  virtual Result<nlohmann::json> certificates() = 0;
  // {"done": [...], "certificate": PEM, "authority": PEM}. Errors: kNotFound (no authority, or its
  // key is on another head), kInvalidArgument.
  virtual Result<nlohmann::json> issue(const CertificateRequest& request, const Caller& by,
                                       Mode mode) = 0;
  // Revokes the certificate with that serial, or all good ones of that name. Errors: kNotFound.
  virtual Result<std::string> revoke_certificate(const std::string& which, const Caller& by,
                                                 Mode mode) = 0;

  // {"entries": [...], "revision": N}: what was written after that revision of etcd.
  virtual Result<nlohmann::json> audit(Revision after) = 0;
  // Writes the entry to the log, and soon to etcd; waits for nothing. Thread-safe.
  virtual void record(const AuditEntry& entry) = 0;

  // The certificates on this head (also etcd's) that end within 30 days, or have ended: what, path,
  // ends_ns. Asks nobody.
  virtual nlohmann::json ending() = 0;

  // The PEM text of the API's authority. Errors: kNotFound (there is none yet).
  virtual Result<std::string> authority_pem() = 0;
};

inline constexpr std::uint64_t kCertificateDaysMax = 825;  // what browsers accept at most
inline constexpr std::uint64_t kClientDays = 365;
inline constexpr std::size_t kCertificateNamesMax = 16;
inline constexpr std::uint64_t kTokenLifetimeMaxS = 315'360'000;  // ten years

}  // namespace symnas::vnfsd::api
