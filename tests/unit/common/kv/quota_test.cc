#include "common/kv/quota.h"

#include <gtest/gtest.h>

namespace symnas::kv {
namespace {

constexpr std::int64_t kQuota = 1'000'000;

MemberStatus member(std::int64_t in_use, std::int64_t allocated) {
  MemberStatus status;
  status.reachable = true;
  status.db_in_use_bytes = in_use;
  status.db_size_bytes = allocated;
  return status;
}

QuotaLevel level_of(std::int64_t in_use, std::int64_t allocated,
                    QuotaLevel before = QuotaLevel::kFree) {
  return next_level(before, quota_use(kQuota, {member(in_use, allocated)}));
}

TEST(Quota, IsLookedAtBeforeMuchOfItCanFill) {
  EXPECT_EQ(quota_look_ms(0), kQuotaLookMaxMs);
  EXPECT_EQ(quota_look_ms(std::int64_t{16} << 20), 102);
  EXPECT_EQ(quota_look_ms(std::int64_t{8} << 30), kQuotaLookMaxMs);
  EXPECT_EQ(quota_look_ms(1), kQuotaLookMinMs);
}

TEST(Quota, LevelsOfWhatIsInUse) {
  EXPECT_EQ(level_of(0, 0), QuotaLevel::kFree);
  EXPECT_EQ(level_of(799'000, 800'000), QuotaLevel::kFree);
  EXPECT_EQ(level_of(800'000, 800'000), QuotaLevel::kReserve);
  EXPECT_EQ(level_of(899'000, 900'000), QuotaLevel::kReserve);
  EXPECT_EQ(level_of(900'000, 900'000), QuotaLevel::kCritical);
}

TEST(Quota, ALevelEndsBelowItsLimit) {
  EXPECT_EQ(level_of(785'000, 900'000, QuotaLevel::kReserve), QuotaLevel::kReserve);
  EXPECT_EQ(level_of(779'000, 900'000, QuotaLevel::kReserve), QuotaLevel::kFree);
  EXPECT_EQ(level_of(885'000, 900'000, QuotaLevel::kCritical), QuotaLevel::kCritical);
  EXPECT_EQ(level_of(879'000, 900'000, QuotaLevel::kCritical), QuotaLevel::kReserve);
}

// Deletes and compaction have left the file large and empty: its pages are used again.
TEST(Quota, FreePagesInsideTheFileAreRoom) {
  EXPECT_EQ(level_of(200'000, 940'000), QuotaLevel::kFree);
  EXPECT_EQ(level_of(200'000, 990'000), QuotaLevel::kFree);
}

// Near the quota the file may not grow any more: the space between its size and the quota is no
// room.
TEST(Quota, WhatTheFileLacksToTheQuotaIsNoRoomNearIt) {
  EXPECT_EQ(level_of(770'000, 940'000), QuotaLevel::kFree);
  EXPECT_EQ(level_of(770'000, 960'000), QuotaLevel::kReserve);
  EXPECT_EQ(level_of(860'000, 955'000), QuotaLevel::kCritical);
}

TEST(Quota, EtcdsOwnRefusalIsCritical) {
  EXPECT_EQ(level_of(100'000, 1'000'000), QuotaLevel::kCritical);
  MemberStatus alarmed = member(100'000, 200'000);
  alarmed.no_space_alarm = true;
  EXPECT_EQ(next_level(QuotaLevel::kFree, quota_use(kQuota, {member(1, 1), alarmed})),
            QuotaLevel::kCritical);
}

TEST(Quota, TheFullestMemberCountsAndThoseAwayDoNot) {
  MemberStatus away;
  away.db_in_use_bytes = kQuota;
  const QuotaUse use =
      quota_use(kQuota, {member(100'000, 200'000), member(810'000, 820'000), away});
  EXPECT_EQ(next_level(QuotaLevel::kFree, use), QuotaLevel::kReserve);
  EXPECT_EQ(next_level(QuotaLevel::kCritical, quota_use(kQuota, {away})), QuotaLevel::kCritical);
}

TEST(Quota, WhoIsAdmitted) {
  QuotaGauge gauge(kQuota);
  const auto admitted = [&] {
    std::string out;
    for (const Growth growth : {Growth::kGrows, Growth::kChanges, Growth::kMustGo}) {
      out += gauge.admit(growth) ? 'y' : 'n';
    }
    return out;
  };
  EXPECT_EQ(admitted(), "yyy");
  gauge.look({member(850'000, 850'000)});
  EXPECT_EQ(admitted(), "nyy");
  gauge.look({member(950'000, 950'000)});
  EXPECT_EQ(admitted(), "nny");
  const Status refused = gauge.admit(Growth::kChanges);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_NE(refused.error().message.find("95 %"), std::string::npos) << refused.error().message;
  gauge.look({});
  EXPECT_EQ(admitted(), "nny");
  gauge.look({member(100'000, 940'000)});
  EXPECT_EQ(admitted(), "yyy");
}

TEST(Quota, NoQuotaNoLimit) {
  QuotaGauge gauge(0);
  gauge.look({member(kQuota, kQuota)});
  EXPECT_TRUE(gauge.admit(Growth::kGrows));
}

}  // namespace
}  // namespace symnas::kv
