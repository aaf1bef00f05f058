#include "vnfsd/daemon/access/certificate_watch.h"

#include <utility>

#include "common/base/log.h"
#include "vnfsd/daemon/access/certificate_ends.h"
#include "vnfsd/daemon/access/limits.h"

namespace symnas::vnfsd::daemon {

CertificateWatch::CertificateWatch(const ThisHead& head, std::string api_directory, Tell tell)
    : head_(head),
      api_directory_(std::move(api_directory)),
      tell_(std::move(tell)),
      loop_(end_.get_token()) {
  loop_.start(kCertificateLookMs, [this] { look(); });
  loop_.wake();
}

CertificateWatch::~CertificateWatch() {
  end_.request_stop();
  loop_.join();
}

void CertificateWatch::look() {
  const std::int64_t now_ns = head_.clock.wall_ns();
  for (const CertificateEnd& one :
       ending_soon(certificate_ends(head_.config, api_directory_), now_ns)) {
    const auto told = told_ns_.find(one.path);
    if (told != told_ns_.end() && now_ns - told->second < kCertificateTellNs) continue;
    told_ns_[one.path] = now_ns;
    const std::string text = end_text(one, now_ns);
    log::warn("{}", text);
    tell_(kCertificateEnds, text);
  }
}

}  // namespace symnas::vnfsd::daemon
