// Authority: the cluster's own certificate authority and the certificates of its heads (etcd
// server, peer and client). ECDSA P-256, X.509 v3, made in this process with libcrypto.
// Thread-compatible.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd::pki {

struct Identity {
  std::string certificate_pem;
  std::string key_pem;  // secret: only ever written to files of mode 0600
};

// What a certificate is to say. Each alternative name is an IP address if it is one, else a DNS
// name: letters, digits, '.', ':', '-' only.
struct CertificateTerms {
  std::string common_name;
  std::vector<std::string> alternative_names;
  std::string uses = "clientAuth";  // extended key usages: clientAuth, serverAuth, with a comma
  int days = 365;                   // from now; valid from an hour ago
};

class Authority {
 public:
  // A new self-signed authority. Errors: kInternal (libcrypto's own message).
  static Result<Authority> create(const std::string& common_name);
  // From PEM texts. Errors: kInvalidArgument (unreadable, or the key is not the certificate's).
  static Result<Authority> load(std::string_view certificate_pem, std::string_view key_pem);
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;
  ~Authority();

  const std::string& certificate_pem() const;
  // Secret.
  const std::string& key_pem() const;

  // A fresh key and certificate, good as TLS server and client. Each name becomes a subject
  // alternative name: an IP address if it is one, else a DNS name. Valid from an hour ago (clocks
  // differ) for kHeadCertificateDays. Errors: kInternal.
  Result<Identity> issue(const std::string& common_name,
                         const std::vector<std::string>& alternative_names) const;
  // The certificate, as PEM, for the key of a request (vnfsd/pki/request.h); of the request only
  // the key counts. Errors: kInvalidArgument (not a request, or a weak key), kInternal.
  Result<std::string> sign(std::string_view request_pem, const CertificateTerms& terms) const;

 private:
  struct State;
  explicit Authority(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

inline constexpr int kAuthorityDays = 3650;
inline constexpr int kHeadCertificateDays = 1825;

}  // namespace symnas::vnfsd::pki
