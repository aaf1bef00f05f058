// A whole session against every fault of the store, in simulated time.
#include "common/kv/session_core.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

class SessionCoreTest : public ::testing::Test {
 protected:
  SessionWorld world_;
};

TEST_F(SessionCoreTest, CommitsAndCachesItsOwnWrites) {
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

TEST_F(SessionCoreTest, OperationsThatArriveWhileBatchesAreUnderWayShareOne) {
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

TEST_F(SessionCoreTest, MergedPutsAreInTheCacheWhenTheOperationIsAnswered) {
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

TEST_F(SessionCoreTest, ConflictAnswersNotSucceededWithFreshValuesInTheCache) {
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

TEST_F(SessionCoreTest, ForcedConflictIsAnswered) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  const auto first = world_.commit(*session, put_mutation(key, "1"));
  world_.faults->push(TxnFault::Kind::kConflict, is_batch);
  const auto lost = world_.commit(*session, replace_mutation(key, first->revision, "2"));
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->succeeded);
  EXPECT_TRUE(session->ended.empty());
}

// The outer compares "fail" although nothing differs: no proof of anything, so it is sent again.
TEST_F(SessionCoreTest, AnAnswerThatContradictsItselfIsNoDisproof) {
  auto session = world_.new_session();
  world_.faults->push(TxnFault::Kind::kConflict, is_batch);
  const auto committed = world_.commit(*session, put_mutation(data_key("Ia"), "1"));
  ASSERT_TRUE(committed);
  EXPECT_TRUE(committed->succeeded);
  EXPECT_TRUE(session->ended.empty());
}

TEST_F(SessionCoreTest, ReplyLostIsResolvedByTheSlot) {
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

TEST_F(SessionCoreTest, ReplyLostOfAFailedOperationIsToldApartFromItsNeighbours) {
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

// The reply with the fresh values is lost and the watch is late: the old value must not serve the
// retry.
TEST_F(SessionCoreTest, AConflictLearntFromTheSlotMakesTheComparedKeysUnknown) {
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

TEST_F(SessionCoreTest, CommitAfterTheReportedTimeoutHappensOnce) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kCommitLate, .delay_ns = 400 * kNsPerMs},
                      is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  world_.run_ms(2000);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(SessionCoreTest, RequestLostIsSentAgain) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault::Kind::kRequestLost, is_batch);
  world_.faults->push(TxnFault::Kind::kRequestLost, is_batch);
  world_.faults->push(TxnFault::Kind::kUnavailable, is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(SessionCoreTest, DuplicateFailsItsSlotCompare) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kDuplicate, .delay_ns = 50 * kNsPerMs},
                      is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  world_.run_ms(200);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(SessionCoreTest, DelayBeyondTheTimeoutIsResolved) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.faults->push(TxnFault{.kind = TxnFault::Kind::kDelay, .delay_ns = 1000 * kNsPerMs},
                      is_batch);
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  world_.run_ms(3000);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(SessionCoreTest, EtcdAwayForSixSecondsMakesMetadataWaitAndNothingFails) {
  auto session = world_.new_session();
  for (int i = 0; i < 60; ++i) world_.faults->push(TxnFault::Kind::kUnavailable);
  const auto key = data_key("Ia");
  const auto committed = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_TRUE(committed && committed->succeeded);
  EXPECT_EQ(world_.stored(key)->version, 1);
}

TEST_F(SessionCoreTest, LeaderChangeKeepsTheCacheAndLosesNothing) {
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

TEST_F(SessionCoreTest, QuotaFullAnswersNoSpaceAndWritesNothing) {
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

// The first try is under way for long, its re-send meets a full quota: only the abort makes "no"
// true.
TEST_F(SessionCoreTest, QuotaFullAfterAnUnknownOutcomeIsResolvedByWriting) {
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

TEST_F(SessionCoreTest, QuotaFullAfterALostReplyFindsTheExecution) {
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

// etcd executes the transaction that takes it over its quota and answers "no space"
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

TEST_F(SessionCoreTest, NoSpaceThatWasExecutedAnswersSuccess) {
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

// --- INV-3

TEST_F(SessionCoreTest, EndedMountWritesNothingAndSaysSoOnce) {
  auto options = world_.new_mount();
  auto session = world_.new_session(options, world_.faults);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);  // the compares must find it alone
  world_.outside_stamped({put(options.ended_key, "proof")});
  const auto key = data_key("Ia");
  const auto refused = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kEnded);
  EXPECT_FALSE(world_.stored(key));
  const auto again = world_.commit(*session, put_mutation(key, "1"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kEnded);
  const auto read = world_.read(*session, key);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kEnded);
  world_.run_ms(1000);
  EXPECT_EQ(session->ended.size(), 1u);
}

TEST_F(SessionCoreTest, ReplacedMountRecordIsADisproof) {
  auto options = world_.new_mount();
  auto session = world_.new_session(options, world_.faults);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);
  world_.outside_stamped({erase(options.mount_key)});
  world_.outside_stamped({put(options.mount_key, "another")});
  const auto refused = world_.commit(*session, put_mutation(data_key("Ia"), "1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kEnded);
  EXPECT_FALSE(world_.stored(data_key("Ia")));
  EXPECT_EQ(session->ended.size(), 1u);
}

TEST_F(SessionCoreTest, ChangedGuardIsADisproof) {
  const std::string owner = keys::kOwners + "vnfs1";
  const auto created = world_.outside(Txn{{}, {put(owner, "me")}, {}}).revision;
  auto options = world_.new_mount();
  options.guards.push_back(create_revision_is(owner, created));
  auto session = world_.new_session(options, world_.faults);
  ASSERT_TRUE(world_.commit(*session, put_mutation(data_key("Ia"), "1")));
  world_.outside(Txn{{}, {erase(owner)}, {}});
  world_.outside(Txn{{}, {put(owner, "somebody else")}, {}});
  const auto refused = world_.commit(*session, put_mutation(data_key("Ia"), "2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kEnded);
  EXPECT_EQ(world_.stored(data_key("Ia"))->value, "1");
  EXPECT_EQ(session->ended.size(), 1u);
}

TEST_F(SessionCoreTest, TheWatchShowsTheEndWithoutACommit) {
  auto options = world_.new_mount();
  auto session = world_.new_session(options, world_.faults);
  world_.outside_stamped({put(options.ended_key, "proof")});
  world_.run_ms(100);
  ASSERT_EQ(session->ended.size(), 1u);
  EXPECT_EQ(session->ended.front().code, ErrorCode::kEnded);
}

TEST_F(SessionCoreTest, ItsOwnCleanCloseIsNoDisproof) {
  auto options = world_.new_mount();
  auto session = world_.new_session(options, world_.faults);
  Mutation close;
  close.writes.push_back(erase(options.mount_key));
  const auto closed = world_.commit(*session, close);
  ASSERT_TRUE(closed && closed->succeeded);
  world_.run_ms(1000);
  EXPECT_TRUE(session->ended.empty());
  const auto late = world_.commit(*session, put_mutation(data_key("Ia"), "1"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kEnded);
}

TEST_F(SessionCoreTest, TheEventOfItsOwnCleanCloseMayComeBeforeTheAnswer) {
  const auto below = world_.new_store();
  HoldingStore store(*below);
  auto options = world_.new_mount();
  auto session = world_.new_session(options, nullptr, &store);
  store.hold(is_batch);
  Mutation close;
  close.writes.push_back(erase(options.mount_key));
  std::optional<Result<Committed>> closed;
  session->core().committer().commit(close, [&](auto r) { closed = std::move(r); });
  world_.run_until([&] { return store.held() == 1; });
  world_.run_ms(100);
  EXPECT_FALSE(closed);
  store.release();
  ASSERT_TRUE(closed && *closed);
  EXPECT_TRUE((*closed)->succeeded);
  EXPECT_TRUE(session->ended.empty());
}

TEST_F(SessionCoreTest, OpenRefusesAnEndedMount) {
  auto options = world_.new_mount();
  world_.outside_stamped({put(options.ended_key, "proof")});
  auto session = world_.new_session(options, world_.faults);
  ASSERT_TRUE(session->opened);
  ASSERT_FALSE(*session->opened);
  EXPECT_EQ(session->opened->error().code, ErrorCode::kEnded);
  EXPECT_TRUE(session->ended.empty()) << "open() answers; on_ended is for what was open";
}

TEST_F(SessionCoreTest, OpenRefusesANameThatHasBeenUsed) {
  auto options = world_.new_mount();
  {
    auto first = world_.new_session(options, world_.faults);
    ASSERT_TRUE(world_.commit(*first, put_mutation(data_key("Ia"), "1")));
  }
  auto second = world_.new_session(options, world_.faults);
  ASSERT_TRUE(second->opened);
  ASSERT_FALSE(*second->opened);
  EXPECT_EQ(second->opened->error().code, ErrorCode::kInvalidArgument);
}

// --- the cache and its watch

TEST_F(SessionCoreTest, AnEventThatOvertakesALoadWins) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "old")});
  world_.run_ms(100);
  // The read is executed at once, its answer travels long; meanwhile the key changes and the watch
  // says so.
  std::optional<Result<std::vector<CachedValue>>> first;
  session->core().reader().read({key}, [&](auto r) { first = std::move(r); });
  const auto newer = world_.outside_stamped({put(key, "new")});
  world_.run_until([&] { return first.has_value(); });
  world_.run_ms(100);
  const auto cached = session->core().reader().peek(key);
  ASSERT_TRUE(cached);
  EXPECT_EQ(cached->value, "new");
  EXPECT_EQ(cached->mod_revision, newer.revision);
}

TEST_F(SessionCoreTest, AbsenceIsCachedAndEndsWithTheEvent) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  const auto absent = world_.read(*session, key);
  ASSERT_TRUE(absent);
  EXPECT_FALSE(absent->value);
  ASSERT_TRUE(session->core().reader().peek(key));
  world_.outside_stamped({put(key, "1")});
  world_.run_ms(100);
  EXPECT_EQ(session->core().reader().peek(key)->value, "1");
}

TEST_F(SessionCoreTest, ALostRevisionDropsTheCacheAtTheNextOne) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "1")});
  ASSERT_EQ(world_.read(*session, key)->value, "1");
  world_.run_ms(100);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);
  world_.outside_stamped({put(key, "2")});
  world_.run_ms(100);
  EXPECT_EQ(session->core().reader().peek(key)->value, "1") << "the test lost no event";
  world_.outside_stamped({put(data_key("Ib"), "1")});
  world_.run_ms(100);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 1u);
  EXPECT_FALSE(session->core().reader().peek(key));
  EXPECT_EQ(world_.read(*session, key)->value, "2");
}

TEST_F(SessionCoreTest, ALostStampEventIsNoticedToo) {
  auto session = world_.new_session();
  world_.faults->push_watch(WatchFault::Kind::kDropEvent);  // the first of the revision: the stamp
  world_.outside_stamped({put(data_key("Ia"), "1")});
  world_.outside_stamped({put(data_key("Ib"), "1")});
  world_.run_ms(100);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 1u);
}

TEST_F(SessionCoreTest, CompactionOfTheWatchIsAResync) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "1")});
  ASSERT_EQ(world_.read(*session, key)->value, "1");
  world_.faults->push_watch(WatchFault::Kind::kEndCompacted);
  world_.outside_stamped({put(key, "2")});
  world_.run_ms(500);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 1u);
  EXPECT_EQ(world_.read(*session, key)->value, "2");
  world_.outside_stamped({put(key, "3")});
  world_.run_ms(100);
  EXPECT_EQ(session->core().reader().peek(key)->value, "3") << "the new watch feeds the cache";
}

TEST_F(SessionCoreTest, ALostConnectionGoesOnFromTheNextRevision) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "1")});
  ASSERT_EQ(world_.read(*session, key)->value, "1");
  world_.run_ms(100);
  world_.faults->push_watch(WatchFault::Kind::kEnd);
  world_.outside_stamped({put(key, "2")});
  world_.run_ms(500);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 0u);
  EXPECT_EQ(session->core().reader().peek(key)->value, "2");
}

TEST_F(SessionCoreTest, ARangeDeleteIsAnsweredWhenTheCacheShowsIt) {
  auto session = world_.new_session(world_.new_mount(), std::make_shared<SlowWatch>(30 * kNsPerMs));
  ASSERT_TRUE(world_.commit(*session, put_mutation(data_key("Ma"), "1")));
  ASSERT_TRUE(world_.commit(*session, put_mutation(data_key("Mb"), "1")));
  world_.run_ms(100);
  ASSERT_TRUE(session->core().reader().peek(data_key("Mb")));
  Mutation clear;
  clear.writes.push_back(erase_range(prefix_range(data_key("M"))));
  std::optional<Result<Committed>> result;
  std::optional<CachedValue> seen;
  session->core().committer().commit(clear, [&](auto r) {
    result = std::move(r);
    seen = session->core().reader().peek(data_key("Mb"));
  });
  world_.run_until([&] { return result.has_value(); });
  ASSERT_TRUE(result && *result && (*result)->succeeded);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->value);
}

TEST_F(SessionCoreTest, ARangeDeleteWhoseEventIsLostIsAnsweredToo) {
  auto session = world_.new_session();
  ASSERT_TRUE(world_.commit(*session, put_mutation(data_key("Ma"), "1")));
  world_.run_ms(100);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);
  Mutation clear;
  clear.writes.push_back(erase_range(prefix_range(data_key("M"))));
  const auto cleared = world_.commit(*session, clear);
  ASSERT_TRUE(cleared && cleared->succeeded);
  EXPECT_FALSE(session->core().reader().peek(data_key("Ma"))) << "the cache has been dropped";
}

TEST_F(SessionCoreTest, AnAnswerOlderThanTheWatchDoesNotStay) {
  const auto below = world_.new_store();
  HoldingStore store(*below);
  auto session = world_.new_session(world_.new_mount(), nullptr, &store);
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "old")});
  world_.run_ms(100);
  store.hold([](const Txn&) { return true; });
  std::optional<Result<std::vector<CachedValue>>> answer;
  session->core().reader().read({key}, [&](auto r) { answer = std::move(r); });
  ASSERT_TRUE(world_.run_until([&] { return store.held() == 1; }));
  const auto newer = world_.outside_stamped({put(key, "new")});
  world_.run_ms(100);  // the watch overtakes the answer
  store.release();
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ((*answer)->front().value, "new");
  EXPECT_EQ(session->core().reader().peek(key)->mod_revision, newer.revision);
}

TEST_F(SessionCoreTest, AnOwnResultOlderThanTheWatchDoesNotStay) {
  const auto below = world_.new_store();
  HoldingStore store(*below);
  auto session = world_.new_session(world_.new_mount(), nullptr, &store);
  const auto key = data_key("Ia");
  store.hold(is_batch);
  std::optional<Result<Committed>> own;
  session->core().committer().commit(put_mutation(key, "own"), [&](auto r) { own = std::move(r); });
  ASSERT_TRUE(world_.run_until([&] { return store.held() == 1; }));
  world_.outside_stamped({put(key, "theirs")});
  world_.run_ms(100);
  store.release();
  ASSERT_TRUE(own && *own && (*own)->succeeded);
  const auto cached = session->core().reader().peek(key);
  ASSERT_TRUE(cached) << "the place was kept while the batch was under way";
  EXPECT_EQ(cached->value, "theirs");
}

// --- barriers

TEST_F(SessionCoreTest, ABarrierMakesAnAcknowledgedChangeVisible) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "1")});
  ASSERT_EQ(world_.read(*session, key)->value, "1");
  world_.outside_stamped({put(key, "2")});
  ASSERT_TRUE(world_.barrier(*session));
  const auto value = world_.read(*session, key);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->value, "2");
}

TEST_F(SessionCoreTest, ABarrierDoesNotJoinAReadThatHasBeenSent) {
  const auto below = world_.new_store(std::make_shared<SlowWatch>(30 * kNsPerMs));
  HoldingStore store(*below);
  auto session = world_.new_session(world_.new_mount(), nullptr, &store);
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "1")});
  world_.run_ms(100);
  ASSERT_EQ(world_.read(*session, key)->value, "1");

  store.hold([](const Txn& txn) { return !is_batch(txn); });
  int passed = 0;
  for (int i = 0; i < kBarrierReadsInFlightMax; ++i) {
    session->core().barriers().barrier([&](Status) { ++passed; });
  }
  ASSERT_TRUE(world_.run_until(
      [&] { return store.held() == static_cast<std::size_t>(kBarrierReadsInFlightMax); }));
  world_.outside_stamped({put(key, "2")});  // acknowledged, before the next barrier arrives
  std::optional<std::string> seen;
  bool late_passed = false;
  session->core().barriers().barrier([&](Status) {
    late_passed = true;
    const auto cached = session->core().reader().peek(key);
    seen = cached ? cached->value : "2";
  });
  store.release();
  ASSERT_TRUE(world_.run_until([&] { return late_passed; }));
  EXPECT_EQ(passed, kBarrierReadsInFlightMax);
  EXPECT_EQ(seen, "2") << "a read sent before the change answered a barrier after it";
}

TEST_F(SessionCoreTest, ABarrierThatWaitsTooLongForTheWatchDropsTheCache) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "1")});
  ASSERT_EQ(world_.read(*session, key)->value, "1");
  world_.run_ms(100);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);
  world_.outside_stamped({put(key, "2")});
  const auto before_ns = world_.scheduler->mono_ns();
  ASSERT_TRUE(world_.barrier(*session));
  EXPECT_LT(world_.scheduler->mono_ns() - before_ns, (kBarrierWatchWaitMs + 20) * kNsPerMs);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 1u);
  EXPECT_EQ(world_.read(*session, key)->value, "2");
}

TEST_F(SessionCoreTest, ShutDownAnswersEverybody) {
  auto session = world_.new_session();
  for (int i = 0; i < 1000; ++i) world_.faults->push(TxnFault::Kind::kUnavailable);
  std::vector<ErrorCode> codes;
  const auto note = [&codes](const auto& result) {
    codes.push_back(result ? ErrorCode::kInternal : result.error().code);
  };
  session->core().committer().commit(put_mutation(data_key("Ia"), "1"), note);
  session->core().reader().read({data_key("Ib")}, note);
  session->core().barriers().barrier(note);
  world_.run_ms(100);
  EXPECT_TRUE(codes.empty());
  session->core().shut_down();
  EXPECT_EQ(codes, std::vector<ErrorCode>(3, ErrorCode::kShutdown));
  session->core().committer().commit(put_mutation(data_key("Ia"), "1"), note);
  EXPECT_EQ(codes.size(), 4u);
  world_.run_ms(5000);
  EXPECT_EQ(codes.size(), 4u);
}

}  // namespace
}  // namespace symnas::kv
