#include "fsal_cluster/mount/lock_clearing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/kv/keys.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

const LockOwner kAnna{LockProtocol::kNfs4, "client a", "anna"};

class LockClearingTest : public testing::Test {
 protected:
  LockClearingTest() {
    locks_ = std::move(*FileLocks::load(world_.session(), env::system_clock(), world_.fs(), "v1"));
    file_ = world_.create(world_.root(), "f");
    key_ = lock_key(world_.fs(), file_.ino, "v1", kAnna);
    EXPECT_TRUE(locks_->lock(file_.ino, kAnna, {0, 9, LockMode::kExclusive}, false)->granted);
  }
  kv::KeyValue stored(const std::string& key) {
    return world_.session().range(kv::single_key(key), 1)->kvs.at(0);
  }
  // Puts the order, and waits until the watch has shown it.
  void give(Revision lock_revision) {
    put_order(lock_revision);
    orders_.on_events({{false, stored(order_key())}}, Revision{});
  }
  void put_order(Revision lock_revision) {
    records::LockOrder order;
    order.set_lock_revision(lock_revision.value());
    kv::Mutation mutation;
    mutation.writes = {kv::put(order_key(), order.SerializeAsString())};
    ASSERT_TRUE(world_.session().commit_blocking(mutation)->succeeded);
  }
  std::string order_key() { return lock_order_key(world_.fs(), key_); }
  void wait_done() {
    for (int i = 0; i < 5000 && world_.exists(order_key()); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(world_.exists(order_key()));
  }
  bool is_free() {
    const LockOwner other{LockProtocol::kNfs4, "client b", "bert"};
    return locks_->test(file_.ino, other, {0, 9, LockMode::kExclusive}).granted;
  }

  World world_;
  std::unique_ptr<FileLocks> locks_;
  env::ManualClock clock_;
  LockOrders orders_{clock_, world_.fs(), "v1"};
  Handle file_;
  std::string key_;
};

TEST_F(LockClearingTest, AnOrderClearsTheLockAndGoes) {
  const LockClearing clearing(world_.context(), *locks_, orders_, {});
  give(stored(key_).mod_revision);
  wait_done();
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(world_.exists(key_));
}

TEST_F(LockClearingTest, ALockThatHasChangedSinceStays) {
  const LockClearing clearing(world_.context(), *locks_, orders_, {});
  const Revision seen = stored(key_).mod_revision;
  ASSERT_TRUE(locks_->lock(file_.ino, kAnna, {20, 29, LockMode::kExclusive}, false)->granted);
  give(seen);
  wait_done();
  EXPECT_FALSE(is_free());
  EXPECT_TRUE(world_.exists(key_));
}

TEST_F(LockClearingTest, TheServerInFrontIsAskedUntilItCan) {
  int asked = 0;
  const ReleaseLocks release = [&](const Handle& file, const LockOwner& owner, const auto& begin,
                                   const auto& end) -> Status {
    EXPECT_EQ(file, file_);
    EXPECT_EQ(owner, kAnna);
    if (++asked == 1) return fail(ErrorCode::kUnavailable, "not yet");
    EXPECT_TRUE(begin());
    end();
    return {};
  };
  {
    const LockClearing clearing(world_.context(), *locks_, orders_, release);
    give(stored(key_).mod_revision);
    wait_done();
  }
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(is_free());
}

TEST_F(LockClearingTest, AnOrderThatIsTooOldByThenIsVoid) {
  std::atomic<int> asked{0};
  const ReleaseLocks release = [&](const Handle&, const LockOwner&, const auto& begin,
                                   const auto&) -> Status {
    clock_.advance_ns(kLockOrderValidNs);
    EXPECT_FALSE(begin());
    if (++asked == 1) return fail(ErrorCode::kUnavailable, "not yet");
    return {};
  };
  {
    const LockClearing clearing(world_.context(), *locks_, orders_, release);
    give(stored(key_).mod_revision);
    wait_done();
  }
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(is_free());
}

// The watch of the mount has not shown that the order was taken back.
TEST_F(LockClearingTest, AnOrderThatWasTakenBackIsVoid) {
  std::atomic<int> asked{0};
  const ReleaseLocks release = [&](const Handle&, const LockOwner&, const auto& begin,
                                   const auto& end) -> Status {
    kv::Mutation taken_back;
    taken_back.writes = {kv::erase(order_key())};
    EXPECT_TRUE(world_.session().commit_blocking(taken_back));
    if (begin()) end();
    ++asked;
    return {};
  };
  {
    const LockClearing clearing(world_.context(), *locks_, orders_, release);
    give(stored(key_).mod_revision);
    for (int i = 0; i < 5000 && asked == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(is_free());
}

TEST_F(LockClearingTest, AnOrderOfBeforeThisMountIsVoid) {
  put_order(stored(key_).mod_revision);
  orders_.on_image({stored(order_key())}, Revision{});
  const LockClearing clearing(world_.context(), *locks_, orders_, {});
  wait_done();
  EXPECT_FALSE(is_free());
}

}  // namespace
}  // namespace symnas::fs
