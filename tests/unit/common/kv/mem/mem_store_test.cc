#include "common/kv/mem/mem_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace symnas::kv {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Recorder final : public WatchHandler {
 public:
  void on_watch_created(Revision revision) override { created = revision; }
  void on_watch_events(std::vector<WatchEvent> events, Revision revision) override {
    calls.push_back(revision.value());
    for (const WatchEvent& event : events) {
      seen.push_back((event.deleted ? "-" : "+") + event.kv.key + "@" +
                     std::to_string(event.kv.mod_revision.value()));
    }
  }
  void on_watch_ended(Error error) override { ended = error.code; }

  std::optional<Revision> created;
  std::vector<std::int64_t> calls;
  std::vector<std::string> seen;
  std::optional<ErrorCode> ended;
};

Txn puts(std::vector<std::string> keys) {
  Txn txn;
  for (std::string& key : keys) txn.success.push_back(put(std::move(key), "v"));
  return txn;
}

Txn create(const std::string& key) {
  Txn txn;
  txn.compares.push_back(key_absent(key));
  txn.success.push_back(put(key, "v"));
  return txn;
}

// The answer once it has come; nullopt before.
struct TxnAnswer {
  TxnCallback callback() {
    return [this](Result<TxnResult> r) { result = std::move(r); };
  }
  ErrorCode code() const { return result->error().code; }
  std::optional<Result<TxnResult>> result;
};

class MemStoreFaults : public testing::Test {
 protected:
  TxnAnswer run(Txn txn) {
    TxnAnswer answer;
    store.txn(std::move(txn), {}, answer.callback());
    return answer;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const KeyValue& kv : server->dump()) out.push_back(kv.key);
    return out;
  }

  std::shared_ptr<MemServer> server = std::make_shared<MemServer>();
  std::shared_ptr<ScriptedFaults> faults = std::make_shared<ScriptedFaults>();
  MemStore store{MemStoreOptions{.server = server, .faults = faults}};
};

TEST_F(MemStoreFaults, unavailable_is_not_executed) {
  faults->push(TxnFault::Kind::kUnavailable);
  EXPECT_EQ(run(puts({"a"})).code(), ErrorCode::kUnavailable);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(MemStoreFaults, lost_request_is_never_executed) {
  faults->push(TxnFault::Kind::kRequestLost);
  EXPECT_EQ(run(puts({"a"})).code(), ErrorCode::kUnknownOutcome);
  store.run_late();
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(MemStoreFaults, lost_reply_is_committed) {
  faults->push(TxnFault::Kind::kReplyLost);
  EXPECT_EQ(run(puts({"a"})).code(), ErrorCode::kUnknownOutcome);
  EXPECT_THAT(keys(), ElementsAre("a"));
}

TEST_F(MemStoreFaults, a_read_has_no_unknown_outcome) {
  faults->push(TxnFault::Kind::kReplyLost);
  Txn read;
  read.success.push_back(get("a"));
  EXPECT_EQ(run(read).code(), ErrorCode::kUnavailable);
}

TEST_F(MemStoreFaults, late_commit_waits_for_later_transactions) {
  faults->push(TxnFault{.kind = TxnFault::Kind::kCommitLate, .after_txns = 1});
  EXPECT_EQ(run(puts({"late"})).code(), ErrorCode::kUnknownOutcome);
  run(puts({"first"}));
  EXPECT_THAT(keys(), ElementsAre("first"));
  run(puts({"second"}));
  const auto all = server->dump();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_LT(all[0].mod_revision, all[1].mod_revision) << "first before late";
  EXPECT_LT(all[1].mod_revision, all[2].mod_revision) << "late before second";
}

TEST_F(MemStoreFaults, late_commit_without_delay_precedes_the_resend) {
  faults->push(TxnFault::Kind::kCommitLate);
  run(create("a"));
  const TxnAnswer resend = run(create("a"));
  ASSERT_TRUE(*resend.result);
  EXPECT_FALSE((*resend.result)->succeeded);
}

TEST_F(MemStoreFaults, duplicate_executes_again) {
  faults->push(TxnFault::Kind::kDuplicate);
  EXPECT_TRUE(*run(puts({"a"})).result);
  EXPECT_EQ(server->dump()[0].version, 1);
  store.run_late();
  EXPECT_EQ(server->dump()[0].version, 2);
}

TEST_F(MemStoreFaults, duplicate_fails_its_compare) {
  faults->push(TxnFault::Kind::kDuplicate);
  EXPECT_TRUE((*run(create("a")).result)->succeeded);
  store.run_late();
  EXPECT_EQ(server->dump()[0].version, 1);
}

TEST_F(MemStoreFaults, conflict_takes_the_failure_branch_of_innermost_transactions) {
  Txn outer = create("guard");
  outer.failure.push_back(put("outer failed", ""));
  Txn inner = create("inner");
  inner.failure.push_back(put("inner failed", ""));
  outer.success.push_back(nested(inner));
  outer.success.push_back(nested(puts({"unconditional"})));
  faults->push(TxnFault::Kind::kConflict);
  run(outer);
  EXPECT_THAT(keys(), ElementsAre("guard", "inner failed", "unconditional"));
}

TEST_F(MemStoreFaults, conflict_of_a_flat_transaction) {
  faults->push(TxnFault::Kind::kConflict);
  EXPECT_FALSE((*run(create("a")).result)->succeeded);
  EXPECT_TRUE((*run(create("a")).result)->succeeded);
}

TEST_F(MemStoreFaults, scripted_fault_waits_for_its_transaction) {
  faults->push(TxnFault::Kind::kUnavailable,
               [](const Txn& txn) { return txn.success.at(0).range.key == "b"; });
  EXPECT_TRUE(*run(puts({"a"})).result);
  EXPECT_FALSE(*run(puts({"b"})).result);
  EXPECT_TRUE(faults->empty());
}

TEST_F(MemStoreFaults, leader_change_ends_watches_and_spoils_transactions) {
  Recorder recorder;
  const auto watch = store.watch(prefix_range("a"), Revision(0), &recorder);
  faults->push_leader_change(3);
  EXPECT_EQ(run(puts({"a1"})).code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(run(puts({"a2"})).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(run(puts({"a3"})).code(), ErrorCode::kUnknownOutcome);
  EXPECT_TRUE(*run(puts({"a4"})).result);
  EXPECT_THAT(keys(), ElementsAre("a3", "a4"));
  EXPECT_EQ(recorder.ended, ErrorCode::kUnavailable);
  EXPECT_THAT(recorder.seen, IsEmpty());
}

TEST_F(MemStoreFaults, quota_refuses_what_could_put) {
  run(puts({"a", "b"}));
  server->set_quota(MemServer::Quota::kFull);
  EXPECT_TRUE(store.status({}).at(0).no_space_alarm);
  EXPECT_EQ(run(puts({"c"})).code(), ErrorCode::kNoSpace);
  Txn other_branch;
  other_branch.failure.push_back(put("c", ""));
  EXPECT_EQ(run(other_branch).code(), ErrorCode::kNoSpace) << "puts in the branch not taken count";
  Txn erases;
  erases.success.push_back(erase("a"));
  EXPECT_TRUE(*run(erases).result);
  server->set_quota(MemServer::Quota::kFree);
  EXPECT_TRUE(*run(puts({"c"})).result);
  EXPECT_THAT(keys(), ElementsAre("b", "c"));
}

TEST_F(MemStoreFaults, compaction_before_a_transaction) {
  run(puts({"a"}));
  faults->push(TxnFault::Kind::kCompactBefore);
  run(puts({"b"}));
  EXPECT_EQ(server->compacted_revision(), Revision(2));
  EXPECT_EQ(server->revision(), Revision(3));
}

TEST_F(MemStoreFaults, dropped_watch_events) {
  Recorder recorder;
  const auto watch = store.watch(prefix_range(""), Revision(0), &recorder);
  faults->push_watch(WatchFault::Kind::kDropEvent);
  run(puts({"a", "b"}));
  faults->push_watch(WatchFault::Kind::kDropRevision);
  run(puts({"c"}));
  run(puts({"d"}));
  EXPECT_THAT(recorder.seen, ElementsAre("+b@2", "+d@4"));
}

TEST_F(MemStoreFaults, ended_watch_delivers_nothing_more) {
  Recorder recorder;
  const auto watch = store.watch(prefix_range(""), Revision(0), &recorder);
  faults->push_watch(WatchFault::Kind::kEndCompacted);
  run(puts({"a"}));
  run(puts({"b"}));
  EXPECT_EQ(recorder.ended, ErrorCode::kCompacted);
  EXPECT_THAT(recorder.seen, IsEmpty());
}

TEST(MemStore, a_callback_may_submit_without_recursion) {
  MemStore store;
  int done = 0;
  std::function<void(int)> chain = [&](int left) {
    store.txn(puts({"a"}), {}, [&, left](Result<TxnResult>) {
      ++done;
      if (left > 1) chain(left - 1);
    });
  };
  chain(20'000);
  EXPECT_EQ(done, 20'000);
}

TEST(MemStore, stores_share_a_server) {
  auto server = std::make_shared<MemServer>();
  MemStore one(MemStoreOptions{.server = server});
  MemStore two(MemStoreOptions{.server = server});
  Recorder recorder;
  const auto watch = two.watch(single_key("a"), Revision(0), &recorder);
  ASSERT_TRUE(txn_blocking(one, puts({"a", "b"}), 100));
  EXPECT_THAT(recorder.seen, ElementsAre("+a@2"));
}

TEST(MemStore, watch_from_a_future_revision_skips_what_comes_before) {
  MemStore store;
  Recorder recorder;
  const auto watch = store.watch(prefix_range(""), Revision(3), &recorder);
  ASSERT_TRUE(txn_blocking(store, puts({"a"}), 100));
  ASSERT_TRUE(txn_blocking(store, puts({"b"}), 100));
  EXPECT_EQ(recorder.created, Revision(2));
  EXPECT_THAT(recorder.seen, ElementsAre("+b@3"));
}

TEST(MemStore, closing_ends_watches) {
  Recorder recorder;
  auto store = std::make_unique<MemStore>();
  const auto watch = store->watch(prefix_range(""), Revision(0), &recorder);
  store.reset();
  EXPECT_EQ(recorder.ended, ErrorCode::kShutdown);
}

TEST(MemStore, own_thread_delivers_answers_and_events) {
  auto server = std::make_shared<MemServer>();
  MemStore store(
      MemStoreOptions{.server = server, .scheduler = std::make_shared<ThreadScheduler>()});
  const auto caller = std::this_thread::get_id();
  std::mutex mutex;
  std::condition_variable wake;
  std::optional<std::thread::id> answered_on;
  store.txn(puts({"a"}), {}, [&](const Result<TxnResult>&) {
    const std::scoped_lock lock(mutex);
    answered_on = std::this_thread::get_id();
    wake.notify_all();
  });
  std::unique_lock lock(mutex);
  wake.wait(lock, [&] { return answered_on.has_value(); });
  EXPECT_NE(*answered_on, caller);
}

// --- simulated time

class MemStoreTimed : public testing::Test {
 protected:
  std::shared_ptr<SeededScheduler> scheduler = std::make_shared<SeededScheduler>(7);
  std::shared_ptr<ScriptedFaults> faults = std::make_shared<ScriptedFaults>();
  std::shared_ptr<MemServer> server = std::make_shared<MemServer>();
  std::unique_ptr<MemStore> store = std::make_unique<MemStore>(
      MemStoreOptions{.server = server, .scheduler = scheduler, .faults = faults});
  static constexpr std::int64_t kMs = 1'000'000;
};

TEST_F(MemStoreTimed, answers_after_two_latencies) {
  TxnAnswer answer;
  store->txn(puts({"a"}), {}, answer.callback());
  EXPECT_FALSE(answer.result);
  scheduler->run_for(3 * kMs);
  EXPECT_FALSE(answer.result);
  EXPECT_EQ(server->revision(), Revision(2));
  scheduler->run_for(1 * kMs);
  ASSERT_TRUE(answer.result);
  EXPECT_TRUE(*answer.result);
}

TEST_F(MemStoreTimed, late_commit_follows_the_reported_timeout) {
  faults->push(TxnFault{.kind = TxnFault::Kind::kCommitLate, .delay_ns = 50 * kMs});
  TxnAnswer answer;
  store->txn(puts({"a"}), {.timeout_ms = 300}, answer.callback());
  scheduler->run_for(301 * kMs);
  EXPECT_EQ(answer.code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(server->revision(), Revision(1));
  scheduler->run_for(60 * kMs);
  EXPECT_EQ(server->revision(), Revision(2));
}

TEST_F(MemStoreTimed, a_long_delay_is_an_unknown_outcome) {
  faults->push(TxnFault{.kind = TxnFault::Kind::kDelay, .delay_ns = 400 * kMs});
  TxnAnswer answer;
  store->txn(puts({"a"}), {.timeout_ms = 300}, answer.callback());
  scheduler->run_for(300 * kMs);
  EXPECT_EQ(answer.code(), ErrorCode::kUnknownOutcome);
  scheduler->run_for(200 * kMs);
  EXPECT_EQ(server->revision(), Revision(2));
}

TEST_F(MemStoreTimed, a_request_in_flight_outlives_its_store) {
  TxnAnswer answer;
  store->txn(puts({"a"}), {}, answer.callback());
  store.reset();
  EXPECT_EQ(answer.code(), ErrorCode::kShutdown);
  scheduler->run(100);
  EXPECT_EQ(server->revision(), Revision(2)) << "the message was on its way";
}

TEST_F(MemStoreTimed, delayed_watch_keeps_its_order) {
  Recorder recorder;
  const auto watch = store->watch(prefix_range(""), Revision(0), &recorder);
  faults->push_watch(WatchFault::Kind::kDelay);
  for (const char* key : {"a", "b", "c"}) {
    store->txn(puts({key}), {}, [](const Result<TxnResult>&) {});
    scheduler->run_for(1 * kMs);
  }
  scheduler->run(1000);
  EXPECT_THAT(recorder.seen, ElementsAre("+a@2", "+b@3", "+c@4"));
}

TEST(SeededScheduler, one_seed_one_order) {
  const auto order_of = [](std::uint64_t seed) {
    SeededScheduler scheduler(seed);
    std::vector<int> order;
    for (int i = 0; i < 20; ++i) scheduler.schedule(5, [&order, i] { order.push_back(i); });
    scheduler.run(100);
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

}  // namespace
}  // namespace symnas::kv
