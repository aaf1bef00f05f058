#include "vnfsd/daemon/access/certificate_ends.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

TEST(CertificateEnds, ThirtyDaysBeforeItIsTold) {
  const std::vector<CertificateEnd> all = {
      {"a", "/a", 100 * kDayNs}, {"b", "/b", 130 * kDayNs}, {"c", "/c", 131 * kDayNs}};
  const auto soon = ending_soon(all, 100 * kDayNs);
  ASSERT_EQ(soon.size(), 2u);
  EXPECT_EQ(end_text(soon[0], 100 * kDayNs), "a has ended (/a)");
  EXPECT_EQ(end_text(soon[1], 100 * kDayNs), "b ends in 30 days (/b)");
}

TEST(CertificateEnds, FilesThatAreNotThereAreNone) {
  Config config;
  config.etcd.cert = config.etcd.ca = "/nonexistent";
  EXPECT_TRUE(certificate_ends(config, "/nonexistent").empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
