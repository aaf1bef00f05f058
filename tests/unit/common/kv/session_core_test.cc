// Opening and ending: INV-3, clean close, shutdown, in simulated time.
#include "common/kv/session_core.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

class SessionCoreTest : public ::testing::Test {
 protected:
  SessionWorld world_;
};

TEST_F(SessionCoreTest, EndedMountWritesNothingAndSaysSoOnce) {
  auto options = world_.new_mount();
  auto session = world_.new_session(options, world_.faults);
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);  // only the compares can find it
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
