// The session with its thread and its blocking calls, over the in-memory store with a thread of its
// own.
#include "common/kv/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/base/log.h"
#include "session_world.h"

namespace symnas::kv {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    log::init("test", "error");
    MemStoreOptions options;
    options.server = server_;
    options.scheduler = std::make_shared<ThreadScheduler>();
    options.faults = faults_;
    store_ = std::make_unique<MemStore>(std::move(options));
  }

  Revision put_directly(const std::string& key, const std::string& value) {
    Txn txn;
    txn.success.push_back(put(keys::stamp(kTestFs), std::string(8, '\0')));
    txn.success.push_back(put(key, value));
    return txn_blocking(*store_, std::move(txn), 1000)->revision;
  }
  SessionOptions new_mount(std::uint64_t id) {
    SessionOptions options;
    append_be64(options.session_id, id);
    options.slot_prefix = keys::slot_prefix(kTestFs);
    options.watched = keys::watched(kTestFs);
    options.stamp_key = keys::stamp(kTestFs);
    options.mount_key = keys::mount(kTestFs, MountId(id));
    options.ended_key = keys::mount_ended(kTestFs, MountId(id));
    options.mount_create_revision = put_directly(options.mount_key, "mount");
    return options;
  }
  std::unique_ptr<Session> open(const SessionOptions& options) {
    auto session = Session::open(
        *store_, env::system_clock(), options, [this](Error) { ++ended_; }, 5000);
    EXPECT_TRUE(session) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }

  std::shared_ptr<MemServer> server_ = std::make_shared<MemServer>();
  std::shared_ptr<ScriptedFaults> faults_ = std::make_shared<ScriptedFaults>();
  std::unique_ptr<MemStore> store_;
  std::atomic<int> ended_{0};
};

TEST_F(SessionTest, CommitsReadsAndCloses) {
  auto session = open(new_mount(1));
  const auto key = data_key("Ia");
  const auto committed = session->commit_blocking(put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_GT(committed->stamp_ns, 0);
  EXPECT_EQ(session->read(key)->value, "1");
  EXPECT_FALSE(session->read(data_key("Inone"))->value);
  const auto range = session->range(prefix_range(data_key("I")), 10);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->kvs.size(), 1u);
  EXPECT_TRUE(session->barrier());
  EXPECT_GE(session->applied(), committed->revision);
  EXPECT_GT(session->next_time_ns(), committed->stamp_ns);
  EXPECT_EQ(session->counters().operations, 1u);
}

TEST_F(SessionTest, SlotsThatItsMountHasArmedNeedNoTransactionOfTheirOwn) {
  auto options = new_mount(1);
  Txn txn;
  txn.success = arm_slots(options.slot_prefix, options.session_id);
  const Revision armed = txn_blocking(*store_, std::move(txn), 1000)->revision;
  options.slots_armed_at = armed;
  auto session = open(options);
  EXPECT_EQ(server_->revision(), armed);
  for (int i = 0; i < 10; ++i) {
    const auto committed = session->commit_blocking(put_mutation(data_key("Ia"), "1"));
    ASSERT_TRUE(committed && committed->succeeded);
  }
  // An aborted slot is armed again like any other.
  faults_->push(TxnFault::Kind::kOverQuota, [](const Txn& one) { return could_put(one); });
  static_cast<void>(session->commit_blocking(put_mutation(data_key("Ib"), "1")));
  const auto after = session->commit_blocking(put_mutation(data_key("Ic"), "1"));
  EXPECT_TRUE(after && after->succeeded);
  EXPECT_EQ(ended_, 0);
}

TEST_F(SessionTest, SlotsOfAnotherTransactionAreSomebodyElses) {
  auto options = new_mount(1);
  Txn txn;
  txn.success = arm_slots(options.slot_prefix, options.session_id);
  const Revision armed = txn_blocking(*store_, std::move(txn), 1000)->revision;
  options.slots_armed_at = Revision(armed.value() - 1);
  auto session = open(options);
  const auto committed = session->commit_blocking(put_mutation(data_key("Ia"), "1"));
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kEnded);
}

TEST_F(SessionTest, ManyThreadsCountExactly) {
  auto session = open(new_mount(1));
  const auto key = data_key("Icount");
  constexpr int kThreads = 8;
  constexpr int kIncrements = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kIncrements;) {
        const auto value = session->read(key);
        ASSERT_TRUE(value);
        const int number = value->value ? std::stoi(*value->value) : 0;
        const auto committed = session->commit_blocking(replace_mutation(
            key, value->value ? value->mod_revision : Revision(0), std::to_string(number + 1)));
        ASSERT_TRUE(committed);
        if (committed->succeeded) ++i;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(session->read(key)->value, std::to_string(kThreads * kIncrements));
  const auto counters = session->counters();
  EXPECT_GT(counters.stale_operations, 0u) << "who lost a race in the queue need not ask etcd";
}

TEST_F(SessionTest, OpenFailsInTimeWhenEtcdIsAway) {
  const auto options = new_mount(1);
  for (int i = 0; i < 1000; ++i) faults_->push(TxnFault::Kind::kUnavailable);
  const auto session = Session::open(*store_, env::system_clock(), options, nullptr, 50);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kUnavailable);
}

TEST_F(SessionTest, OpenRefusesContradictoryOptions) {
  auto options = new_mount(1);
  options.slot_prefix = data_key("S");
  const auto session = Session::open(*store_, env::system_clock(), options, nullptr, 50);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SessionTest, DestroyedItLetsEverybodyGo) {
  auto session = open(new_mount(1));
  for (int i = 0; i < 100'000; ++i) faults_->push(TxnFault::Kind::kUnavailable);
  std::atomic<int> shut_down{0};
  const auto note = [&](const auto& result) {
    if (!result && result.error().code == ErrorCode::kShutdown) ++shut_down;
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { note(session->read(data_key("Ia"))); });
  threads.emplace_back([&] { note(session->barrier()); });
  session->commit(put_mutation(data_key("Ib"), ""), note);
  const auto both_inside = [&] {
    const auto counters = session->counters();
    return counters.barriers > 0 && counters.cache_loads > 0;
  };
  while (!both_inside()) std::this_thread::yield();
  session.reset();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shut_down, 3);
}

TEST_F(SessionTest, AReplacedMountWritesNothing) {
  const auto options = new_mount(1);
  auto session = open(options);
  Txn replace;
  replace.success.push_back(erase(options.mount_key));
  ASSERT_TRUE(txn_blocking(*store_, replace, 1000));
  const auto refused = session->commit_blocking(put_mutation(data_key("Ia"), "1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kEnded);
  EXPECT_EQ(session->read(data_key("Ia")).error().code, ErrorCode::kEnded);
  EXPECT_EQ(session->barrier().error().code, ErrorCode::kEnded);
  EXPECT_EQ(ended_, 1);
  for (const auto& kv : server_->dump()) EXPECT_NE(kv.key, data_key("Ia"));
}

}  // namespace
}  // namespace symnas::kv
