#include "vnfsd/daemon/access/certificate_ends.h"

#include <fmt/core.h>

#include "vnfsd/daemon/access/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/pki/request.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

}  // namespace

std::vector<CertificateEnd> certificate_ends(const Config& config,
                                             const std::string& api_directory) {
  const std::string head = fmt::format("head {}: ", config.head_name);
  std::vector<CertificateEnd> all = {
      {head + "its certificate for etcd", config.etcd.cert},
      {head + "the cluster's authority", config.etcd.ca},
      {head + "the certificate of the API's listener", api_directory + "/server.crt"},
      {head + "the API's authority", api_directory + "/ca.crt"}};
  std::vector<CertificateEnd> found;
  for (CertificateEnd& one : all) {
    const auto pem = instance::read_file(one.path);
    const auto facts = pem ? pki::certificate_facts(*pem) : tl::unexpected<Error>(pem.error());
    if (!facts) continue;
    one.ends_ns = facts->not_after_ns;
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<CertificateEnd> ending_soon(std::vector<CertificateEnd> all, std::int64_t now_ns) {
  std::erase_if(all, [&](const CertificateEnd& one) {
    return one.ends_ns - now_ns > kCertificateWarnDays * kDayNs;
  });
  return all;
}

std::string end_text(const CertificateEnd& end, std::int64_t now_ns) {
  const std::int64_t days = (end.ends_ns - now_ns) / kDayNs;
  return end.ends_ns <= now_ns ? fmt::format("{} has ended ({})", end.what, end.path)
                               : fmt::format("{} ends in {} days ({})", end.what, days, end.path);
}

}  // namespace symnas::vnfsd::daemon
