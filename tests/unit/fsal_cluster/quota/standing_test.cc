#include "fsal_cluster/quota/standing.h"

#include <gtest/gtest.h>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/usage_record.h"

namespace symnas::fs {
namespace {

const FsId kFs{7};
const Subject kUser{SubjectKind::kUser, 1};
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kSinceNs = 50 * kSecondNs;

void fill(UsageTable& table, records::QuotaMode::State state) {
  records::QuotaMode mode;
  mode.set_epoch(1);
  mode.set_state(state);
  records::QuotaLimit limit;
  limit.set_bytes_hard(10000);
  limit.set_bytes_soft(8192);
  limit.set_bytes_grace_s(60);
  limit.set_inodes_hard(9);
  records::QuotaGrace grace;
  grace.set_bytes_since_ns(kSinceNs);
  Usages used;
  add(used, kUser, {2, 5});
  table.on_image(
      {{kv::keys::quota_mode(kFs), mode.SerializeAsString(), {}, Revision{1}, 1},
       {kv::keys::quota_limit(kFs, 1, 1), limit.SerializeAsString(), {}, Revision{1}, 1},
       {kv::keys::quota_grace(kFs, 1, 1), grace.SerializeAsString(), {}, Revision{1}, 1},
       {kv::keys::usage_slot(kFs, 1, MountId{1}, 0), encode_usage(used), {}, Revision{1}, 1}},
      Revision{10});
}

TEST(QuotaStandingTest, SaysLimitsUsageAndWhatIsLeftOfTheGrace) {
  UsageTable table(kFs);
  fill(table, records::QuotaMode::ON);
  const auto standing = standing_of(table, kUser, 4096, kSinceNs + 10 * kSecondNs + 1);
  ASSERT_TRUE(standing.has_value());
  EXPECT_EQ(standing->bytes, (QuotaStanding::Side{10000, 8192, 8192, 50}));
  EXPECT_EQ(standing->inodes, (QuotaStanding::Side{9, 0, 5, 0}));
}

TEST(QuotaStandingTest, NothingIsLeftOfAGraceThatIsOver) {
  UsageTable table(kFs);
  fill(table, records::QuotaMode::ON);
  EXPECT_EQ(standing_of(table, kUser, 4096, kSinceNs + 60 * kSecondNs)->bytes.grace_left_s, 0U);
}

TEST(QuotaStandingTest, WhoHasNoLimitIsToldWhatIsUsed) {
  UsageTable table(kFs);
  fill(table, records::QuotaMode::ON);
  const auto standing = standing_of(table, {SubjectKind::kUser, 2}, 4096, kSinceNs);
  ASSERT_TRUE(standing.has_value());
  EXPECT_EQ(standing->bytes, QuotaStanding::Side());
}

TEST(QuotaStandingTest, NothingIsSaidUntilLimitsAreHeld) {
  UsageTable table(kFs);
  EXPECT_FALSE(standing_of(table, kUser, 4096, kSinceNs));
  fill(table, records::QuotaMode::COUNTING);
  EXPECT_FALSE(standing_of(table, kUser, 4096, kSinceNs));
}

}  // namespace
}  // namespace symnas::fs
