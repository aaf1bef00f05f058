// What asks an authority for a certificate (PKCS #10), and what a certificate says. The key of a
// request is made where it will be used: it never travels. Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd::pki {

struct KeyAndRequest {
  std::string key_pem;  // secret: only ever written to files of mode 0600
  std::string request_pem;
};
// A fresh ECDSA P-256 key and a request for it. Errors: kInternal.
Result<KeyAndRequest> make_request(const std::string& common_name);

struct CertificateFacts {
  std::string name;         // subject's common name; "" if it has none
  std::string serial;       // lower-case hex digits, 32 of our certificates
  std::string fingerprint;  // SHA-256 of the DER form: 32 bytes
  std::int64_t not_after_ns = 0;
};
// Of the first certificate in a PEM text. Errors: kInvalidArgument.
Result<CertificateFacts> certificate_facts(std::string_view pem);

}  // namespace symnas::vnfsd::pki
