// Commits against every fault of the store, in simulated time.
#include "common/kv/committer.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

class CommitterTest : public ::testing::Test {
 protected:
  SessionWorld world_;
};

TEST_F(CommitterTest, CommitsAndCachesItsOwnWrites) {
  auto session = world_.new_session();
  ASSERT_TRUE(session->opened && *session->opened);
  const auto key = data_key("Ia");
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_TRUE(committed->succeeded);
  EXPECT_EQ(world_.stored(key)->mod_revision, committed->revision);
  const auto cached = session->core().reader().peek(key);
  ASSERT_TRUE(cached);
  EXPECT_EQ(cached->value, "1");
  EXPECT_EQ(cached->mod_revision, committed->revision);
}

TEST_F(CommitterTest, OperationsThatArriveWhileBatchesAreUnderWayShareOne) {
  auto session = world_.new_session();
  int done = 0;
  for (int i = 0; i < kBatchesInFlightMax + kBatchOperationsMax; ++i) {
    session->core().committer().commit(put_mutation(data_key("I" + std::to_string(i)), "v"),
                                       [&done](Result<Committed> r) {
                                         ASSERT_TRUE(r && r->succeeded);
                                         ++done;
                                       });
  }
  world_.run_until([&] { return done == kBatchesInFlightMax + kBatchOperationsMax; });
  const auto counters = session->core().snapshot_counters();
  EXPECT_EQ(counters.operations, kBatchesInFlightMax + kBatchOperationsMax);
  EXPECT_EQ(counters.batches, kBatchesInFlightMax + 1);
}

TEST_F(CommitterTest, MergedPutsAreInTheCacheWhenTheOperationIsAnswered) {
  auto session =
      world_.new_session(world_.new_mount(), std::make_shared<SlowWatch>(500 * kNsPerMs));
  Mutation create = put_mutation(data_key("Da"), "dirent");
  create.merged_puts.push_back(put(data_key("Tdir"), "times"));
  const auto created = world_.commit(*session, create);
  ASSERT_TRUE(created && created->succeeded);
  EXPECT_FALSE(created->shared_parent);
  const auto times = session->core().reader().peek(data_key("Tdir"));
  ASSERT_TRUE(times);
  EXPECT_EQ(times->value, "times");
}

TEST_F(CommitterTest, ConflictAnswersNotSucceededWithFreshValuesInTheCache) {
  auto session =
      world_.new_session(world_.new_mount(), std::make_shared<SlowWatch>(500 * kNsPerMs));
  const auto key = data_key("Ia");
  const auto first = world_.commit(*session, put_mutation(key, "1"));
  const auto theirs = world_.outside_stamped({put(key, "2")});
  const auto lost = world_.commit(*session, replace_mutation(key, first->revision, "3"));
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->succeeded);
  const auto cached = session->core().reader().peek(key);
  ASSERT_TRUE(cached);
  EXPECT_EQ(cached->value, "2");
  EXPECT_EQ(cached->mod_revision, theirs.revision);
  EXPECT_EQ(world_.stored(key)->value, "2");
}

TEST_F(CommitterTest, ForcedConflictIsAnswered) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  const auto first = world_.commit(*session, put_mutation(key, "1"));
  world_.faults->push(TxnFault::Kind::kConflict, is_batch);
  const auto lost = world_.commit(*session, replace_mutation(key, first->revision, "2"));
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->succeeded);
  EXPECT_TRUE(session->ended.empty());
}

// The outer compares "fail" although nothing differs: this proves nothing, so the batch is sent
// again.
TEST_F(CommitterTest, AnAnswerThatContradictsItselfIsNoDisproof) {
  auto session = world_.new_session();
  world_.faults->push(TxnFault::Kind::kConflict, is_batch);
  const auto committed = world_.commit(*session, put_mutation(data_key("Ia"), "1"));
  ASSERT_TRUE(committed);
  EXPECT_TRUE(committed->succeeded);
  EXPECT_TRUE(session->ended.empty());
}

TEST_F(CommitterTest, ReplyLostIsResolvedByTheSlot) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault::Kind::kReplyLost, is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed);
  EXPECT_TRUE(committed->succeeded);
  EXPECT_EQ(world_.stored(key)->version, 1) << "executed twice";
  EXPECT_EQ(world_.stored(key)->mod_revision, committed->revision);
  EXPECT_EQ(session->core().reader().peek(key)->value, "1");
  EXPECT_EQ(session->core().snapshot_counters().unknown_outcomes, 1u);
}

TEST_F(CommitterTest, ReplyLostOfAFailedOperationIsToldApartFromItsNeighbours) {
  auto session = world_.new_session();
  const auto mine = data_key("Ia");
  const auto stale = data_key("Ib");
  const auto first = world_.commit(*session, put_mutation(stale, "1"));
  world_.outside_stamped({put(stale, "2")});
  // Hold the slots, so that both operations share the next batch.
  for (int i = 0; i < kBatchesInFlightMax; ++i) {
    session->core().committer().commit(put_mutation(data_key("H" + std::to_string(i)), ""),
                                       [](Result<Committed>) {});
  }
  for (int i = 0; i < kBatchesInFlightMax; ++i) {
    world_.faults->push(TxnFault::Kind::kNone, is_batch);
  }
  world_.faults->push(TxnFault::Kind::kReplyLost, is_batch);
  std::optional<Result<Committed>> good;
  std::optional<Result<Committed>> bad;
  session->core().committer().commit(put_mutation(mine, "1"), [&](auto r) { good = std::move(r); });
  session->core().committer().commit(replace_mutation(stale, first->revision, "3"),
                                     [&](auto r) { bad = std::move(r); });
  world_.run_until([&] { return good && bad; });
  ASSERT_TRUE(good && *good && bad && *bad);
  EXPECT_TRUE((*good)->succeeded);
  EXPECT_FALSE((*bad)->succeeded);
  EXPECT_EQ(world_.stored(stale)->value, "2");
}

// The reply with the fresh values is lost and the watch is late: the retry must not use the old
// value.
TEST_F(CommitterTest, AConflictLearntFromTheSlotMakesTheComparedKeysUnknown) {
  auto plan = std::make_shared<SlowWatch>(500 * kNsPerMs);
  const auto below = world_.new_store(plan);
  HoldingStore store(*below);
  auto session = world_.new_session(world_.new_mount(), nullptr, &store);
  const auto key = data_key("Ia");
  const auto first = world_.commit(*session, put_mutation(key, "1"));
  world_.outside_stamped({put(key, "2")});
  store.hold(is_batch);
  std::optional<Result<Committed>> lost;
  session->core().committer().commit(replace_mutation(key, first->revision, "3"),
                                     [&](auto r) { lost = std::move(r); });
  world_.run_until([&] { return store.held() == 1; });
  store.drop();
  ASSERT_TRUE(world_.run_until([&] { return lost.has_value(); }));
  ASSERT_TRUE(*lost);
  EXPECT_FALSE((*lost)->succeeded);
  EXPECT_FALSE(session->core().reader().peek(key));
  EXPECT_EQ(world_.read(*session, key)->value, "2");
}

TEST_F(CommitterTest, CommitAfterTheReportedTimeoutHappensOnce) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kCommitLate, .delay_ns = 400 * kNsPerMs},
                      is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  world_.run_ms(2000);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(CommitterTest, RequestLostIsSentAgain) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault::Kind::kRequestLost, is_batch);
  world_.faults->push(TxnFault::Kind::kRequestLost, is_batch);
  world_.faults->push(TxnFault::Kind::kUnavailable, is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(CommitterTest, DuplicateFailsItsSlotCompare) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kDuplicate, .delay_ns = 50 * kNsPerMs},
                      is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  world_.run_ms(200);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(CommitterTest, DelayBeyondTheTimeoutIsResolved) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kDelay, .delay_ns = 1000 * kNsPerMs},
                      is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  world_.run_ms(3000);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(CommitterTest, EtcdAwayForSixSecondsMakesMetadataWaitAndNothingFails) {
  auto session = world_.new_session();
  for (int i = 0; i < 60; ++i) world_.faults->push(TxnFault::Kind::kUnavailable);
  const auto key = data_key("Ia");
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(CommitterTest, LeaderChangeKeepsTheCacheAndLosesNothing) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  ASSERT_TRUE(world_.commit(*session, put_mutation(key, "1")));
  world_.run_ms(100);
  world_.faults->push_leader_change(9);
  const auto committed = world_.commit(*session, put_mutation(data_key("Ib"), "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_EQ(world_.stored(data_key("Ib"))->version, 1);
  const auto theirs = world_.outside_stamped({put(key, "2")});
  world_.run_ms(500);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 0u) << "nothing was lost";
  EXPECT_EQ(session->core().watch_keeper().applied(), theirs.revision);
  EXPECT_EQ(session->core().reader().peek(key)->value, "2");
}

// --- quota

TEST_F(CommitterTest, QuotaFullAnswersNoSpaceAndWritesNothing) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.server->set_quota(MemServer::Quota::kFull);
  for (int i = 0; i < 2 * kSessionSlots; ++i) {
    const auto refused = world_.commit(*session, put_mutation(key, "1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  }
  EXPECT_FALSE(world_.stored(key));
  world_.server->set_quota(MemServer::Quota::kFree);
  const auto committed = world_.commit(*session, put_mutation(key, "2"));
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_TRUE(committed->succeeded);
}

// The first try is under way for long, and the second meets a full quota: only an abort makes it
// certain that the operation is not executed.
TEST_F(CommitterTest, QuotaFullAfterAnUnknownOutcomeIsResolvedByWriting) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kCommitLate, .delay_ns = 900 * kNsPerMs},
                      is_batch);
  std::optional<Result<Committed>> result;
  session->core().committer().commit(put_mutation(key, "1"),
                                     [&](auto r) { result = std::move(r); });
  world_.run_ms(10);
  world_.server->set_quota(MemServer::Quota::kFull);
  world_.run_until([&] { return result.has_value(); });
  ASSERT_TRUE(result && !*result);
  EXPECT_EQ(result->error().code, ErrorCode::kNoSpace);
  world_.server->set_quota(MemServer::Quota::kFree);
  world_.run_ms(3000);  // the first copy arrives now
  EXPECT_FALSE(world_.stored(key)) << "answered no, executed afterwards";
  const auto committed = world_.commit(*session, put_mutation(key, "2"));
  ASSERT_TRUE(committed && committed->succeeded);
}

TEST_F(CommitterTest, QuotaFullAfterALostReplyFindsTheExecution) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault::Kind::kReplyLost, is_batch);
  std::optional<Result<Committed>> result;
  session->core().committer().commit(put_mutation(key, "1"),
                                     [&](auto r) { result = std::move(r); });
  world_.run_ms(10);
  world_.server->set_quota(MemServer::Quota::kFull);
  world_.run_until([&] { return result.has_value(); });
  ASSERT_TRUE(result && *result);
  EXPECT_TRUE((*result)->succeeded);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

// Executes the transaction that takes it over its quota and answers "no space", as etcd does
// (server/etcdserver/apply.go, quotaApplierV3).
class ExecutesAndReportsNoSpace final : public Store {
 public:
  explicit ExecutesAndReportsNoSpace(Store& store) : store_(store) {}
  void txn(Txn txn, TryOptions options, TxnCallback done) override {
    if (is_batch(txn) && armed) {
      armed = false;
      done = [done = std::move(done)](Result<TxnResult>) {
        done(fail(ErrorCode::kNoSpace, "database space exceeded"));
      };
    }
    store_.txn(std::move(txn), options, std::move(done));
  }
  std::unique_ptr<Watch> watch(KeyRange range, Revision start, WatchHandler* handler) override {
    return store_.watch(std::move(range), start, handler);
  }
  Status compact(Revision revision, TryOptions options) override {
    return store_.compact(revision, options);
  }
  std::vector<MemberStatus> status(TryOptions options) override { return store_.status(options); }
  bool armed = false;

 private:
  Store& store_;
};

TEST_F(CommitterTest, NoSpaceThatWasExecutedAnswersSuccess) {
  MemStoreOptions options;
  options.server = world_.server;
  options.scheduler = world_.scheduler;
  MemStore below(std::move(options));
  ExecutesAndReportsNoSpace store(below);
  auto session = world_.new_session(world_.new_mount(), world_.faults, &store);
  ASSERT_TRUE(session->opened && *session->opened);
  store.armed = true;
  const auto key = data_key("Ia");
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed) << "answered no, but executed: " << committed.error().message;
  EXPECT_TRUE(committed->succeeded);
  EXPECT_EQ(world_.stored(key)->mod_revision, committed->revision);
}

}  // namespace
}  // namespace symnas::kv
