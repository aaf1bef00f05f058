// INV-4: what a barrier waits for and what it may not join, in simulated time.
#include "common/kv/barriers.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

class BarriersTest : public ::testing::Test {
 protected:
  // The cache is shut, and every read is held back: first of all that of the anchor.
  void hold_the_anchor(SimSession& session, HoldingStore& store) {
    world_.run_ms(500);
    store.hold([](const Txn& txn) { return !is_batch(txn); });
    session.core().watch_keeper().resync_late();
    ASSERT_TRUE(world_.run_until([&] { return store.held() == 1; }));
  }
  // While a load of the key is held back and the watch tells of its past.
  void expect_never_older(SimSession& session, HoldingStore& store, const std::string& key,
                          const std::string& newest) {
    std::optional<Result<std::vector<CachedValue>>> read;
    session.core().reader().read({key}, [&](auto values) { read = std::move(values); });
    ASSERT_TRUE(world_.run_until([&] { return store.held() == 1; }));
    for (int i = 0; i < 100; ++i) {
      world_.run_ms(1);
      const auto known = session.core().reader().peek(key);
      EXPECT_TRUE(!known || known->value == newest) << i << " ms";
    }
    store.release();
    ASSERT_TRUE(read && *read);
    EXPECT_EQ((**read)[0].value, newest);
  }

  SessionWorld world_;
};

TEST_F(BarriersTest, ABarrierMakesAnAcknowledgedChangeVisible) {
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

TEST_F(BarriersTest, ABarrierDoesNotJoinAReadThatHasBeenSent) {
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

TEST_F(BarriersTest, ABarrierThatWaitsTooLongForTheWatchDropsTheCache) {
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

// A barrier passes while the cache is shut. What the watch tells of later is older than that
// barrier, until it has come as far: it must not become known.
TEST_F(BarriersTest, WhatIsOlderThanABarrierThatHasPassedDoesNotEnter) {
  const auto below = world_.new_store(std::make_shared<SlowWatch>(20 * kNsPerMs));
  HoldingStore store(*below);
  auto session = world_.new_session(world_.new_mount(), nullptr, &store);
  const auto key = data_key("Ia");
  hold_the_anchor(*session, store);
  world_.outside_stamped({put(key, "1")});
  world_.run_ms(2);
  world_.outside_stamped({put(key, "2")});
  std::optional<Status> passed;
  session->core().barriers().barrier([&](Status status) { passed = std::move(status); });
  ASSERT_TRUE(world_.run_until([&] { return store.held() == 2; }));
  store.release_last();
  ASSERT_TRUE(passed && *passed);
  store.release_first();  // the cache opens
  expect_never_older(*session, store, key, "2");
}

// The same after own changes that were acknowledged while the cache was shut: who is alone asks for
// no barrier.
TEST_F(BarriersTest, WhatIsOlderThanAnOwnChangeDoesNotEnter) {
  const auto below = world_.new_store(std::make_shared<SlowWatch>(40 * kNsPerMs));
  HoldingStore store(*below);
  auto session = world_.new_session(world_.new_mount(), nullptr, &store);
  const auto key = data_key("Ia");
  hold_the_anchor(*session, store);
  ASSERT_TRUE(world_.commit(*session, put_mutation(key, "1")));
  ASSERT_TRUE(world_.commit(*session, put_mutation(key, "2")));
  store.release_first();  // the cache opens
  expect_never_older(*session, store, key, "2");
}

// The watch has not told of the stamp, the cache is shut, and reads show what came after it: what
// is changed then must not get an older time.
TEST_F(BarriersTest, TimesFollowWhatABarrierHasSeen) {
  auto session = world_.new_session();
  world_.run_ms(100);
  const std::int64_t later_ns = world_.scheduler->wall_ns() + 3'600'000 * kNsPerMs;
  std::string stamp;
  append_be64(stamp, static_cast<std::uint64_t>(later_ns));
  world_.faults->push_watch(WatchFault::Kind::kDropRevision);
  world_.outside({.success = {put(keys::stamp(kTestFs), stamp)}});
  ASSERT_TRUE(world_.barrier(*session));
  EXPECT_GT(session->core().time.next(world_.scheduler->wall_ns()), later_ns);
}

}  // namespace
}  // namespace symnas::kv
