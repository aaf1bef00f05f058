// Keys of who may use the API over the network, and of what administrators did (see keys.h).
// docs/formats/keys.md.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::kv::keys {

// Not below "c/": a reader of the cluster's records need not read them.
inline const std::string kTokens = "a/token/";        // + name: TokenRecord
inline const std::string kCertificates = "a/cert/";   // + serial, 32 hex digits: CertificateRecord
inline const std::string kAuthority = "a/authority";  // AuthorityRecord
inline const std::string kAudit = "a/audit/";  // + head + "/" + slot, 3 hex digits: AuditRecord
inline std::string audit(const std::string& head, std::uint64_t slot) {
  std::string key = kAudit + head + "/";
  for (int shift = 8; shift >= 0; shift -= 4)
    key.push_back("0123456789abcdef"[slot >> shift & 0xf]);
  return key;
}

}  // namespace symnas::kv::keys
