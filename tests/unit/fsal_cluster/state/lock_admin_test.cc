// Locks listed and cleared from outside. The world is a mount of "vnfs1"; "elsewhere" has no mount.
#include "fsal_cluster/state/lock_admin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fsal_cluster/state/file_locks.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

constexpr Ino kFile{7};
const LockOwner kAnna{LockProtocol::kNfs4, "client a", "anna"};
constexpr std::int64_t kWaitMs = 40;

class LockAdminTest : public testing::Test {
 protected:
  std::unique_ptr<FileLocks> load(const std::string& vnfs) {
    return std::move(*FileLocks::load(world_.session(), env::system_clock(), world_.fs(), vnfs));
  }
  static void lock(FileLocks& locks, std::uint64_t start) {
    ASSERT_TRUE(locks.lock(kFile, kAnna, {start, start + 9, LockMode::kExclusive}, false)->granted);
  }
  std::vector<LockEntry> listed() { return *list_locks(world_.store(), world_.fs()); }
  Result<ClearedLocks> clear(const std::vector<LockEntry>& locks) {
    return clear_locks(world_.store(), env::system_clock(), world_.fs(), locks, "c1n1", kWaitMs);
  }
  World world_;
};

TEST_F(LockAdminTest, ShowsWhatIsRecorded) {
  const auto locks = load("vnfs1");
  lock(*locks, 10);
  const auto seen = listed();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].ino, kFile);
  EXPECT_EQ(seen[0].vnfs, "vnfs1");
  EXPECT_EQ(seen[0].owner, kAnna);
  EXPECT_EQ(seen[0].lock.ranges, (std::vector<LockRange>{{10, 19, LockMode::kExclusive}}));
  EXPECT_GT(seen[0].lock.since_ns, 0);
  EXPECT_FALSE(seen[0].is_older_than_mount);
}

TEST_F(LockAdminTest, IsReadInPages) {
  constexpr int kMore = kLocksPage + 10;
  for (int number = 0; number < kMore; ++number) {
    const LockOwner owner{LockProtocol::kNfs4, "client", std::to_string(number)};
    const RecordedLock lock{{{0, 9, LockMode::kExclusive}}, {}, 1};
    kv::Mutation mutation;
    mutation.writes = {kv::put(lock_key(world_.fs(), kFile, "elsewhere", owner),
                               to_record(kFile, "elsewhere", owner, lock).SerializeAsString())};
    ASSERT_TRUE(world_.session().commit_blocking(std::move(mutation)));
  }
  EXPECT_EQ(listed().size(), static_cast<std::size_t>(kMore));
  int taken = 0;
  ASSERT_TRUE(
      for_each_lock(world_.store(), world_.fs(), [&](const LockEntry&) { return ++taken < 5; }));
  EXPECT_EQ(taken, 5);
}

TEST_F(LockAdminTest, WhatNobodyBelievesInGoesAtOnce) {
  const auto locks = load("elsewhere");
  lock(*locks, 10);
  ASSERT_TRUE(listed().at(0).is_older_than_mount);
  const auto cleared = clear(listed());
  ASSERT_TRUE(cleared);
  EXPECT_EQ(cleared->released, 1u);
  EXPECT_TRUE(cleared->unanswered.empty());
  EXPECT_TRUE(listed().empty());
}

TEST_F(LockAdminTest, WhatAMountBelievesInIsLeftToIt) {
  const auto locks = load("vnfs1");
  lock(*locks, 10);
  const auto cleared = clear(listed());
  ASSERT_TRUE(cleared);
  EXPECT_EQ(cleared->released, 0u);
  EXPECT_EQ(cleared->unanswered, std::vector<std::string>{"vnfs1"});
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_FALSE(world_.exists(lock_order_key(world_.fs(), listed()[0].key))) << "taken back";
}

// A mount that was claimed meanwhile finds the first order void, because it does not know its age.
TEST_F(LockAdminTest, AnOrderThatIsFoundVoidIsGivenAnew) {
  const auto locks = load("vnfs1");
  lock(*locks, 10);
  const LockEntry seen = listed().at(0);
  std::atomic<bool> stop{false};
  std::thread mount([&] {
    const std::string order = lock_order_key(world_.fs(), seen.key);
    const auto wait_for_order = [&] {
      while (!stop && !world_.exists(order)) std::this_thread::yield();
    };
    const auto erase = [&](std::vector<std::string> keys) {
      kv::Txn txn;
      for (std::string& key : keys) txn.success.push_back(kv::erase(std::move(key)));
      EXPECT_TRUE(kv::txn_blocking(world_.store(), std::move(txn), 1000));
    };
    wait_for_order();
    erase({order});
    wait_for_order();
    if (!stop) erase({order, seen.key});
  });
  const auto cleared =
      clear_locks(world_.store(), env::system_clock(), world_.fs(), {seen}, "c1n1", 100 * kWaitMs);
  stop = true;
  mount.join();
  ASSERT_TRUE(cleared);
  EXPECT_EQ(cleared->released, 1u);
}

TEST_F(LockAdminTest, WhatHasChangedSinceItWasSeenStays) {
  const auto locks = load("elsewhere");
  lock(*locks, 10);
  const auto seen = listed();
  lock(*locks, 30);
  const auto cleared = clear(seen);
  ASSERT_TRUE(cleared);
  EXPECT_EQ(cleared->changed, 1u);
  EXPECT_EQ(listed().size(), 1u);
}

}  // namespace
}  // namespace symnas::fs
