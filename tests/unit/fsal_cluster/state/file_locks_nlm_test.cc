// Locks of NLM clients, which have no lease but tell of their reboots.
#include "fsal_cluster/state/file_locks.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/fsal_cluster/state/locks_world.h"

namespace symnas::fs {
namespace {

using Record = FileLocks::Record;

const NlmClient kHost{"10.0.0.202", "10.0.0.101", "vm1"};
const NlmClient kSameName{"10.0.0.203", "10.0.0.101", "vm1"};

LockOwner process(const NlmClient& host, const std::string& svid) {
  return {LockProtocol::kNlm, identity_of(host), svid};
}

TEST_F(FileLocksTest, ARebootedNlmClientLosesItsLocksAndNobodyElseDoes) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3})->granted);
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "2"), exclusive(10, 19), false)->granted);
  ASSERT_TRUE(locks_->lock(kFile, process(kSameName, "1"), exclusive(20, 29), false, {3})->granted);
  ASSERT_TRUE(lock(kAnna, exclusive(30, 39)));
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  const auto found = load();
  for (FileLocks* locks : {locks_.get(), found.get()}) {
    EXPECT_TRUE(is_free(*locks, exclusive(0, 19)));
    EXPECT_FALSE(is_free(*locks, exclusive(29, 29)));
    EXPECT_FALSE(is_free(*locks, exclusive(30, 30)));
  }
}

TEST_F(FileLocksTest, ANoticeThatComesLateLeavesTheLocksOfTheNewLife) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3})->granted);
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "2"), exclusive(10, 19), false, {3})->granted);
  // The client has rebooted; the first process of the new life has the number of the old one and
  // locks the same range.
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {5})->granted);
  const auto next_head = load();
  for (FileLocks* locks : {locks_.get(), next_head.get()}) {
    static_cast<void>(locks->forget_nlm_client(kHost.address, 5));
    EXPECT_FALSE(is_free(*locks, exclusive(0, 0)));
    EXPECT_TRUE(is_free(*locks, exclusive(10, 19)));
  }
}

TEST_F(FileLocksTest, AReclaimKeepsTheLifeInWhichItWasLocked) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3})->granted);
  const auto found = load();
  EXPECT_TRUE(found->lock(kFile, process(kHost, "1"), exclusive(0, 9), true)->granted);
  ASSERT_TRUE(found->forget_nlm_client(kHost.address, 3));
  EXPECT_FALSE(is_free(*found, exclusive(0, 9)));
  ASSERT_TRUE(found->forget_nlm_client(kHost.address, std::nullopt));
  EXPECT_TRUE(is_free(*found, exclusive(0, 9)));
}

TEST_F(FileLocksTest, WhoHoldsNlmLocksIsKnownFromTheRecords) {
  EXPECT_TRUE(locks_->nlm_clients().empty());
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false)->granted);
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "2"), exclusive(10, 19), false)->granted);
  ASSERT_TRUE(lock(kAnna, exclusive(30, 39)));
  EXPECT_EQ(load()->nlm_clients(), std::set<NlmClient>{kHost});
  EXPECT_TRUE(load()->has_nlm_client(kHost.address));
  for (const char* other : {"", "10.0.0.20", "10.0.0.203", "10.0.0.101"})
    EXPECT_FALSE(locks_->has_nlm_client(other)) << other;
  ASSERT_TRUE(locks_->unlock(kFile, process(kHost, "1"), 0, UINT64_MAX, Record::kNow));
  EXPECT_EQ(locks_->nlm_clients(), std::set<NlmClient>{kHost});
  ASSERT_TRUE(locks_->unlock(kFile, process(kHost, "2"), 0, UINT64_MAX, Record::kNow));
  EXPECT_TRUE(load()->nlm_clients().empty());
  EXPECT_FALSE(locks_->has_nlm_client(kHost.address));
}

TEST_F(FileLocksTest, WhoLockedBeforeTheMoveUnlocksAfterItWithoutReclaiming) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3})->granted);
  const auto found = load();
  EXPECT_FALSE(found->lock(kFile, process(kSameName, "1"), exclusive(0, 9), false, {3})->granted);
  EXPECT_FALSE(found->lock(kFile, process(kSameName, "1"), exclusive(0, 9), true)->granted);
  ASSERT_TRUE(found->unlock(kFile, process(kHost, "1"), 0, UINT64_MAX, Record::kNow));
  EXPECT_TRUE(found->lock(kFile, process(kSameName, "1"), exclusive(0, 9), false, {3})->granted);
}

TEST_F(FileLocksTest, ALockOfANewLifeDropsWhatTheFormerOneLockedOfTheFile) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 29), false, {3})->granted);
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(5, 9), false, {5})->granted);
  const auto next_head = load();
  for (FileLocks* locks : {locks_.get(), next_head.get()}) {
    static_cast<void>(locks->forget_nlm_client(kHost.address, 5));
    EXPECT_FALSE(is_free(*locks, exclusive(5, 9)));
    EXPECT_TRUE(is_free(*locks, exclusive(10, 29)));
    EXPECT_TRUE(is_free(*locks, exclusive(0, 4)));
  }
}

TEST_F(FileLocksTest, AnOlderNoticeLeavesTheLocksOfLaterLives) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {7})->granted);
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_FALSE(is_free(*locks_, exclusive(0, 9)));
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 8)) << "it is down";
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 9)));
}

TEST_F(FileLocksTest, ALockThatWasAskedForInAFormerLifeIsDenied) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {5})->granted);
  EXPECT_FALSE(locks_->lock(kFile, process(kHost, "1"), exclusive(20, 29), false, {3})->granted);
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_FALSE(is_free(*locks_, exclusive(0, 9)));
}

// The client's LOCK waits for the store when its notice comes.
TEST_F(FileLocksTest, ALockOfAFormerLifeThatIsUnderWayGoesWithTheNotice) {
  std::future<Status> forgotten;
  world_->session().interrupt([&] {
    EXPECT_TRUE(locks_->has_nlm_client(kHost.address)) << "otherwise the notice is refused";
    locks_->note_nlm_life(kHost.address, 5);
    forgotten =
        std::async(std::launch::async, [&] { return locks_->forget_nlm_client(kHost.address, 5); });
    EXPECT_EQ(forgotten.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  });
  static_cast<void>(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3}));
  ASSERT_TRUE(forgotten.get());
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 9)));
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
  EXPECT_FALSE(locks_->has_nlm_client(kHost.address));
}

TEST_F(FileLocksTest, ALockOfAFormerLifeThatComesBehindTheNoticeIsRefused) {
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  const auto late = locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(locks_->lock(kFile, process(kSameName, "1"), exclusive(0, 9), false, {3})->granted);
  EXPECT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(10, 19), false, {5})->granted);
  EXPECT_TRUE(locks_->lock(kFile, process(kHost, "2"), exclusive(20, 29), false)->granted);
}

TEST_F(FileLocksTest, WhatIsLockedWithoutTellingTheLifeStaysUntilANotice) {
  const LockOwner owner = process(kHost, "1");
  ASSERT_TRUE(locks_->lock(kFile, owner, exclusive(0, 9), false)->granted);
  ASSERT_TRUE(locks_->lock(kFile, owner, exclusive(20, 29), false, {5})->granted);
  EXPECT_FALSE(is_free(*locks_, exclusive(0, 9))) << "no other life";
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "2"), exclusive(40, 49), false)->granted);
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_FALSE(is_free(*locks_, exclusive(0, 9))) << "it is of the life that locked after it";
  EXPECT_TRUE(is_free(*locks_, exclusive(40, 49)));
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 7));
  EXPECT_TRUE(is_free(*locks_, exclusive(0, 29)));
}

TEST_F(FileLocksTest, ANoticeIsNotDoneBeforeItsReleasesAreRecorded) {
  ASSERT_TRUE(locks_->lock(kFile, process(kHost, "1"), exclusive(0, 9), false, {3})->granted);
  server_->set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_TRUE(locks_->owes_unlocks_of(kHost.address));
  EXPECT_TRUE(locks_->has_nlm_client(kHost.address)) << "it has to be told again";
  EXPECT_FALSE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_FALSE(locks_->owes_unlocks_of(kSameName.address));
  server_->set_quota(kv::MemServer::Quota::kFree);
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_FALSE(locks_->owes_unlocks_of(kHost.address));
  EXPECT_FALSE(locks_->has_nlm_client(kHost.address));
  EXPECT_TRUE(is_free(*load(), exclusive(0, 9)));
}

// The state in proc_pid_stat(5).
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text.at(name_end + 2) == 'S';
}

TEST_F(FileLocksTest, ManyLocksAreReleasedInPartsAndOthersLockInBetween) {
  constexpr std::size_t kLocks = 2 * kLocksAtOnce + 1;
  for (std::size_t i = 0; i < kLocks; ++i)
    ASSERT_TRUE(locks_->lock(Ino{100 + i}, process(kHost, "1"), exclusive(0, 9), false)->granted);
  world_->session().forget();
  std::future<bool> other;
  world_->session().interrupt([&] {
    const LockOwner owner = process(kSameName, "1");
    std::atomic<pid_t> thread{0};
    other = std::async(std::launch::async, [&, owner] {
      thread = ::gettid();
      return lock(owner, exclusive(0, 9));
    });
    while (!locks_->has_nlm_client(kSameName.address)) std::this_thread::yield();
    // From here on it sleeps because it waits for its turn.
    for (int asleep = 0; asleep < 20; asleep = is_asleep(thread) ? asleep + 1 : 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(other.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  });
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_TRUE(other.get());
  const auto& mutations = world_->session().mutations();
  ASSERT_EQ(mutations.size(), 4u);
  const auto locking = std::find_if(mutations.begin(), mutations.end(), [](const auto& mutation) {
    return mutation.writes.size() == 1 && mutation.growth == kv::Growth::kChanges;
  });
  EXPECT_LT(locking - mutations.begin(), 3) << "it waited for all of them";
  EXPECT_EQ(load()->size(), 1u);
}

TEST_F(FileLocksTest, WhatSomebodyElseHasErasedDoesNotStopTheOthers) {
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_TRUE(locks_->lock(Ino{100 + i}, process(kHost, "1"), exclusive(0, 9), false)->granted);
  kv::Mutation erased;
  erased.writes = {kv::erase(lock_key(world_->fs(), Ino{101}, "vnfs1", process(kHost, "1")))};
  ASSERT_TRUE(world_->session().commit_blocking(std::move(erased)));
  for (int tries = 0; tries < 3 && !locks_->forget_nlm_client(kHost.address, 5); ++tries) {
  }
  EXPECT_FALSE(locks_->owes_unlocks_of(kHost.address));
  EXPECT_EQ(load()->size(), 0u);
}

TEST_F(FileLocksTest, LocksOfAFormerLifeShowThatTheNoticeWasLost) {
  const LockOwner there = process(kHost, "1");
  ASSERT_TRUE(locks_->lock(kFile, there, exclusive(0, 9), false, {3})->granted);
  ASSERT_TRUE(locks_->lock(Ino{8}, process(kSameName, "1"), exclusive(0, 9), false, {3})->granted);
  EXPECT_FALSE(locks_->has_outlived_locks(there, 3));
  EXPECT_FALSE(locks_->has_outlived_locks(there, 0));
  EXPECT_FALSE(locks_->has_outlived_locks(kAnna, 5));
  const NlmClient other_name{kHost.address, kHost.server, "vm2"};
  EXPECT_FALSE(locks_->has_outlived_locks(process(other_name, "1"), 5)) << "behind one address";
  const NlmClient other_vip{kHost.address, "10.0.0.102", kHost.name};
  EXPECT_TRUE(locks_->has_outlived_locks(process(other_vip, "9"), 5));
  EXPECT_TRUE(locks_->has_outlived_locks(there, 5));
  ASSERT_TRUE(locks_->forget_nlm_client(kHost.address, 5));
  EXPECT_FALSE(locks_->has_outlived_locks(there, 5));
  ASSERT_TRUE(locks_->lock(kFile, there, exclusive(0, 9), false, {5})->granted);
  EXPECT_TRUE(locks_->has_outlived_locks(there, 7));
}

TEST_F(FileLocksTest, NumbersOfLivesWrap) {
  EXPECT_TRUE(is_former_life(INT32_MAX, INT32_MIN + 1));
  EXPECT_FALSE(is_former_life(INT32_MIN + 1, INT32_MAX));
  EXPECT_FALSE(is_former_life(3, 3));
  EXPECT_FALSE(is_former_life(0, 3));
}

// A request that arrived while the process was stopped is read afterwards.
TEST_F(LeaseTest, ALifeThatIsOverIsRememberedOverAPause) {
  Gate gate(clock_, clock_.mono_ns(), 8'000'000'000);
  const auto locks = load_at(nullptr, &gate);
  ASSERT_TRUE(locks->forget_nlm_client(kHost.address, 5));
  const auto late = [&](std::uint64_t byte) {
    return locks->lock(kFile, process(kHost, "1"), exclusive(byte, byte), false, {3}).has_value();
  };
  pass_s(14);
  EXPECT_FALSE(late(1)) << "the gate is closed still";
  gate.prove(clock_.mono_ns());
  pass_s(5);
  EXPECT_FALSE(late(2));
  gate.prove(clock_.mono_ns());
  pass_s(5);
  EXPECT_TRUE(late(3)) << "whoever counts anew";
}

}  // namespace
}  // namespace symnas::fs
