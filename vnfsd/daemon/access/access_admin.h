// AccessAdmin: the tokens and certificates of the API over the network, and the audit log.
// Thread-safe. docs/decisions/0018.
#pragma once

#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "vnfsd/api/access.h"
#include "vnfsd/daemon/access/audit_log.h"
#include "vnfsd/daemon/access/certificate_watch.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::daemon {

class AccessAdmin final : public api::AccessBackend {
 public:
  // tell: of events about certificates; waits for nothing.
  AccessAdmin(const ThisHead& head, CertificateWatch::Tell tell);

  Result<api::Caller> authenticate(const api::Credential& credential) override;
  Result<nlohmann::json> tokens() override;
  Result<nlohmann::json> create_token(const api::TokenRequest& request, const api::Caller& by,
                                      Mode mode) override;
  Result<std::string> revoke_token(const std::string& name, Mode mode) override;
  Result<std::string> switch_on(const std::vector<std::string>& names, const api::Caller& by,
                                Mode mode) override;
  Result<nlohmann::json> certificates() override;
  Result<nlohmann::json> issue(const api::CertificateRequest& request, const api::Caller& by,
                               Mode mode) override;
  Result<std::string> revoke_certificate(const std::string& which, const api::Caller& by,
                                         Mode mode) override;
  Result<nlohmann::json> audit(Revision after) override;
  void record(const api::AuditEntry& entry) override;
  nlohmann::json ending() override;
  Result<std::string> authority_pem() override;

 private:
  // Makes a change where the compares hold. Errors: kConflict (they do not).
  Status commit(kv::Txn txn, const std::string& what);
  // The authority, if its key is on this head. Errors: kNotFound.
  Result<pki::Authority> load_authority() const;
  // Records a certificate that was just signed.
  Status put_certificate(const std::string& pem, const std::string& use, const api::Caller& by);
  std::string file(const char* name) const { return directory_ + "/" + name; }
  // A new authority, with its files on this head. Errors: kIo, kInternal.
  Result<pki::Authority> make_authority() const;

  const ThisHead& head_;
  const std::string directory_;  // of keys and certificates: "api" beside that of etcd's
  Mutex switch_on_mutex_;  // two at once would leave the key of one with the record of the other
  AuditLog audit_;
  CertificateWatch watch_;
};

}  // namespace symnas::vnfsd::daemon
