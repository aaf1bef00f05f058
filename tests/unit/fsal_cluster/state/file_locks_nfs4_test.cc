// Locks of NFSv4 clients, which have a lease, and a verifier of each life.
#include "fsal_cluster/state/file_locks.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/fsal_cluster/state/locks_world.h"

namespace symnas::fs {
namespace {

using Record = FileLocks::Record;

const ClientLife kNextLife{0, "22222222"};

TEST_F(FileLocksTest, AClientThatIsBackInANewLifeDropsWhatItHasNotClaimed) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->forget_former_lives(kAnna.client, kNextLife.verifier));
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 9)));
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto found = load();
  ASSERT_TRUE(found->forget_former_lives("client b", kNextLife.verifier));
  ASSERT_TRUE(found->forget_former_lives(kAnna.client, kOneLife.verifier));
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
  ASSERT_TRUE(found->forget_former_lives(kAnna.client, kNextLife.verifier));
  EXPECT_TRUE(is_free(*found, exclusive(0, 9)));
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
}

// The UNLOCK of the range that is not reclaimed was lost with the process before.
TEST_F(FileLocksTest, AClientThatHasReclaimedHoldsNothingElse) {
  const LockOwner other{LockProtocol::kNfs4, kAnna.client, "other owner"};
  const LockOwner third{LockProtocol::kNfs4, kAnna.client, "third owner"};
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, other, exclusive(10, 19), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, third, exclusive(20, 29), false, kOneLife)->granted);
  const auto found = load();
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  ASSERT_TRUE(found->lock(kFile, third, exclusive(20, 29), false, kOneLife)->granted);
  ASSERT_TRUE(found->forget_unclaimed("client b"));
  EXPECT_FALSE(is_free(*found, exclusive(10, 19)));
  ASSERT_TRUE(found->forget_unclaimed(kAnna.client));
  EXPECT_TRUE(is_free(*found, exclusive(10, 19)));
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
  EXPECT_FALSE(is_free(*found, exclusive(20, 29)));
  EXPECT_TRUE(is_free(*load(), exclusive(10, 19)));
}

TEST_F(FileLocksTest, AnOwnerThatHasReclaimedOneRangeHoldsNoOther) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(20, 39), false, kOneLife)->granted);
  const auto found = load();
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(35, 49), false, kOneLife)->granted);
  ASSERT_TRUE(found->forget_unclaimed(kAnna.client));
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
  EXPECT_TRUE(is_free(*found, exclusive(10, 34)));
  EXPECT_FALSE(is_free(*found, exclusive(35, 35)));
  EXPECT_FALSE(is_free(*found, exclusive(49, 49)));
  const auto next = load();
  EXPECT_TRUE(is_free(*next, exclusive(10, 34)));
  EXPECT_FALSE(is_free(*next, exclusive(9, 9)));
  EXPECT_FALSE(is_free(*next, exclusive(35, 35)));
  EXPECT_FALSE(next->lock(kFile, kAnna, exclusive(0, 9), true, kNextLife)->granted);
  EXPECT_TRUE(next->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
}

// The rest of one range, claimed in parts, would be more ranges than an owner may hold and record.
TEST_F(FileLocksTest, WhoClaimsOneRangeInVeryManyPartsKeepsAllOfIt) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, UINT64_MAX), false, kOneLife)->granted);
  const auto found = load();
  for (std::uint64_t i = 0; i <= kLockRangesMax; ++i)
    ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(2 * i, 2 * i), true, kOneLife)->granted);
  ASSERT_TRUE(found->forget_unclaimed(kAnna.client));
  EXPECT_FALSE(is_free(*found, exclusive(1, 1)));
  EXPECT_FALSE(is_free(*found, exclusive(UINT64_MAX, UINT64_MAX)));
}

TEST_F(FileLocksTest, ANewLifeDropsTheRestOfWhatWasClaimed) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(20, 29), false, kOneLife)->granted);
  const auto found = load();
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  ASSERT_TRUE(found->unlock(kFile, kAnna, 0, 9, Record::kNow));
  EXPECT_FALSE(is_free(*found, exclusive(20, 29)));
  ASSERT_TRUE(found->forget_former_lives(kAnna.client, kNextLife.verifier));
  EXPECT_EQ(load()->size(), 0u);
}

TEST_F(FileLocksTest, ANewLifeReclaimsNothing) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto found = load();
  EXPECT_FALSE(found->lock(kFile, kAnna, exclusive(0, 9), true, kNextLife)->granted);
  EXPECT_TRUE(found->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
}

TEST_F(LeaseTest, WhoIsAwayForTwoLeasesOfServiceLosesItsLocksToOthers) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, kBert, exclusive(10, 19), false)->granted);
  const auto found = load_at();
  EXPECT_FALSE(is_free(*found, exclusive(0, 0)));
  pass_s(41);
  EXPECT_TRUE(is_free(*found, exclusive(0, 9)));
  EXPECT_FALSE(is_free(*found, exclusive(10, 10))) << "NLM has no lease";
}

TEST_F(LeaseTest, TheLeaseIsTheOneThatIsConfigured) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto found = std::move(
      *FileLocks::load(world_->session(), clock_, world_->fs(), "vnfs1", nullptr, nullptr, 60));
  pass_s(119);
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
  pass_s(2);
  EXPECT_TRUE(is_free(*found, exclusive(0, 9)));
}

TEST_F(LeaseTest, WhoHasComeBackKeepsThem) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto found = load_at();
  pass_s(30);
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  pass_s(30);
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
}

// Linux reuses ids of owners: the next lock of an id is no claim of what was unlocked just before a
// crash.
TEST_F(LeaseTest, WhoHasComeBackForOneRangeKeepsNoOther) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(20, 29), false, kOneLife)->granted);
  const auto found = load_at();
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  ASSERT_TRUE(found->lock(kFile, kAnna, exclusive(40, 49), false, kOneLife)->granted);
  EXPECT_FALSE(is_free(*found, exclusive(25, 30)));
  pass_s(41);
  EXPECT_FALSE(is_free(*found, exclusive(5, 10)));
  EXPECT_TRUE(found->lock(kFile, kAnna, exclusive(28, 29), true, kOneLife)->granted)
      << "no other owner has asked for it";
  EXPECT_FALSE(is_free(*found, exclusive(28, 30)));
  EXPECT_TRUE(is_free(*found, exclusive(25, 27)));
  EXPECT_FALSE(is_free(*found, exclusive(9, 9)));
  EXPECT_FALSE(is_free(*found, exclusive(40, 40)));
  EXPECT_TRUE(found->lock(kFile, kBert, exclusive(20, 27), false)->granted);
  EXPECT_FALSE(found->lock(kFile, kAnna, exclusive(20, 29), true, kOneLife)->granted);
  const auto next = load_at();
  EXPECT_FALSE(is_free(*next, exclusive(9, 9)));
  EXPECT_TRUE(is_free(*next, exclusive(10, 19)));
  EXPECT_FALSE(is_free(*next, exclusive(28, 28)));
}

TEST_F(LeaseTest, ServiceThatWasInterruptedCountsFromItsReturn) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  Gate gate(clock_, clock_.mono_ns(), 8'000'000'000);
  const auto found = load_at(nullptr, &gate);
  pass_s(35);
  gate.prove(clock_.mono_ns());
  for (int s = 0; s < 35; s += 5) {
    pass_s(5);
    gate.prove(clock_.mono_ns());
  }
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
  for (int s = 0; s < 10; s += 5) {
    pass_s(5);
    gate.prove(clock_.mono_ns());
  }
  EXPECT_TRUE(is_free(*found, exclusive(0, 9)));
}

}  // namespace
}  // namespace symnas::fs
