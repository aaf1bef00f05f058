// Owners of several VNFSs, each with its own mount.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/fsal_cluster/state/locks_world.h"

namespace symnas::fs {
namespace {

using Record = FileLocks::Record;

TEST_F(FileLocksTest, OwnersOfOtherVnfsesConflictEvenUnderTheSameName) {
  Membership shared(Membership::Mode::kShared);
  const auto of_vnfs = [&](const std::string& vnfs) {
    return std::move(
        *FileLocks::load(world_->session(), env::system_clock(), world_->fs(), vnfs, &shared));
  };
  const auto one = of_vnfs("vnfs1");
  const auto two = of_vnfs("vnfs2");
  ASSERT_TRUE(one->lock(kFile, kAnna, exclusive(0, 9), false)->granted);
  const auto refused = two->lock(kFile, kAnna, exclusive(5, 5), false);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->granted);
  EXPECT_EQ(refused->conflict.holder, kAnna);
  EXPECT_FALSE(two->test(kFile, kAnna, exclusive(9, 9)).granted);
  EXPECT_TRUE(two->lock(kFile, kAnna, exclusive(10, 19), false)->granted);
  EXPECT_FALSE(one->lock(kFile, kBert, exclusive(19, 30), false)->granted);
  ASSERT_TRUE(one->unlock(kFile, kAnna, 0, 9, Record::kNow));
  EXPECT_TRUE(two->lock(kFile, kBert, exclusive(0, 9), false)->granted);
}

TEST_F(FileLocksTest, WhoTurnsSoleKnowsWhatOthersLeft) {
  Membership membership(Membership::Mode::kShared);
  const auto two = std::move(
      *FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs2", &membership));
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  ASSERT_TRUE(two->turning_sole());
  membership.turn_sole();
  EXPECT_FALSE(two->lock(kFile, kAnna, exclusive(0, 9), false)->granted);
  EXPECT_FALSE(two->test(kFile, kAnna, exclusive(0, 9)).granted);
}

TEST_F(LeaseTest, AnotherVnfsHasTheOwnersInstanceAsked) {
  Membership shared(Membership::Mode::kShared);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto other = load_at(&shared, nullptr, "vnfs2");
  const auto orders = [&] {
    return world_->session()
        .range(kv::prefix_range(kv::keys::lock_orders(world_->fs())), 0)
        ->kvs.size();
  };
  EXPECT_FALSE(other->lock(kFile, kBert, exclusive(0, 9), false)->granted);
  EXPECT_FALSE(other->lock(kFile, kBert, exclusive(0, 9), false)->granted);
  EXPECT_EQ(orders(), 1u);
  const auto owners = load_at(&shared);
  ASSERT_TRUE(owners->revoke_if_away(kFile, kAnna, exclusive(0, 9)));
  EXPECT_FALSE(other->lock(kFile, kBert, exclusive(0, 9), false)->granted);
  pass_s(41);
  ASSERT_TRUE(owners->revoke_if_away(kFile, kAnna, exclusive(0, 9)));
  EXPECT_TRUE(other->lock(kFile, kBert, exclusive(0, 9), false)->granted);
}

// A request that is denied by a claimed range revokes no range that was not claimed.
TEST_F(LeaseTest, AnotherVnfsRevokesWhatItWantsOnly) {
  Membership shared(Membership::Mode::kShared);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(20, 29), false, kOneLife)->granted);
  const auto owners = load_at(&shared);
  ASSERT_TRUE(owners->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  pass_s(41);
  ASSERT_TRUE(owners->revoke_if_away(kFile, kAnna, exclusive(0, 19)));
  EXPECT_TRUE(owners->lock(kFile, kAnna, exclusive(20, 29), true, kOneLife)->granted);
  const auto other = load_at(&shared, nullptr, "vnfs2");
  EXPECT_FALSE(other->lock(kFile, kBert, exclusive(10, 20), false)->granted);
}

TEST_F(LeaseTest, AnOrderIsNotDoneBeforeWhatItRevokesIsRecorded) {
  Membership shared(Membership::Mode::kShared);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(20, 29), false, kOneLife)->granted);
  const auto owners = load_at(&shared);
  ASSERT_TRUE(owners->lock(kFile, kAnna, exclusive(0, 9), true, kOneLife)->granted);
  pass_s(41);
  server_->set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(owners->revoke_if_away(kFile, kAnna, exclusive(20, 20)));
  EXPECT_FALSE(owners->revoke_if_away(kFile, kAnna, exclusive(20, 20)));
  EXPECT_FALSE(owners->lock(kFile, kBert, exclusive(20, 29), false));
  server_->set_quota(kv::MemServer::Quota::kFree);
  ASSERT_TRUE(owners->revoke_if_away(kFile, kAnna, exclusive(20, 20)));
  const auto other = load_at(&shared, nullptr, "vnfs2");
  EXPECT_TRUE(other->lock(kFile, kBert, exclusive(20, 29), false)->granted);
  EXPECT_FALSE(other->lock(kFile, kBert, exclusive(9, 9), false)->granted);
}

// The store shows that "gone" has no mount.
TEST_F(LeaseTest, ALockOfAVnfsThatNobodyServesStandsForTwoLeasesBesideOthers) {
  Membership shared(Membership::Mode::kShared);
  const auto gone = load_at(&shared, nullptr, "gone");
  ASSERT_TRUE(gone->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(gone->lock(Ino{8}, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(gone->lock(kFile, kBert, exclusive(10, 19), false)->granted);
  const auto other = load_at(&shared, nullptr, "vnfs2");
  const auto tries = [&](Ino ino, const LockRange& range) {
    return other->lock(ino, kAnna, range, false)->granted;
  };
  EXPECT_FALSE(tries(kFile, exclusive(0, 9)));
  pass_s(39);
  EXPECT_FALSE(tries(kFile, exclusive(0, 9)));
  pass_s(6);
  EXPECT_TRUE(tries(kFile, exclusive(0, 9)));
  EXPECT_TRUE(tries(Ino{8}, exclusive(0, 9))) << "the client's other locks go with it";
  EXPECT_FALSE(tries(kFile, exclusive(10, 19))) << "NLM has no lease";
  EXPECT_TRUE(world_->session()
                  .range(kv::prefix_range(kv::keys::lock_orders(world_->fs())), 0)
                  ->kvs.empty())
      << "no mount would read an order";
}

TEST_F(LeaseTest, AMountThatWasClaimedMeanwhileStartsTheTwoLeasesAnew) {
  Membership shared(Membership::Mode::kShared);
  const auto gone = load_at(&shared, nullptr, "gone");
  ASSERT_TRUE(gone->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto other = load_at(&shared, nullptr, "vnfs2");
  const auto is_granted = [&] {
    return other->lock(kFile, kBert, exclusive(0, 9), false)->granted;
  };
  const auto claim = [&] {
    kv::Mutation claimed;
    claimed.writes = {kv::put(kv::keys::mount_claim(world_->fs()), "77")};
    EXPECT_TRUE(world_->session().commit_blocking(std::move(claimed)));
  };
  EXPECT_FALSE(is_granted());
  pass_s(30);
  claim();
  EXPECT_FALSE(is_granted());
  pass_s(30);
  EXPECT_FALSE(is_granted());
  pass_s(15);
  // The VNFS's mount begins while its locks are being revoked, and believes in what it has loaded.
  world_->session().interrupt(claim);
  EXPECT_FALSE(is_granted());
  EXPECT_FALSE(is_free(*load_at(&shared, nullptr, "gone"), exclusive(0, 9)));
}

TEST_F(FileLocksTest, WhoIsAloneSeesThatTheLockOfAnotherVnfsWasCleared) {
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  const auto two =
      std::move(*FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs2"));
  EXPECT_FALSE(two->lock(kFile, kAnna, exclusive(0, 9), false)->granted);
  kv::Mutation cleared;
  cleared.writes = {kv::erase(lock_key(world_->fs(), kFile, "vnfs1", kBert))};
  ASSERT_TRUE(world_->session().commit_blocking(std::move(cleared)));
  EXPECT_TRUE(two->lock(kFile, kAnna, exclusive(0, 9), false)->granted);
}

TEST_F(LeaseTest, WhatCannotBeErasedStillStandsForWhoIsAlone) {
  ASSERT_TRUE(locks_->lock(kFile, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  ASSERT_TRUE(locks_->lock(Ino{8}, kAnna, exclusive(0, 9), false, kOneLife)->granted);
  const auto other = load_at(nullptr, nullptr, "vnfs2");
  pass_s(41);
  server_->set_quota(kv::MemServer::Quota::kFull);
  const auto refused = other->lock(kFile, kBert, exclusive(0, 9), false);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->conflict.holder, kAnna);
  server_->set_quota(kv::MemServer::Quota::kFree);
  EXPECT_TRUE(other->lock(Ino{8}, kBert, exclusive(0, 9), false)->granted);
  EXPECT_EQ(load()->size(), 0u) << "granted over the head of a record";
}

}  // namespace
}  // namespace symnas::fs
