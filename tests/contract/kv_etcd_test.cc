// What only a real etcd can show: members that die, hang, lose their leader or run out of quota,
// and which clients may connect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

#include "common/kv/etcd/etcd_store.h"
#include "common/kv/limits.h"
#include "tests/contract/etcd_cluster.h"
#include "tests/contract/kv_contract.h"

namespace symnas::kv::testing {
namespace {

using Clock = std::chrono::steady_clock;
using Security = EtcdClusterOptions::Security;

std::int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

class KvEtcd : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdCluster::missing().empty()) GTEST_SKIP() << EtcdCluster::missing();
  }
  void start(EtcdClusterOptions options) {
    cluster = std::make_unique<EtcdCluster>(std::move(options));
    store = open(cluster->client_options());
    ASSERT_TRUE(EtcdCluster::wait_until_serving(*store, kPatienceMs));
  }
  static std::unique_ptr<EtcdStore> open(const EtcdOptions& options) {
    auto opened = EtcdStore::open(options);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  // A store that is connected to `member`. A new store uses the member to which it is connected
  // first, which need not be its first endpoint: so it is opened again until that is the wanted
  // one.
  std::unique_ptr<EtcdStore> open_at(int member) {
    EtcdOptions options = cluster->client_options();
    std::rotate(options.endpoints.begin(), options.endpoints.begin() + member,
                options.endpoints.end());
    const auto start_time = Clock::now();
    for (;;) {
      auto out = open(options);
      EXPECT_TRUE(EtcdCluster::wait_until_serving(*out, kPatienceMs));
      if (out->status({.timeout_ms = 1000}).at(0).current) return out;
      if (ms_since(start_time) > kPatienceMs) {
        ADD_FAILURE() << "never connected to member " << member << " first";
        return out;
      }
    }
  }
  static Result<TxnResult> try_once(Store& store, Txn txn, std::int64_t timeout_ms = 300) {
    auto promise = std::make_shared<std::promise<Result<TxnResult>>>();
    store.txn(std::move(txn), {.timeout_ms = timeout_ms},
              [promise](Result<TxnResult> r) { promise->set_value(std::move(r)); });
    return promise->get_future().get();
  }
  // The leader's index; waits until an election has ended.
  int leader() {
    const auto start_time = Clock::now();
    while (ms_since(start_time) < kPatienceMs) {
      if (const int index = EtcdCluster::leader(*store); index >= 0) return index;
    }
    ADD_FAILURE() << "no leader";
    return 0;
  }

  std::unique_ptr<EtcdCluster> cluster;
  std::unique_ptr<EtcdStore> store;
};

// Counts "n" up by one transaction per step. Each is sent again unchanged until its outcome is
// known: the compare makes that safe, as the session's slots do.
struct Counter {
  Store& store;
  int n = 0;
  std::int64_t longest_ms = 0;
  int unknown = 0;

  void step() {
    Txn txn;
    txn.compares.push_back(n == 0 ? key_absent("n") : value_is("n", std::to_string(n)));
    txn.success = {put("n", std::to_string(n + 1))};
    txn.failure = {get("n")};
    const auto start = Clock::now();
    for (;;) {
      auto promise = std::make_shared<std::promise<Result<TxnResult>>>();
      store.txn(txn, {.timeout_ms = kTryTimeoutMs},
                [promise](Result<TxnResult> r) { promise->set_value(std::move(r)); });
      auto result = promise->get_future().get();
      if (result) {
        if (!result->succeeded) {
          ASSERT_EQ(result->results.at(0).kvs.at(0).value, std::to_string(n + 1))
              << "a failed compare means that an earlier try was executed";
        }
        break;
      }
      ASSERT_LT(ms_since(start), kPatienceMs) << result.error().message;
      if (result.error().code == ErrorCode::kUnknownOutcome) ++unknown;
    }
    longest_ms = std::max(longest_ms, ms_since(start));
    ++n;
  }
};

TEST_F(KvEtcd, leader_killed_under_load) {
  start({.members = 3, .security = Security::kTls});
  const int victim = leader();
  auto at_leader = open_at(victim);
  Counter counter{*at_leader};
  for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(counter.step());
  std::thread killer([&] { cluster->kill(victim); });
  for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(counter.step());
  killer.join();
  auto kv = range_blocking(*at_leader, single_key("n"), 0, kPatienceMs);
  ASSERT_TRUE(kv);
  EXPECT_EQ(kv->kvs.at(0).version, counter.n) << "each step exactly once";
  std::cout << "longest step " << counter.longest_ms << " ms, unknown outcomes " << counter.unknown
            << "\n";
  // One election (up to 2 x 1000 ms) and two tries.
  EXPECT_LT(counter.longest_ms, 5000);
}

TEST_F(KvEtcd, watch_ends_with_its_member_and_resumes_without_loss) {
  start({.members = 3});
  const int victim = leader();
  auto watching = open_at(victim);
  Recorder first;
  const auto watch = watching->watch(prefix_range("w/"), Revision(0), &first);
  first.wait_created();
  ASSERT_TRUE(txn_blocking(*store, ops({put("w/1", "")}), kPatienceMs));
  first.wait_key("w/1");
  cluster->kill(victim);
  EXPECT_EQ(first.wait_ended(), ErrorCode::kUnavailable);
  Txn missed = ops({put("w/2", "")});
  missed.compares.push_back(key_absent("w/2"));
  const auto start_time = Clock::now();
  while (!try_once(*watching, missed) && ms_since(start_time) < kPatienceMs) {
  }
  Recorder second;
  const auto resumed = watching->watch(
      prefix_range("w/"), Revision(first.calls().back().revision.value() + 1), &second);
  second.wait_key("w/2");
  EXPECT_EQ(second.seen().size(), 1U);
}

TEST_F(KvEtcd, a_hung_member_costs_one_try) {
  start({.members = 3});
  const int victim = (leader() + 1) % 3;
  auto at_victim = open_at(victim);
  Recorder recorder;
  const auto watch = at_victim->watch(prefix_range("w/"), Revision(0), &recorder);
  recorder.wait_created();
  cluster->pause(victim);
  const auto start_time = Clock::now();
  EXPECT_EQ(try_once(*at_victim, ops({put("a", "")})).error().code, ErrorCode::kUnknownOutcome);
  auto next = try_once(*at_victim, ops({put("a", "")}), 2000);
  EXPECT_TRUE(next) << next.error().message;
  EXPECT_LT(ms_since(start_time), 1500) << "the second try went to another member";
  auto read = range_blocking(*at_victim, single_key("a"), 0, 1000);
  EXPECT_TRUE(read);
  // Keepalive: 2 s + 1 s.
  EXPECT_EQ(recorder.wait_ended(), ErrorCode::kUnavailable);
  EXPECT_LT(ms_since(start_time), 6000);
  cluster->resume(victim);
}

TEST_F(KvEtcd, a_member_that_is_left_holds_nobody_up) {
  start({.members = 3});
  const int victim = (leader() + 1) % 3;
  auto at_victim = open_at(victim);
  Recorder recorder;
  const auto watch = at_victim->watch(prefix_range("w/"), Revision(0), &recorder);
  recorder.wait_created();
  cluster->pause(victim);
  const auto tried = [&](Txn txn) {
    auto promise = std::make_shared<std::promise<Result<TxnResult>>>();
    at_victim->txn(std::move(txn), {.timeout_ms = 10 * kPatienceMs},
                   [promise](Result<TxnResult> r) { promise->set_value(std::move(r)); });
    return promise->get_future();
  };
  auto write = tried(ops({put("a", "")}));
  at_victim->leave("192.0.2.1");  // no member has this address
  EXPECT_EQ(write.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout);
  at_victim->leave(cluster->host(victim));
  EXPECT_EQ(write.get().error().code, ErrorCode::kUnknownOutcome);
  EXPECT_EQ(recorder.wait_ended(), ErrorCode::kUnavailable);
  EXPECT_TRUE(try_once(*at_victim, ops({put("a", "")})));
  cluster->resume(victim);
}

// The connection looks well until its keepalive fails.
TEST_F(KvEtcd, a_member_that_was_left_is_not_chosen_again) {
  start({.members = 3});
  const int victim = (leader() + 1) % 3;
  const int current = (victim + 2) % 3;  // the victim would be next
  auto at_current = open_at(current);
  cluster->pause(victim);
  at_current->leave(cluster->host(victim));
  at_current->leave(cluster->host(current));
  const auto write = try_once(*at_current, ops({put("a", "")}));
  EXPECT_TRUE(write) << write.error().message;
  cluster->resume(victim);
}

TEST_F(KvEtcd, a_new_store_settles_at_its_first_endpoint) {
  start({.members = 3});
  for (int i = 0; i < 20; ++i) {
    EtcdOptions options = cluster->client_options();
    std::rotate(options.endpoints.begin(), options.endpoints.begin() + i % 3,
                options.endpoints.end());
    auto opened = open(options);
    ASSERT_TRUE(EtcdCluster::wait_until_serving(*opened, kPatienceMs));
    EXPECT_TRUE(opened->status({.timeout_ms = 1000}).at(0).current) << i;
  }
}

TEST_F(KvEtcd, a_read_is_sent_again_by_the_store) {
  start({.members = 3});
  const int victim = (leader() + 1) % 3;
  auto at_victim = open_at(victim);
  cluster->pause(victim);
  auto result = try_once(*at_victim, ops({get("a")}), 2000);
  EXPECT_TRUE(result) << result.error().message;
  cluster->resume(victim);
}

TEST_F(KvEtcd, majority_lost_and_back) {
  start({.members = 3});
  auto survivor = open_at(0);
  Recorder recorder;
  const auto watch = survivor->watch(prefix_range("w/"), Revision(0), &recorder);
  recorder.wait_created();
  cluster->kill(1);
  cluster->kill(2);
  // Unknown outcomes at first. Once the survivor knows that it has no leader, it refuses before
  // executing.
  std::vector<std::string> refused;
  const auto begin = Clock::now();
  for (int i = 0; refused.size() < 3 && ms_since(begin) < kPatienceMs; ++i) {
    const std::string key = "n" + std::to_string(i);
    const Result<TxnResult> write = try_once(*survivor, ops({put(key, "")}));
    ASSERT_FALSE(write) << "no majority, no success";
    if (write.error().code == ErrorCode::kUnavailable) {
      refused.push_back(key);
    } else {
      EXPECT_EQ(write.error().code, ErrorCode::kUnknownOutcome) << write.error().message;
    }
  }
  EXPECT_EQ(refused.size(), 3U);
  EXPECT_EQ(try_once(*survivor, ops({get("a")})).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(recorder.wait_ended(), ErrorCode::kUnavailable)
      << "the watch demands a leader: a silent minority member would be trusted for ever";
  cluster->restart(1);
  for (const std::string& key : refused) {
    auto read = range_blocking(*survivor, single_key(key), 0, kPatienceMs);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->count, 0) << "kUnavailable means certainly not executed";
  }
}

TEST_F(KvEtcd, nobody_there_is_certainly_not_executed) {
  start({});
  cluster->kill(0);
  const auto begin = Clock::now();
  ErrorCode code{};
  // The store may not have noticed yet: then the outcome of the first try is unknown.
  while ((code = try_once(*store, ops({put("a", "")})).error().code) != ErrorCode::kUnavailable &&
         ms_since(begin) < kPatienceMs) {
  }
  const auto certain = Clock::now();
  EXPECT_EQ(try_once(*store, ops({put("a", "")})).error().code, ErrorCode::kUnavailable);
  EXPECT_GE(ms_since(certain), 200) << "a try waits for a member to come back";
  Recorder recorder;
  const auto watch = store->watch(prefix_range("w/"), Revision(0), &recorder);
  EXPECT_EQ(recorder.wait_ended(), ErrorCode::kUnavailable);
  EXPECT_FALSE(store->status({.timeout_ms = 300}).at(0).reachable);
  cluster->restart(0);
  auto back = txn_blocking(*store, ops({put("b", "")}), kPatienceMs);
  EXPECT_TRUE(back) << back.error().message;
}

TEST_F(KvEtcd, only_the_clusters_own_certificates) {
  start({.security = Security::kTls});
  EtcdOptions stranger = cluster->client_options();
  stranger.cert_file = cluster->file("stranger.crt");
  stranger.key_file = cluster->file("stranger.key");
  EtcdOptions nobody = cluster->client_options();
  nobody.cert_file.clear();
  nobody.key_file.clear();
  EtcdOptions deceived = cluster->client_options();
  deceived.ca_file = cluster->file("stranger_ca.crt");
  for (const EtcdOptions& options : {stranger, nobody, deceived}) {
    auto refused = open(options);
    Recorder recorder;
    const auto watch = refused->watch(prefix_range("w/"), Revision(0), &recorder);
    auto result = try_once(*refused, ops({put("a", "")}), 1000);
    ASSERT_FALSE(result);
    EXPECT_EQ(recorder.wait_ended(), ErrorCode::kUnavailable);
  }
  EXPECT_TRUE(txn_blocking(*store, ops({put("a", "")}), kPatienceMs));
}

TEST_F(KvEtcd, quota_full) {
  start({.arguments = {"--quota-backend-bytes=2000000"}});
  const std::string value(100'000, 'x');
  Result<TxnResult> result;
  int puts = 0;  // etcd learns its size when it commits its back end, every 100 ms
  do {
    result = txn_blocking(*store, ops({put("k" + std::to_string(puts), value)}), kPatienceMs);
    ++puts;
  } while (result && puts < 5000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(store->status({.timeout_ms = 2000}).at(0).no_space_alarm);
  EXPECT_EQ(try_once(*store, ops({put("small", "")}), 2000).error().code, ErrorCode::kNoSpace);
  Txn other_branch;
  other_branch.failure = {put("small", "")};
  EXPECT_EQ(try_once(*store, other_branch, 2000).error().code, ErrorCode::kNoSpace)
      << "a put in the branch not taken counts";
  Txn both = ops({put("slot", ""), nested(ops({put("small", "")}))});
  EXPECT_EQ(try_once(*store, both, 2000).error().code, ErrorCode::kNoSpace);
  // etcd counts the outer list only: a transaction is held to the quota only if that list has a
  // put. A session's transactions have one.
  EXPECT_TRUE(try_once(*store, ops({nested(ops({put("small", "")}))}), 2000));
  auto erased = try_once(*store, ops({erase("k0")}), 2000);
  ASSERT_TRUE(erased) << erased.error().message;
  EXPECT_EQ(erased->results.at(0).count, 1);
  EXPECT_TRUE(try_once(*store, ops({get("k1")}), 2000));
}

TEST_F(KvEtcd, closing_answers_everything) {
  start({});
  Recorder recorder;
  auto watch = store->watch(prefix_range("w/"), Revision(0), &recorder);
  recorder.wait_created();
  cluster->pause(0);
  constexpr int kPending = 50;
  std::mutex mutex;
  std::vector<ErrorCode> codes;
  for (int i = 0; i < kPending; ++i) {
    store->txn(ops({put("a" + std::to_string(i), "")}), {.timeout_ms = kPatienceMs},
               [&](const Result<TxnResult>& result) {
                 const std::scoped_lock lock(mutex);
                 codes.push_back(result ? ErrorCode::kInternal : result.error().code);
               });
  }
  const auto begin = Clock::now();
  store.reset();
  EXPECT_LT(ms_since(begin), 2000);
  EXPECT_EQ(codes, std::vector<ErrorCode>(kPending, ErrorCode::kShutdown));
  EXPECT_EQ(recorder.wait_ended(), ErrorCode::kShutdown);
  watch.reset();  // destroyed after its store
  cluster->resume(0);
}

TEST_F(KvEtcd, an_idle_watch_lives_through_keepalives) {
  start({});
  Recorder recorder;
  const auto watch = store->watch(prefix_range("w/"), Revision(0), &recorder);
  recorder.wait_created();
  // With etcd's default --grpc-keepalive-min-time the third ping, after 6 s, ends the connection.
  EXPECT_FALSE(recorder.ends_within(7500));
  ASSERT_TRUE(txn_blocking(*store, ops({put("w/1", "")}), kPatienceMs));
  recorder.wait_key("w/1");
}

}  // namespace
}  // namespace symnas::kv::testing
