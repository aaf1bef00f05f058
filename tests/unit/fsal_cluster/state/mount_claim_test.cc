#include "fsal_cluster/state/mount_claim.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/limits.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

ClaimOptions claim_by(const std::string& vnfs, std::uint64_t epoch) {
  ClaimOptions options;
  options.fs = FsId{1};  // the first one of a store
  options.filesystem_name = "u04";
  options.record.set_head("c1n1");
  options.record.set_vnfs(vnfs);
  options.record.set_vnfs_id(vnfs == "vnfs1" ? 3 : 4);
  options.record.set_epoch(epoch);
  return options;
}

class MountClaimTest : public testing::Test {
 protected:
  Result<Claim> claim(const ClaimOptions& options) {
    return claim_mount(*formatted.store, options, 1000);
  }
  Status end(MountId id) {
    return end_mount(*formatted.store, env::system_clock(), formatted.fs, id,
                     EndProof{"c1n1", "killed, reaped"});
  }
  std::string value(const std::string& key) {
    const auto read = kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000);
    return read->kvs.empty() ? "" : read->kvs[0].value;
  }
  ClaimView read() {
    kv::Txn txn;
    const FsId fs = formatted.fs;
    txn.success = {kv::get(kv::keys::kFilesystems + "u04"),
                   kv::get_range(kv::prefix_range(kv::keys::mounts(fs))),
                   kv::get(kv::keys::kMountIdCounter),
                   kv::get(kv::keys::mount_claim(fs)),
                   kv::get(kv::keys::stamp(fs)),
                   kv::get(kv::keys::solo(fs)),
                   kv::get(kv::keys::want_solo(fs))};
    const auto results = kv::txn_blocking(*formatted.store, txn, 1000)->results;
    return {results[0], results[1], results[2], results[3], results[4], results[5], results[6]};
  }
  Formatted formatted;
};

TEST_F(MountClaimTest, TheFirstClaimGetsTheFilesystem) {
  const auto mine = claim(claim_by("vnfs1", 17));
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine->id, MountId{1});
  EXPECT_EQ(mine->filesystem.name(), "u04");
  EXPECT_TRUE(mine->ended.empty());
  const auto slots = kv::range_blocking(
      *formatted.store, kv::prefix_range(kv::keys::mount_slots(formatted.fs, mine->id)), 0, 1000);
  ASSERT_EQ(slots->kvs.size(), static_cast<std::size_t>(kv::kSessionSlots));
  EXPECT_EQ(slots->kvs[0].mod_revision, mine->create_revision) << "armed for the mount's session";
  const auto mounts = list_mounts(*formatted.store, formatted.fs);
  ASSERT_TRUE(mounts);
  ASSERT_EQ(mounts->size(), 1u);
  EXPECT_EQ((*mounts)[0].create_revision, mine->create_revision);
  EXPECT_TRUE((*mounts)[0].alive());
}

// The message names the sole mount and says what to do.
TEST_F(MountClaimTest, ASoleMountThatMakesNoRoomIsNamedWithWhatToDo) {
  const auto first = claim(claim_by("vnfs1", 17));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->mode, Membership::Mode::kSole);
  EXPECT_EQ(value(kv::keys::solo(formatted.fs)), "1");
  const auto second = claim_mount(*formatted.store, claim_by("vnfs2", 18), 30);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  for (const char* part : {"u04", "vnfs1", "c1n1", "17", "symnas status"})
    EXPECT_NE(second.error().message.find(part), std::string::npos) << part;
  EXPECT_EQ(value(kv::keys::want_solo(formatted.fs)), "18");
}

TEST_F(MountClaimTest, JoinsWhenTheSoleMountHasMadeRoom) {
  ASSERT_TRUE(claim(claim_by("vnfs1", 17)));
  ASSERT_FALSE(claim_mount(*formatted.store, claim_by("vnfs2", 18), 30));
  const std::string before = value(kv::keys::stamp(formatted.fs));
  kv::Txn room;
  room.success = {kv::erase(kv::keys::solo(formatted.fs)),
                  kv::erase(kv::keys::want_solo(formatted.fs))};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, room, 1000));
  const auto second = claim(claim_by("vnfs2", 18));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->mode, Membership::Mode::kShared);
  EXPECT_TRUE(second->ended.empty()) << "what a living mount holds is not there to be recovered";
  EXPECT_EQ(value(kv::keys::solo(formatted.fs)), "");
  EXPECT_GT(value(kv::keys::stamp(formatted.fs)), before);
  EXPECT_EQ(claim(claim_by("vnfs2", 19)).error().code, ErrorCode::kBusy) << "one mount per VNFS";
}

TEST_F(MountClaimTest, WhoWasSoleWhenItEndedIsNotWaitedFor) {
  const auto first = claim(claim_by("vnfs1", 17));
  ASSERT_TRUE(first);
  ASSERT_FALSE(claim_mount(*formatted.store, claim_by("vnfs2", 18), 30));
  ASSERT_TRUE(end(first->id));
  const auto second = claim(claim_by("vnfs2", 18));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->mode, Membership::Mode::kSole);
  EXPECT_EQ(value(kv::keys::solo(formatted.fs)), "2");
}

// A mount that sees itself alone puts `solo` between a claim's look and its transaction.
TEST_F(MountClaimTest, AClaimBesideMountsComparesThatNobodyBecomesSole) {
  ASSERT_TRUE(claim(claim_by("vnfs1", 17)));
  kv::Txn room;
  room.success = {kv::erase(kv::keys::solo(formatted.fs))};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, room, 1000));
  const auto plan = plan_claim(read(), claim_by("vnfs2", 18), 0);
  ASSERT_TRUE(plan && !plan->waits_for);
  kv::Txn sole;
  sole.success = {kv::put(kv::keys::solo(formatted.fs), "1")};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, sole, 1000));
  EXPECT_FALSE(kv::txn_blocking(*formatted.store, plan->txn, 1000)->succeeded);
}

// Sessions advance the stamp all the time: a claim must not require that it stands still, nor put
// an older one.
TEST_F(MountClaimTest, TheStampNeverGoesBack) {
  const auto plan = plan_claim(read(), claim_by("vnfs1", 17), 0);
  const auto later = plan_claim(read(), claim_by("vnfs1", 17), 10);
  const std::string key = kv::keys::stamp(formatted.fs);
  const std::string ahead =
      encode_stamp(static_cast<std::int64_t>(read_be64(value(key), 0)) + (1 << 24));
  kv::Txn txn;
  txn.success = {kv::put(key, ahead)};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, txn, 1000));
  EXPECT_FALSE(kv::txn_blocking(*formatted.store, plan->txn, 1000)->succeeded);
  EXPECT_TRUE(kv::txn_blocking(*formatted.store, later->txn, 1000)->succeeded);
  EXPECT_GT(value(key), ahead);
}

TEST_F(MountClaimTest, AfterTheEndRecordTheNextClaimKnowsWhatToRecover) {
  const auto first = claim(claim_by("vnfs1", 17));
  ASSERT_TRUE(first);
  ASSERT_TRUE(end(first->id));
  const auto second = claim(claim_by("vnfs1", 18));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->id, MountId{2}) << "ids are never reused";
  ASSERT_EQ(second->ended.size(), 1u);
  EXPECT_EQ(second->ended[0].id, first->id);
  EXPECT_EQ(second->ended[0].ended->proof(), "killed, reaped");
}

// One mount lives, and more ended mounts than one page shows come before it.
TEST_F(MountClaimTest, WhatALivingMountHasIsNotToBeRecovered) {
  ASSERT_TRUE(claim(claim_by("vnfs1", 17)));
  ASSERT_TRUE(end(MountId{1}));
  ASSERT_TRUE(claim(claim_by("vnfs1", 18)));
  ASSERT_TRUE(kv::txn_blocking(*formatted.store,
                               kv::Txn{{}, {kv::erase(kv::keys::solo(formatted.fs))}, {}}, 1000));
  const auto beside = claim(claim_by("vnfs2", 19));
  ASSERT_TRUE(beside) << beside.error().message;
  ASSERT_EQ(beside->ended.size(), 1u);
  EXPECT_EQ(beside->ended.front().id, MountId{1});
}

TEST_F(MountClaimTest, ALivingMountBehindThousandsOfEndedOnesIsSeen) {
  constexpr std::uint64_t kMounts = 3000;
  for (std::uint64_t id = 100; id < 100 + kMounts; id += 50) {
    kv::Txn txn;
    for (std::uint64_t i = id; i < id + 50; ++i) {
      const MountId mount{i};
      txn.success.push_back(kv::put(kv::keys::mount(formatted.fs, mount),
                                    claim_by("vnfs1", i).record.SerializeAsString()));
      if (i + 1 == 100 + kMounts) continue;
      txn.success.push_back(kv::put(kv::keys::mount_ended(formatted.fs, mount),
                                    records::EndRecord().SerializeAsString()));
    }
    ASSERT_TRUE(kv::txn_blocking(*formatted.store, txn, 1000));
  }
  EXPECT_EQ(list_mounts(*formatted.store, formatted.fs)->size(), kMounts);
  kv::Txn solo;
  solo.success = {kv::put(kv::keys::solo(formatted.fs), std::to_string(99 + kMounts))};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, solo, 1000));
  EXPECT_EQ(claim_mount(*formatted.store, claim_by("vnfs2", 9), 30).error().code, ErrorCode::kBusy);
  EXPECT_EQ(remove_filesystem(*formatted.store, "u04", {}).error().code, ErrorCode::kBusy);
  // Its own claim whose reply was lost is found as well.
  EXPECT_EQ(claim(claim_by("vnfs1", 99 + kMounts))->id, MountId{99 + kMounts});
  ASSERT_TRUE(end(MountId{99 + kMounts}));
  const auto next = claim(claim_by("vnfs2", 9));
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->ended.size(), kMounts);
}

// Two claims read the same state; the second transaction must fail.
TEST_F(MountClaimTest, OfTwoSimultaneousClaimsOneFails) {
  const auto one = plan_claim(read(), claim_by("vnfs1", 1), 0);
  auto two = plan_claim(read(), claim_by("vnfs2", 2), 0);
  ASSERT_TRUE(one && two);
  // Claims of other filesystems change the counter too: this compare must not be the one that stops
  // the second claim.
  std::erase_if(two->txn.compares, [](const kv::Compare& compare) {
    return compare.range.key == kv::keys::kMountIdCounter;
  });
  std::erase_if(two->txn.compares, [&](const kv::Compare& compare) {
    return compare.range.key == kv::keys::stamp(formatted.fs) ||
           compare.range.key == kv::keys::solo(formatted.fs);
  });
  EXPECT_TRUE(kv::txn_blocking(*formatted.store, one->txn, 1000)->succeeded);
  EXPECT_FALSE(kv::txn_blocking(*formatted.store, two->txn, 1000)->succeeded);
}

TEST_F(MountClaimTest, LostRepliesClaimOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    Formatted fresh;
    fresh.faults->push(fault, [](const kv::Txn& txn) { return kv::could_put(txn); });
    const auto mine = claim_mount(*fresh.store, claim_by("vnfs1", 17), 5000);
    ASSERT_TRUE(mine) << mine.error().message;
    EXPECT_TRUE(fresh.faults->empty());
    fresh.store->run_late();
    const auto mounts = list_mounts(*fresh.store, fresh.fs);
    ASSERT_TRUE(mounts);
    ASSERT_EQ(mounts->size(), 1u);
    EXPECT_EQ((*mounts)[0].id, mine->id);
    EXPECT_EQ((*mounts)[0].create_revision, mine->create_revision);
  }
}

TEST_F(MountClaimTest, AFullStoreIsNoSpaceAtOnce) {
  formatted.store->server().set_quota(kv::MemServer::Quota::kFull);
  EXPECT_EQ(claim(claim_by("vnfs1", 17)).error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(list_mounts(*formatted.store, formatted.fs)->empty());
}

TEST_F(MountClaimTest, AGuardThatDoesNotHoldIsADisproof) {
  ClaimOptions options = claim_by("vnfs1", 17);
  options.guards = {kv::key_exists(kv::keys::kOwners + "vnfs1")};
  const auto mine = claim(options);
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::kEnded);
  EXPECT_TRUE(list_mounts(*formatted.store, formatted.fs)->empty());
}

TEST_F(MountClaimTest, AnotherFilesystemOfThatNameIsNotClaimed) {
  ASSERT_TRUE(remove_filesystem(*formatted.store, "u04", {}));
  ASSERT_NE(format_for_test(*formatted.store, "u04"), formatted.fs);
  const auto refused = claim(claim_by("vnfs1", 17));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
}

TEST_F(MountClaimTest, UnknownAndRemovedFilesystems) {
  ClaimOptions options = claim_by("vnfs1", 17);
  options.filesystem_name = "nothing";
  EXPECT_EQ(claim(options).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(remove_filesystem(*formatted.store, "u04", {}));
  EXPECT_EQ(claim(claim_by("vnfs1", 17)).error().code, ErrorCode::kNotFound);
}

TEST_F(MountClaimTest, AnUnknownSchemaVersionIsRefused) {
  const std::string key = kv::keys::kFilesystems + "u04";
  records::FilesystemRecord record;
  record.ParseFromString(
      kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000)->kvs[0].value);
  record.set_schema_version(2);
  kv::Txn txn;
  txn.success = {kv::put(key, record.SerializeAsString())};
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, txn, 1000));
  EXPECT_EQ(claim(claim_by("vnfs1", 17)).error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace symnas::fs
