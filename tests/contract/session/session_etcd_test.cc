// The session on real etcd members: killed leaders, stopped members, a full quota, compaction.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/session.h"
#include "tests/contract/etcd_cluster.h"

namespace symnas::kv::testing {
namespace {

constexpr FsId kFs{7};
constexpr std::int64_t kDeadlineMs = 20'000;

std::string data_key(const std::string& name) { return keys::filesystem(kFs) + "w" + name; }

class SessionOnEtcd : public ::testing::Test {
 protected:
  void start(EtcdClusterOptions options) {
    cluster_ = std::make_unique<EtcdCluster>(std::move(options));
    auto store = EtcdStore::open(cluster_->client_options());
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
    const auto serving = EtcdCluster::wait_until_serving(*store_, kDeadlineMs);
    ASSERT_TRUE(serving) << serving.error().message;
  }
  void SetUp() override {
    if (const auto why = EtcdCluster::missing(); !why.empty()) GTEST_SKIP() << why;
  }

  SessionOptions new_mount(std::uint64_t id) {
    SessionOptions options;
    append_be64(options.session_id, id);
    options.slot_prefix = keys::slot_prefix(kFs);
    options.watched = keys::watched(kFs);
    options.stamp_key = keys::stamp(kFs);
    options.mount_key = keys::mount(kFs, MountId(id));
    options.ended_key = keys::mount_ended(kFs, MountId(id));
    options.mount_create_revision = write({put(options.mount_key, "mount")});
    return options;
  }
  // Writes as the session of another mount would: with the stamp.
  Revision write(std::vector<Op> ops) {
    Txn txn;
    txn.success.push_back(put(keys::stamp(kFs), std::string(8, '\0')));
    for (auto& op : ops) txn.success.push_back(std::move(op));
    const auto result = txn_blocking(*store_, std::move(txn), kDeadlineMs);
    EXPECT_TRUE(result) << result.error().message;
    return result ? result->revision : Revision(0);
  }
  std::unique_ptr<Session> open(const SessionOptions& options) {
    auto session = Session::open(
        *store_, env::system_clock(), options, [this](Error) { ++ended_; }, kDeadlineMs);
    EXPECT_TRUE(session) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }

  static Mutation put_mutation(const std::string& key, const std::string& value) {
    Mutation mutation;
    mutation.writes.push_back(put(key, value));
    return mutation;
  }
  // Reads and does a guarded put, until it has succeeded once.
  static bool increment(Session& session, const std::string& key) {
    for (;;) {
      const auto value = session.read(key);
      if (!value) return false;
      const int number = value->value ? std::stoi(*value->value) : 0;
      Mutation mutation = put_mutation(key, std::to_string(number + 1));
      mutation.compares.push_back(
          mod_revision_is(key, value->value ? value->mod_revision : Revision(0)));
      const auto committed = session.commit_blocking(std::move(mutation));
      if (!committed) return false;
      if (committed->succeeded) return true;
    }
  }

  // Runs threads that increment until they are told to stop; returns what was acknowledged, per
  // key.
  template <class Disturb>
  std::vector<int> count_while(Session& session, Disturb disturb) {
    constexpr int kThreads = 8;
    constexpr int kKeys = 3;
    std::atomic<bool> stop{false};
    std::vector<std::atomic<int>> acknowledged(kKeys);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const int key = t % kKeys;
        while (!stop) {
          if (!increment(session, data_key("I" + std::to_string(key)))) {
            ADD_FAILURE() << "an operation failed";
            return;
          }
          ++acknowledged[static_cast<std::size_t>(key)];
        }
      });
    }
    disturb();
    stop = true;
    for (auto& thread : threads) thread.join();
    std::vector<int> counts;
    for (const auto& count : acknowledged) counts.push_back(count);
    return counts;
  }
  void expect_counts(Session& session, const std::vector<int>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto stored = session.range(single_key(data_key("I" + std::to_string(i))), 1);
      ASSERT_TRUE(stored);
      ASSERT_EQ(stored->kvs.size(), 1u);
      EXPECT_EQ(stored->kvs.front().value, std::to_string(counts[i]));
      EXPECT_EQ(stored->kvs.front().version, counts[i]) << "executed more than once";
    }
  }
  static void wait_ms(std::int64_t ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }

  std::unique_ptr<EtcdCluster> cluster_;
  std::unique_ptr<EtcdStore> store_;
  std::atomic<int> ended_{0};
};

TEST_F(SessionOnEtcd, CommitsReadsAndFollows) {
  start({});
  auto session = open(new_mount(1));
  ASSERT_TRUE(session);
  const auto key = data_key("Ia");
  const auto committed = session->commit_blocking(put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_EQ(session->peek(key)->value, "1");
  const auto theirs = write({put(key, "2")});
  ASSERT_TRUE(session->barrier());
  EXPECT_EQ(session->read(key)->value, "2");
  // A barrier may give up on a late watch and drop the cache; the watch itself still arrives.
  for (int i = 0; i < 500 && session->applied() < theirs; ++i) wait_ms(10);
  EXPECT_GE(session->applied(), theirs);
  Mutation clear;
  clear.writes.push_back(erase_range(prefix_range(data_key("I"))));
  ASSERT_TRUE(session->commit_blocking(clear));
  EXPECT_FALSE(session->read(key)->value);
}

TEST_F(SessionOnEtcd, ConcurrentOperationsShareBatches) {
  start({});
  auto session = open(new_mount(1));
  ASSERT_TRUE(session);
  constexpr int kOperations = 2000;
  std::atomic<int> done{0};
  for (int i = 0; i < kOperations; ++i) {
    Mutation create = put_mutation(data_key("D" + std::to_string(i)), "dirent");
    create.compares.push_back(key_absent(data_key("D" + std::to_string(i))));
    create.merged_puts.push_back(put(data_key("Tdir"), std::to_string(i)));
    session->commit(create, [&done](Result<Committed> committed) {
      EXPECT_TRUE(committed && committed->succeeded);
      if (++done == kOperations) done.notify_all();
    });
  }
  for (int now = done; now < kOperations; now = done) done.wait(now);
  const auto counters = session->counters();
  EXPECT_LT(counters.batches, kOperations / 8);
  const auto stored = session->range(prefix_range(data_key("D")), 0);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->kvs.size(), static_cast<std::size_t>(kOperations));
}

TEST_F(SessionOnEtcd, LeaderKilledAndCompactionUnderLoad) {
  start({.members = 3});
  auto session = open(new_mount(1));
  ASSERT_TRUE(session);
  const auto counts = count_while(*session, [&] {
    for (int round = 0; round < 2; ++round) {
      wait_ms(300);
      const int leader = EtcdCluster::leader(*store_);
      ASSERT_GE(leader, 0);
      cluster_->kill(leader);
      wait_ms(2500);
      static_cast<void>(store_->compact(session->applied(), TryOptions{.timeout_ms = 1000}));
      cluster_->restart(leader);
      wait_ms(1500);
    }
  });
  expect_counts(*session, counts);
  EXPECT_EQ(ended_, 0);
}

TEST_F(SessionOnEtcd, EtcdStoppedMakesMetadataWait) {
  start({});
  auto session = open(new_mount(1));
  ASSERT_TRUE(session);
  const auto counts = count_while(*session, [&] {
    wait_ms(200);
    cluster_->pause(0);
    wait_ms(3000);
    cluster_->resume(0);
    wait_ms(1000);
  });
  expect_counts(*session, counts);
  const auto counters = session->counters();
  EXPECT_GT(counters.unknown_outcomes, 0u) << "the test has stopped nothing";
}

TEST_F(SessionOnEtcd, FullQuotaNeverLies) {
  start({.members = 1, .arguments = {"--quota-backend-bytes", "4000000"}});
  auto session = open(new_mount(1));
  ASSERT_TRUE(session);
  std::set<std::string> present;
  std::set<std::string> refused;
  // etcd learns its size only as often as it commits to disk (100 ms): a fast machine gets further.
  for (int i = 0; i < 2000 && refused.size() < 6; ++i) {
    const auto key = data_key("Q" + std::to_string(i));
    const auto committed = session->commit_blocking(put_mutation(key, std::string(100'000, 'x')));
    if (committed) {
      present.insert(key);
    } else {
      ASSERT_EQ(committed.error().code, ErrorCode::kNoSpace) << committed.error().message;
      refused.insert(key);
    }
  }
  EXPECT_EQ(refused.size(), 6u);
  for (const auto& key : present) EXPECT_EQ(session->range(single_key(key), 0)->kvs.size(), 1u);
  for (const auto& key : refused) EXPECT_TRUE(session->range(single_key(key), 0)->kvs.empty());
  EXPECT_EQ(ended_, 0);
}

TEST_F(SessionOnEtcd, AnEndedMountWritesNothing) {
  start({});
  const auto options = new_mount(1);
  auto session = open(options);
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->commit_blocking(put_mutation(data_key("Ia"), "1")));
  const auto ended_at = write({put(options.ended_key, "proof")});
  const auto refused = session->commit_blocking(put_mutation(data_key("Ia"), "2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kEnded);
  EXPECT_EQ(ended_, 1);
  const auto stored = range_blocking(*store_, single_key(data_key("Ia")), 1, kDeadlineMs);
  ASSERT_TRUE(stored);
  EXPECT_LT(stored->kvs.front().mod_revision, ended_at);
}

}  // namespace
}  // namespace symnas::kv::testing
