// CertificateWatch: tells once a day of each certificate on this head that ends soon: an event, and
// a line of the log. Thread class: made and destroyed by one thread; works on a loop of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

// Kind of its events (see vnfsd/records/events.h).
inline constexpr std::string_view kCertificateEnds = "certificate-ends";

class CertificateWatch {
 public:
  using Tell = std::function<void(std::string_view kind, const std::string& text)>;
  // tell: waits for nothing. api_directory: as for certificate_ends().
  CertificateWatch(const ThisHead& head, std::string api_directory, Tell tell);
  ~CertificateWatch();
  CertificateWatch(const CertificateWatch&) = delete;
  CertificateWatch& operator=(const CertificateWatch&) = delete;

 private:
  void look();

  const ThisHead& head_;
  const std::string api_directory_;
  const Tell tell_;
  std::map<std::string, std::int64_t> told_ns_;  // by path; used by the loop only
  std::stop_source end_;
  Loop loop_;  // last
};

}  // namespace symnas::vnfsd::daemon
