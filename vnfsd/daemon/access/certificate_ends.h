// When the certificates on this head end: of etcd, of the API's listener, and of their authorities.
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vnfsd/config/config.h"

namespace symnas::vnfsd::daemon {

struct CertificateEnd {
  std::string what;  // "head c1n1: its certificate for etcd"
  std::string path;
  std::int64_t ends_ns = 0;  // wall clock
};

// Of the files that are there and can be read.
std::vector<CertificateEnd> certificate_ends(const Config& config,
                                             const std::string& api_directory);
// Those that end within kCertificateWarnDays of now_ns, or have ended.
std::vector<CertificateEnd> ending_soon(std::vector<CertificateEnd> all, std::int64_t now_ns);
// "head c1n1: its certificate for etcd ends in 12 days (PATH)".
std::string end_text(const CertificateEnd& end, std::int64_t now_ns);

}  // namespace symnas::vnfsd::daemon
