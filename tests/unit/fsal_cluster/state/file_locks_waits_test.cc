// Who waits for a lock, over the end of an instance.
#include "fsal_cluster/state/file_locks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/kv/lock_keys.h"
#include "fsal_cluster/state/lock_waits.pb.h"
#include "tests/unit/fsal_cluster/state/locks_world.h"

namespace symnas::fs {
namespace {

const NlmClient kHost{"10.0.0.202", "10.0.0.101", "vm1"};

LockWait wait_of(const LockOwner& owner, std::int32_t life = 0) {
  LockWait wait;
  wait.ino = kFile;
  wait.generation = Generation{1};
  wait.owner = owner;
  wait.range = exclusive(0, 9);
  wait.nsm_state = life;
  wait.export_id = 1;
  return wait;
}

class FileLocksWaitsTest : public FileLocksTest {
 protected:
  LockOwner process(const std::string& svid) {
    return {LockProtocol::kNlm, identity_of(kHost), svid};
  }
  // Records are erased by a thread.
  bool comes_to_have_records(std::size_t count) {
    for (int i = 0; i < 500; ++i) {
      if (records() == count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  std::size_t records() {
    const auto found =
        world_->session().range(kv::prefix_range(kv::keys::lock_waits(world_->fs())), 0);
    return found ? found->kvs.size() : SIZE_MAX;
  }
};

TEST_F(FileLocksWaitsTest, TheNextInstanceKnowsWhoWaitsInTheirOrder) {
  locks_->begin_wait(wait_of(process("2")));
  locks_->begin_wait(wait_of(kAnna));
  locks_->begin_wait(wait_of(process("1")));
  const auto next = load();
  EXPECT_EQ(next->left_waits(),
            (std::vector<LockWait>{wait_of(process("2")), wait_of(kAnna), wait_of(process("1"))}));
  EXPECT_TRUE(locks_->left_waits().empty());
}

TEST_F(FileLocksWaitsTest, WhoWaitsNoMoreIsForgotten) {
  locks_->begin_wait(wait_of(process("1")));
  locks_->begin_wait(wait_of(process("2")));
  locks_->end_wait(wait_of(process("1")));
  EXPECT_TRUE(comes_to_have_records(1));
  EXPECT_EQ(load()->left_waits(), std::vector<LockWait>{wait_of(process("2"))});
}

TEST_F(FileLocksWaitsTest, AnUnlockEndsWhatItsOwnerWaitedForBeforeItIsAnswered) {
  locks_->begin_wait(wait_of(process("1")));
  locks_->begin_wait(wait_of(process("2")));
  locks_->end_wait(wait_of(process("1")));
  EXPECT_TRUE(locks_->unlock(kFile, process("1"), 0, 9, FileLocks::Record::kNow));
  EXPECT_EQ(records(), 1U);
}

TEST_F(FileLocksWaitsTest, AnUnlockAtTheNextInstanceEndsTheWait) {
  locks_->begin_wait(wait_of(process("1")));
  locks_->begin_wait(wait_of(process("2")));
  const auto next = load();
  EXPECT_TRUE(next->unlock(kFile, process("1"), 0, 4, FileLocks::Record::kNow));
  EXPECT_EQ(next->left_waits().size(), 2U) << "a part of it only";
  EXPECT_TRUE(next->unlock(kFile, process("1"), 0, 9, FileLocks::Record::kNow));
  EXPECT_EQ(next->left_waits(), std::vector<LockWait>{wait_of(process("2"))});
  EXPECT_EQ(records(), 1U);
}

TEST_F(FileLocksWaitsTest, AWaitThatGoesOnKeepsItsRecord) {
  locks_->begin_wait(wait_of(process("1")));
  const auto next = load();
  next->begin_wait(wait_of(process("1")));
  EXPECT_TRUE(next->left_waits().empty());
  EXPECT_EQ(load()->left_waits().size(), 1U);
  next->end_wait(wait_of(process("1")));
  EXPECT_TRUE(comes_to_have_records(0));
}

TEST_F(FileLocksWaitsTest, ARebootedClientWaitsForNothing) {
  locks_->begin_wait(wait_of(process("1"), 3));
  locks_->begin_wait(wait_of(process("2"), 5));
  const auto next = load();
  ASSERT_TRUE(next->forget_nlm_client(kHost.address, 5));
  EXPECT_EQ(next->left_waits(), std::vector<LockWait>{wait_of(process("2"), 5)});
  EXPECT_TRUE(comes_to_have_records(1));
}

TEST_F(FileLocksWaitsTest, WhoGetsItsLockWaitsNoMore) {
  locks_->begin_wait(wait_of(kAnna));
  locks_->begin_wait(wait_of(process("1")));
  const auto next = load();
  ASSERT_TRUE(next->lock(kFile, kAnna, exclusive(0, 9), false)->granted);
  EXPECT_EQ(next->left_waits(), std::vector<LockWait>{wait_of(process("1"))});
  EXPECT_TRUE(comes_to_have_records(1));
  next->forget_left_waits();
  EXPECT_TRUE(comes_to_have_records(0));
}

TEST_F(FileLocksWaitsTest, WhatHasBegunAgainIsNotEndedAsWhatIsLeft) {
  locks_->begin_wait(wait_of(process("1")));
  locks_->begin_wait(wait_of(process("2"), 3));
  const auto next = load();
  EXPECT_TRUE(next->is_left(wait_of(process("1"))));
  next->begin_wait(wait_of(process("1")));
  EXPECT_FALSE(next->is_left(wait_of(process("1"))));
  next->end_left(wait_of(process("1")));
  next->end_left(wait_of(process("2"), 3));
  EXPECT_FALSE(next->is_left(wait_of(process("2"), 3)));
  EXPECT_TRUE(comes_to_have_records(1));
  EXPECT_EQ(load()->left_waits(), std::vector<LockWait>{wait_of(process("1"))});
}

TEST_F(FileLocksWaitsTest, WhatAnOwnerHoldsIsToldForItsLife) {
  ASSERT_TRUE(locks_->lock(kFile, process("1"), exclusive(0, 9), false, {3})->granted);
  const auto next = load();
  EXPECT_EQ(next->held_by(kFile, process("1"), 3), std::vector<LockRange>{exclusive(0, 9)});
  EXPECT_TRUE(next->held_by(kFile, process("1"), 5).empty());
  EXPECT_TRUE(next->held_by(kFile, process("2"), 3).empty());
}

// Two VNFSs, one store.
class TwoVnfssTest : public FileLocksWaitsTest {
 protected:
  TwoVnfssTest() {
    locks_ = std::move(*FileLocks::load(world_->session(), env::system_clock(), world_->fs(),
                                        "vnfs1", &beside_, nullptr, kUsualLeaseS, &waits_));
  }
  ~TwoVnfssTest() override { locks_.reset(); }
  static kv::WatchEvent shown(const kv::KeyValue& kv) {
    kv::WatchEvent event;
    event.kv = kv;
    return event;
  }
  // What a waiter of vnfs2 has recorded, shown to vnfs1 as by its watch.
  kv::KeyValue foreign_waiter() {
    const auto other =
        FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs2");
    (*other)->begin_wait(wait_of(kAnna));
    const kv::KeyValue kv = stored();
    waits_.on_events({shown(kv)}, kv.mod_revision);
    return kv;
  }
  kv::KeyValue stored() {
    const auto found =
        world_->session().range(kv::prefix_range(kv::keys::lock_waits(world_->fs())), 0);
    return found && !found->kvs.empty() ? found->kvs.front() : kv::KeyValue{};
  }

  Membership beside_{Membership::Mode::kShared};
  ForeignWaits waits_{env::system_clock(), world_->fs(), "vnfs1"};
};

TEST_F(TwoVnfssTest, AnUnlockCallsWhoWaitsElsewhere) {
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  const Revision before = foreign_waiter().mod_revision;
  ASSERT_TRUE(unlock(kBert, exclusive(0, 9), FileLocks::Record::kNow));
  for (int i = 0; i < 500 && stored().mod_revision == before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  records::LockWait record;
  ASSERT_TRUE(record.ParseFromString(stored().value));
  EXPECT_EQ(record.called(), 1U);
}

TEST_F(TwoVnfssTest, WhoComesLaterYields) {
  foreign_waiter();
  EXPECT_FALSE(lock(kBert, exclusive(0, 9)));
  EXPECT_TRUE(lock(kBert, exclusive(10, 19)));
}

TEST_F(TwoVnfssTest, WhoHoldsItAlreadyYieldsToNobody) {
  ASSERT_TRUE(lock(kBert, exclusive(0, 9)));
  foreign_waiter();
  EXPECT_TRUE(lock(kBert, {0, 9, LockMode::kShared}));
}

TEST_F(TwoVnfssTest, WhoHasWaitedLongerYieldsToNobody) {
  locks_->begin_wait(wait_of(kBert));
  waits_.on_lost();
  const auto other = FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs2");
  (*other)->begin_wait(wait_of(kAnna));
  const auto found =
      world_->session().range(kv::prefix_range(kv::keys::lock_waits(world_->fs())), 0);
  ASSERT_TRUE(found);
  for (const kv::KeyValue& kv : found->kvs) waits_.on_events({shown(kv)}, kv.mod_revision);
  ASSERT_TRUE(waits_.any_on(kFile));
  EXPECT_TRUE(lock(kBert, exclusive(0, 9)));
}

}  // namespace
}  // namespace symnas::fs
