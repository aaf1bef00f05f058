#include "fsal_cluster/token/grant.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

constexpr MountId kMine{1};
constexpr MountId kOther{2};

TokenSight sight() {
  TokenSight out;
  out.complete = true;
  return out;
}
TokenSight with_shared() {
  TokenSight out = sight();
  out.foreign = true;
  return out;
}
TokenSight with_exclusive() {
  TokenSight out = with_shared();
  out.foreign_exclusive = true;
  return out;
}
TokenSight wanted_by(TokenSight out, MountId mount) {
  out.want = TokenSight::Want{mount, records::WantRecord::X, Revision(3)};
  return out;
}

TEST(GrantTest, GrantsWhatNothingIsInTheWayOf) {
  EXPECT_EQ(next_grant_step(sight(), kMine, TokenMode::kExclusive), GrantStep::kGrant);
  EXPECT_EQ(next_grant_step(with_shared(), kMine, TokenMode::kShared), GrantStep::kGrant);
}

TEST(GrantTest, AsksOnceAndWaits) {
  EXPECT_EQ(next_grant_step(with_shared(), kMine, TokenMode::kExclusive), GrantStep::kAsk);
  EXPECT_EQ(next_grant_step(with_exclusive(), kMine, TokenMode::kShared), GrantStep::kAsk);
  EXPECT_EQ(next_grant_step(wanted_by(with_exclusive(), kMine), kMine, TokenMode::kShared),
            GrantStep::kWait);
  EXPECT_EQ(next_grant_step(wanted_by(sight(), kMine), kMine, TokenMode::kShared),
            GrantStep::kGrant);
}

TEST(GrantTest, AWantOfOthersStopsEveryGrant) {
  for (const TokenSight& seen : {sight(), with_shared(), with_exclusive()}) {
    EXPECT_EQ(next_grant_step(wanted_by(seen, kOther), kMine, TokenMode::kShared),
              GrantStep::kWait);
  }
}

TEST(GrantTest, WaitsWhileNothingIsKnown) {
  EXPECT_EQ(next_grant_step(TokenSight{}, kMine, TokenMode::kShared), GrantStep::kWait);
}

TEST(GrantTest, AWriterTakesXOfAFileThatNobodyShares) {
  EXPECT_EQ(mode_to_take(sight(), TokenMode::kShared), TokenMode::kExclusive);
  EXPECT_EQ(mode_to_take(with_shared(), TokenMode::kShared), TokenMode::kShared);
  EXPECT_EQ(mode_to_take(wanted_by(sight(), kMine), TokenMode::kShared), TokenMode::kShared)
      << "the mount that gave it will be back";
}

}  // namespace
}  // namespace symnas::fs
