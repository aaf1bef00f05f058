// Locks against a store that refuses, that is slow, and from which they are loaded again after a
// death.
#include "fsal_cluster/state/file_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "common/kv/keys.h"
#include "fsal_cluster/state/lock_admin.h"
#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/fsal_cluster/state/locks_world.h"

namespace symnas::fs {
namespace {

using Record = FileLocks::Record;

TEST_F(FileLocksTest, ARecordedLockIsAHeldLock) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  EXPECT_FALSE(lock(kBert, exclusive(9, 20)));
  EXPECT_FALSE(is_free(*load(), exclusive(0, 0)));
  ASSERT_TRUE(unlock(kAnna, exclusive(0, 9), Record::kNow));
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
  EXPECT_TRUE(lock(kBert, exclusive(0, 9)));
}

TEST_F(FileLocksTest, ALockThatCannotBeRecordedIsNone) {
  server_->set_quota(kv::MemServer::Quota::kFull);
  const auto answer = locks_->lock(kFile, kAnna, exclusive(0, 9), false);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 9)));
}

TEST_F(FileLocksTest, AnUnlockThatCannotBeRecordedIsOneAllTheSame) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  server_->set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(unlock(kAnna, exclusive(0, 9), Record::kNow));
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 9)));
  // A lock of another owner waits for the record of the unlock: the store never has both.
  EXPECT_FALSE(lock(kBert, exclusive(0, 9)));
  server_->set_quota(kv::MemServer::Quota::kFree);
  ASSERT_TRUE(locks_->record_unlocks());
  EXPECT_EQ(load()->size(), 0u);
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  EXPECT_EQ(load()->size(), 1u);
}

TEST_F(FileLocksTest, ALateUnlockIsRecordedBeforeTheNextLockOfTheInode) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  server_->set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(unlock(kAnna, exclusive(0, 9), Record::kNow));
  server_->set_quota(kv::MemServer::Quota::kFree);
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  const auto found = load();
  EXPECT_EQ(found->size(), 1u);
  EXPECT_EQ(found->test(kFile, kAnna, exclusive(0, 9)).conflict.holder, kBert);
}

TEST_F(FileLocksTest, TheOwnerOfALateUnlockLocksAgain) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  server_->set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(unlock(kAnna, exclusive(0, 9), Record::kNow));
  server_->set_quota(kv::MemServer::Quota::kFree);
  ASSERT_TRUE(lock(kAnna, exclusive(5, 20)));
  ASSERT_TRUE(locks_->record_unlocks());
  const auto found = load();
  for (FileLocks* locks : {locks_.get(), found.get()}) {
    EXPECT_TRUE(is_free(*locks, exclusive(0, 4)));
    EXPECT_FALSE(is_free(*locks, exclusive(5, 5)));
  }
}

TEST_F(FileLocksTest, AnUnlockThatMayNotWaitDoesNotWaitForATransaction) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  ASSERT_TRUE(lock(kAnna, exclusive(20, 29)));
  // Called inside the transaction of another owner's lock, on its thread: waiting would never end.
  world_->session().interrupt([&] { EXPECT_TRUE(unlock(kAnna, exclusive(0, 9), Record::kLater)); });
  ASSERT_TRUE(lock(kBert, exclusive(100, 109)));
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 9)));
  ASSERT_TRUE(locks_->record_unlocks());
  const auto found = load();
  EXPECT_TRUE(is_free(*found, exclusive(0, 9)));
  EXPECT_FALSE(is_free(*found, exclusive(20, 29)));
  EXPECT_FALSE(is_free(*found, exclusive(100, 109)));
}

// A mount that closes says that nothing is left: so it must wait for records that are on their way.
TEST_F(FileLocksTest, UnlocksAreRecordedWhenThoseOnTheirWayAre) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  std::promise<std::future_status> before;
  std::future<Status> recorded;
  world_->session().interrupt([&] {  // by the thread that records what is late
    recorded = std::async(std::launch::async, [&] { return locks_->record_unlocks(); });
    before.set_value(recorded.wait_for(std::chrono::milliseconds(50)));
  });
  ASSERT_TRUE(unlock(kAnna, exclusive(0, 9), Record::kLater));
  EXPECT_EQ(before.get_future().get(), std::future_status::timeout);
  EXPECT_TRUE(recorded.get());
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
}

// Locks of many files share transactions of the store only when they do not wait for each other.
TEST_F(FileLocksTest, ALockOfAnotherFileDoesNotWaitForATransaction) {
  const auto later = [&](Ino ino) {
    return std::async(std::launch::async, [this, ino] {
      const auto answer = locks_->lock(ino, kAnna, exclusive(20, 29), false);
      return answer && answer->granted;
    });
  };
  std::future<bool> other;
  std::future<bool> same;
  world_->session().interrupt([&] {
    other = later(Ino{kFile.value() + 1});
    EXPECT_EQ(other.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    same = later(kFile);
    EXPECT_EQ(same.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  });
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  EXPECT_TRUE(other.get());
  EXPECT_TRUE(same.get());
  EXPECT_FALSE(is_free(*load(), exclusive(20, 29)));
  EXPECT_EQ(load()->size(), 2u);
}

TEST_F(FileLocksTest, AnUnlockDuringALockOfTheSameOwnerIsKept) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  world_->session().interrupt([&] { EXPECT_TRUE(unlock(kAnna, exclusive(0, 9), Record::kLater)); });
  ASSERT_TRUE(lock(kAnna, exclusive(20, 29)));
  ASSERT_TRUE(locks_->record_unlocks());
  const auto found = load();
  for (FileLocks* locks : {locks_.get(), found.get()}) {
    EXPECT_TRUE(is_free(*locks, exclusive(0, 9)));
    EXPECT_FALSE(is_free(*locks, exclusive(20, 29)));
  }
}

// A change of the mode was recorded, but its answer was lost: the owner reclaims the mode that it
// knows.
TEST_F(FileLocksTest, AReclaimOfAnotherModeThanTheRecordedOneIsGranted) {
  const LockRange reads{0, 9, LockMode::kShared};
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  auto next = load();
  EXPECT_TRUE(next->lock(kFile, kAnna, reads, true)->granted);
  EXPECT_FALSE(next->lock(kFile, kBert, reads, false)->granted);  // the stronger one stays
  ASSERT_TRUE(lock(kAnna, reads));
  next = load();
  EXPECT_TRUE(next->lock(kFile, kAnna, exclusive(0, 9), true)->granted);
  EXPECT_FALSE(load()->lock(kFile, kBert, reads, false)->granted);  // recorded
  EXPECT_FALSE(next->lock(kFile, kAnna, exclusive(0, 10), true)->granted);
}

TEST_F(FileLocksTest, AReclaimOfAStrongerModeGivesWayToWhoCameInBetween) {
  const LockRange reads{0, 9, LockMode::kShared};
  ASSERT_TRUE(lock(kAnna, reads));
  ASSERT_TRUE(lock(kBert, reads));
  const auto answer = load()->lock(kFile, kAnna, exclusive(0, 9), true);
  EXPECT_FALSE(answer->granted);
  EXPECT_EQ(answer->conflict.holder, kBert);
}

TEST_F(FileLocksTest, AnUnlockThatIsAskedForAgainWaitsForItsRecord) {
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  server_->set_quota(kv::MemServer::Quota::kFull);
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_FALSE(unlock(kBert, exclusive(0, 9), Record::kNow));
  server_->set_quota(kv::MemServer::Quota::kFree);
  EXPECT_TRUE(unlock(kBert, exclusive(0, 9), Record::kNow));
  EXPECT_EQ(load()->size(), 0u);
}

// The ranges are recorded at once, because a thousand LOCKs are slow.
TEST_F(FileLocksTest, AnOwnerHoldsSoManyRangesAtMost) {
  const auto record = [&](std::size_t count) {
    RecordedLock many;
    for (std::size_t i = 0; i < count; ++i) many.ranges.push_back(exclusive(10 * i, 10 * i + 2));
    kv::Mutation mutation;
    mutation.writes = {kv::put(lock_key(world_->fs(), kFile, "vnfs1", kAnna),
                               to_record(kFile, "vnfs1", kAnna, many).SerializeAsString())};
    ASSERT_TRUE(world_->session().commit_blocking(std::move(mutation)));
    locks_ = load();
  };
  record(kLockRangesMax);
  const auto refused = locks_->lock(kFile, kAnna, exclusive(1'000'000, 1'000'000), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(lock(kAnna, exclusive(3, 3))) << "no range more";
  EXPECT_TRUE(lock(kBert, exclusive(1'000'000, 1'000'000)));
  ASSERT_TRUE(unlock(kAnna, exclusive(1, 1), Record::kNow)) << "it splits";
  EXPECT_TRUE(is_free(*load(), exclusive(1, 1)));
  record(kLockRangesHeldMax);
  ASSERT_TRUE(unlock(kAnna, exclusive(1, 1), Record::kNow));
  EXPECT_FALSE(is_free(*load(), exclusive(1, 1))) << "what is split would not fit";
  ASSERT_TRUE(unlock(kAnna, exclusive(0, 2), Record::kNow));
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
}

TEST_F(FileLocksTest, TheRecordSaysSinceWhenSomethingIsHeld) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  const auto record = [&] {
    const auto found =
        world_->session().range(kv::single_key(lock_key(world_->fs(), kFile, "vnfs1", kAnna)), 1);
    return *parse_lock(found->kvs.at(0));
  };
  const std::int64_t since_ns = record().since_ns();
  EXPECT_GT(since_ns, 0);
  ASSERT_TRUE(lock(kAnna, exclusive(20, 29)));
  EXPECT_EQ(record().since_ns(), since_ns);
}

// A damaged record does not keep the VNFS from its locks: it is no lock, and erased.
TEST_F(FileLocksTest, ARecordOfNoByteIsErased) {
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  ASSERT_TRUE(lock(kBert, exclusive(20, 29)));
  const std::string key = lock_key(world_->fs(), kFile, "vnfs1", kAnna);
  records::LockRecord record = to_record(kFile, "vnfs1", kAnna, RecordedLock());
  kv::Mutation damage;
  damage.writes = {kv::put(key, record.SerializeAsString())};
  ASSERT_TRUE(world_->session().commit_blocking(std::move(damage))->succeeded);
  const auto next = load();
  EXPECT_TRUE(is_free(*next, exclusive(0, 9)));
  EXPECT_FALSE(is_free(*next, exclusive(20, 29)));
  ASSERT_TRUE(next->record_unlocks());
  EXPECT_TRUE(world_->session().range(kv::single_key(key), 1)->kvs.empty());
}

// Nor does one that cannot be parsed: nothing that its owner may hold is given away, and nobody
// else loses anything.
class UnreadableLock : public FileLocksTest {
 protected:
  UnreadableLock() {
    EXPECT_TRUE(lock(kAnna, exclusive(0, 9)));
    EXPECT_TRUE(lock(kBert, {20, 29, LockMode::kShared}));
    damage(kAnna, "\xff");
  }
  void damage(const LockOwner& owner, const std::string& value) {
    put(lock_key(world_->fs(), kFile, "vnfs1", owner), value);
    locks_ = load();
  }
  void put(const std::string& key, const std::string& value) {
    kv::Mutation damage;
    damage.writes = {kv::put(key, value)};
    EXPECT_TRUE(world_->session().commit_blocking(std::move(damage))->succeeded);
  }
  bool reclaim(const LockOwner& owner, const LockRange& range) {
    const auto answer = locks_->lock(kFile, owner, range, true);
    return answer && answer->granted;
  }
};

TEST_F(UnreadableLock, CountsAsAllThatNobodyElseHolds) {
  for (const std::uint64_t byte : {0, 19, 30, 1'000'000})
    EXPECT_FALSE(is_free(*locks_, {byte, byte, LockMode::kShared})) << byte;
  EXPECT_TRUE(is_free(*locks_, {20, 29, LockMode::kShared}));
  EXPECT_FALSE(lock(kBert, exclusive(20, 29))) << "its owner may have it shared";
  EXPECT_TRUE(locks_->lock(Ino{8}, kBert, exclusive(0, 9), false)->granted);
}

TEST_F(UnreadableLock, IsAlsoOneOfWhichNothingIsLeft) {
  damage(kAnna, "");
  EXPECT_FALSE(is_free(*locks_, exclusive(0, 0)));
}

TEST_F(UnreadableLock, OwnersReclaimWhatTheyHeld) {
  EXPECT_TRUE(reclaim(kAnna, exclusive(0, 9)));
  EXPECT_TRUE(reclaim(kBert, {20, 29, LockMode::kShared}));
}

TEST_F(UnreadableLock, IsNotErasedWhereOthersHoldAll) {
  put(lock_key(world_->fs(), kFile, "vnfs1", kBert),
      to_record(kFile, "vnfs1", kBert, {{kWholeFile}, {}, 1}).SerializeAsString());
  locks_ = load();
  ASSERT_TRUE(locks_->record_unlocks());
  const std::string key = lock_key(world_->fs(), kFile, "vnfs1", kAnna);
  EXPECT_FALSE(world_->session().range(kv::single_key(key), 1)->kvs.empty());
}

TEST_F(UnreadableLock, IsAGuessUntilAllOfItIsUnlocked) {
  const auto record = [&] {
    const auto found =
        world_->session().range(kv::single_key(lock_key(world_->fs(), kFile, "vnfs1", kAnna)), 1);
    return *parse_lock(found->kvs.at(0));
  };
  ASSERT_TRUE(unlock(kAnna, exclusive(30, UINT64_MAX), Record::kNow));
  EXPECT_TRUE(record().guessed());
  EXPECT_TRUE(is_free(*load(), exclusive(30, 39)));
  EXPECT_FALSE(is_free(*load(), exclusive(0, 0)));
  ASSERT_TRUE(unlock(kAnna, kWholeFile, Record::kNow));
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
  ASSERT_TRUE(lock(kAnna, exclusive(0, 9)));
  EXPECT_FALSE(record().guessed());
}

TEST_F(UnreadableLock, OfTwoOwnersGrantsNeitherWhatTheOtherMayHold) {
  damage(kBert, "\xff");
  EXPECT_FALSE(is_free(*locks_, {20, 29, LockMode::kShared}));
  EXPECT_FALSE(lock(kBert, exclusive(0, 9)));
  EXPECT_FALSE(lock(kAnna, exclusive(20, 29)));
  EXPECT_TRUE(reclaim(kAnna, exclusive(0, 9)));
  EXPECT_TRUE(reclaim(kBert, exclusive(20, 29)));
  // What one of them writes is no fact to the other one, either.
  ASSERT_TRUE(unlock(kAnna, exclusive(10, UINT64_MAX), Record::kNow));
  locks_ = load();
  EXPECT_TRUE(reclaim(kBert, exclusive(0, 29)));
  ASSERT_TRUE(unlock(kAnna, kWholeFile, Record::kNow));
  EXPECT_FALSE(is_free(*load(), exclusive(20, 29)));
}

TEST_F(UnreadableLock, OutlivesANoticeThatMayBeOlder) {
  const LockOwner peer{LockProtocol::kNlm, "10.0.0.1 10.0.0.2 peer", "owner"};
  ASSERT_TRUE(locks_->lock(Ino{8}, peer, exclusive(0, 9), false, {5, ""})->granted);
  put(lock_key(world_->fs(), Ino{8}, "vnfs1", peer), "\xff");
  locks_ = load();
  const auto held = [&] { return !locks_->test(Ino{8}, kAnna, exclusive(0, 0)).granted; };
  ASSERT_TRUE(locks_->forget_nlm_client("10.0.0.1", 5));
  EXPECT_TRUE(held());
  ASSERT_TRUE(locks_->forget_nlm_client("10.0.0.1", std::nullopt));
  EXPECT_FALSE(held());
}

TEST_F(UnreadableLock, BesideManyRangesIsOneOfTheWholeFile) {
  RecordedLock many;
  for (std::uint64_t i = 0; i < 50'000; ++i) many.ranges.push_back(exclusive(10 * i, 10 * i + 2));
  put(lock_key(world_->fs(), kFile, "vnfs1", kBert),
      to_record(kFile, "vnfs1", kBert, many).SerializeAsString());
  locks_ = load();
  EXPECT_FALSE(is_free(*locks_, exclusive(5, 5)));
  EXPECT_TRUE(reclaim(kBert, exclusive(10, 12)));
  EXPECT_TRUE(unlock(kAnna, exclusive(5, 5), Record::kNow));
}

TEST_F(UnreadableLock, IsSeenByAnAdministrator) {
  const auto listed = list_locks(*store_, world_->fs());
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_TRUE(std::any_of(listed->begin(), listed->end(),
                          [](const LockEntry& entry) { return entry.owner == kAnna; }));
}

TEST_F(UnreadableLock, OfAnotherVnfsDeniesAsWell) {
  const auto other =
      *FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs2");
  EXPECT_FALSE(is_free(*other, exclusive(0, 9)));
  EXPECT_FALSE(other->lock(kFile, kBert, exclusive(100, 109), false)->granted);
  EXPECT_TRUE(other->lock(Ino{8}, kBert, exclusive(100, 109), false)->granted);
}

// Neither record nor key can be parsed: whose lock it is nobody knows.
TEST_F(UnreadableLock, UnderAnUnreadableKeyIsAnError) {
  put(locks_of(world_->fs(), kFile) + "x", "\xff");
  const auto next = FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs1");
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace symnas::fs
