// The cache and its watch: races of facts, lost events, resyncs, in simulated time.
#include "common/kv/watch_keeper.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

class WatchKeeperTest : public ::testing::Test {
 protected:
  SessionWorld world_;
};

TEST_F(WatchKeeperTest, AnEventThatOvertakesALoadWins) {
  auto session = world_.new_session();
  const auto key = data_key("Ia");
  world_.outside_stamped({put(key, "old")});
  world_.run_ms(100);
  // The read is executed at once, but its answer takes long; meanwhile the key changes and the
  // watch delivers the change.
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

TEST_F(WatchKeeperTest, AbsenceIsCachedAndEndsWithTheEvent) {
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

TEST_F(WatchKeeperTest, ALostRevisionDropsTheCacheAtTheNextOne) {
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

TEST_F(WatchKeeperTest, ALostStampEventIsNoticedToo) {
  auto session = world_.new_session();
  world_.faults->push_watch(WatchFault::Kind::kDropEvent);  // the first of the revision: the stamp
  world_.outside_stamped({put(data_key("Ia"), "1")});
  world_.outside_stamped({put(data_key("Ib"), "1")});
  world_.run_ms(100);
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 1u);
}

TEST_F(WatchKeeperTest, CompactionOfTheWatchIsAResync) {
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

TEST_F(WatchKeeperTest, ALostConnectionGoesOnFromTheNextRevision) {
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

TEST_F(WatchKeeperTest, ARangeDeleteIsAnsweredWhenTheCacheShowsIt) {
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

TEST_F(WatchKeeperTest, ARangeDeleteWhoseEventIsLostIsAnsweredToo) {
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

TEST_F(WatchKeeperTest, AnAnswerOlderThanTheWatchDoesNotStay) {
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

TEST_F(WatchKeeperTest, AnOwnResultOlderThanTheWatchDoesNotStay) {
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

}  // namespace
}  // namespace symnas::kv
