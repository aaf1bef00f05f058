// A follower is told what the store holds, whatever happens to the watch.
#include "common/kv/following.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "session_world.h"

namespace symnas::kv {
namespace {

class Image final : public Follower {
 public:
  void on_image(const std::vector<KeyValue>& image, Revision at) override {
    keys.clear();
    for (const KeyValue& kv : image) keys[kv.key] = kv.value;
    complete = true;
    ++images;
    newest = at;
  }
  void on_events(const std::vector<WatchEvent>& events, Revision up_to) override {
    EXPECT_TRUE(complete);
    EXPECT_GT(up_to, newest);
    for (const WatchEvent& event : events) {
      EXPECT_GT(event.kv.mod_revision, newest);
      if (event.deleted) {
        keys.erase(event.kv.key);
      } else {
        keys[event.kv.key] = event.kv.value;
      }
    }
    newest = up_to;
  }
  void on_lost() override { complete = false; }

  std::map<std::string, std::string> keys;
  bool complete = false;
  int images = 0;
  Revision newest;
};

class FollowingTest : public ::testing::Test {
 protected:
  std::unique_ptr<SimSession> follow(std::shared_ptr<FaultPlan> plan, std::uint64_t mount = 1) {
    SessionOptions options = world_.new_mount(mount);
    options.followed = {{{prefix_range(data_key("K")), prefix_range(data_key("W"))}, &image_}};
    return world_.new_session(std::move(options), std::move(plan));
  }
  std::map<std::string, std::string> stored() const {
    std::map<std::string, std::string> out;
    for (const KeyValue& kv : world_.server->dump()) {
      if (kv.key.starts_with(data_key("K")) || kv.key.starts_with(data_key("W")))
        out[kv.key] = kv.value;
    }
    return out;
  }

  SessionWorld world_;
  Image image_;
};

TEST_F(FollowingTest, BeginsWithAnImageAndHearsOfFollowedKeysOnly) {
  world_.outside_stamped({put(data_key("Ka"), "1"), put(data_key("Ia"), "other")});
  auto session = follow(world_.faults);
  EXPECT_EQ(image_.keys, stored());
  world_.outside_stamped({put(data_key("Wa"), "2"), erase(data_key("Ka"))});
  world_.outside_stamped({put(data_key("Ib"), "other")});
  world_.run_ms(100);
  EXPECT_EQ(image_.keys, stored());
  EXPECT_EQ(image_.images, 1);
}

// Looks up another key when it hears of a change.
class Looker final : public Follower {
 public:
  void on_image(const std::vector<KeyValue>& /*image*/, Revision /*at*/) override {}
  void on_events(const std::vector<WatchEvent>& events, Revision /*newest*/) override {
    if (!events.empty()) found = look();
  }
  void on_lost() override {
    if (look) found_at_loss = look();
  }

  std::function<std::optional<CachedValue>()> look;
  std::optional<CachedValue> found;
  std::optional<CachedValue> found_at_loss;
};

// A mount asks another for something: when it hears that this was done, it reads what the other has
// put.
TEST_F(FollowingTest, WhoHearsOfAChangeFindsItInTheCache) {
  Looker looker;
  SessionOptions options = world_.new_mount(1);
  options.followed = {{{prefix_range(data_key("K"))}, &looker}};
  const auto session = world_.new_session(std::move(options), world_.faults);
  const std::string record = data_key("R");
  looker.look = [&] { return session->core().reader().peek(record); };
  world_.outside_stamped({put(record, "old")});
  ASSERT_TRUE(world_.barrier(*session));
  ASSERT_TRUE(world_.read(*session, record));
  world_.outside_stamped({put(record, "new"), put(data_key("K"), "done")});
  ASSERT_TRUE(world_.run_until([&] { return looker.found.has_value(); }));
  EXPECT_EQ(looker.found->value, "new");
}

// A barrier passes at once while the cache is closed: by then the image must not count as complete.
TEST_F(FollowingTest, TheImageIsLostBeforeTheCacheIsShut) {
  Looker looker;
  SessionOptions options = world_.new_mount(1);
  options.followed = {{{prefix_range(data_key("K"))}, &looker}};
  const auto session = world_.new_session(std::move(options), world_.faults);
  const std::string record = data_key("R");
  world_.outside_stamped({put(record, "known")});
  ASSERT_TRUE(world_.barrier(*session));
  ASSERT_TRUE(world_.read(*session, record));
  looker.look = [&] { return session->core().reader().peek(record); };
  ASSERT_TRUE(looker.look());
  world_.faults->push_watch(WatchFault::Kind::kEndCompacted);
  world_.outside_stamped({put(data_key("K"), "1")});
  ASSERT_TRUE(world_.run_until([&] { return looker.found_at_loss.has_value(); }));
}

TEST_F(FollowingTest, WhatComesBeforeTheImageIsNotTwiceInIt) {
  Following following({{prefix_range("K")}, &image_});
  const auto event = [](std::string key, std::int64_t revision) {
    WatchEvent out;
    out.kv.key = std::move(key);
    out.kv.mod_revision = Revision(revision);
    return out;
  };
  following.events({event("Ka", 5), event("Kb", 6), event("other", 6)}, Revision(6));
  OpResult read;
  read.kvs.push_back(event("Ka", 5).kv);
  std::deque<OpResult> results{read};
  following.image(results, Revision(5), Revision(0));
  EXPECT_EQ(image_.keys.size(), 2u);
  EXPECT_EQ(image_.newest, Revision(6));
  following.events({event("Kb", 6), event("Kc", 7)}, Revision(7));  // EXPECTs: nothing older again
  EXPECT_EQ(image_.keys.size(), 3u);
  following.lost();
  EXPECT_FALSE(image_.complete);
  following.events({event("Kd", 8)}, Revision(8));
  results = {read};
  following.image(results, Revision(9), Revision(0));
  EXPECT_EQ(image_.keys.size(), 1u) << "an image younger than the event does not show it";
}

// A barrier passed while the cache was shut, and an image that had been read before came late: it
// did not show the exclusive token of the mount that had just acknowledged a WRITE, and GETATTR
// showed the size of before it (simulation of heads, seed 197508709000087010).
TEST_F(FollowingTest, AnImageOlderThanABarrierIsIncompleteUntilTheWatchHasComeAsFar) {
  const auto below = world_.new_store(std::make_shared<SlowWatch>(20 * kNsPerMs));
  HoldingStore store(*below);
  SessionOptions options = world_.new_mount(1);
  options.followed = {{{prefix_range(data_key("K"))}, &image_}};
  const auto session = world_.new_session(std::move(options), nullptr, &store);
  world_.run_ms(500);
  const auto is_anchor = [](const Txn& txn) { return txn.success.size() == 2; };
  store.hold(is_anchor);
  session->core().watch_keeper().resync_late();
  ASSERT_TRUE(world_.run_until([&] { return store.held() == 1; }));
  world_.outside_stamped({put(data_key("Ka"), "token")});
  std::optional<Status> passed;
  session->core().barriers().barrier([&](Status status) { passed = std::move(status); });
  ASSERT_TRUE(world_.run_until([&] { return passed.has_value(); }));
  EXPECT_FALSE(image_.complete) << "the barrier has nothing to wait for";
  store.release();
  EXPECT_FALSE(image_.complete) << "an image that is older than the barrier";
  ASSERT_TRUE(world_.run_until([&] { return image_.complete; }));
  EXPECT_EQ(image_.keys, stored());
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 1U);
}

// What the watch should have told of is lost: another one tells.
TEST_F(FollowingTest, AnImageThatStaysOlderIsReadAnew) {
  auto plan = std::make_shared<ScriptedFaults>();
  const auto below = world_.new_store(plan);
  HoldingStore store(*below);
  SessionOptions options = world_.new_mount(1);
  options.followed = {{{prefix_range(data_key("K"))}, &image_}};
  const auto session = world_.new_session(std::move(options), nullptr, &store);
  world_.run_ms(500);
  store.hold([](const Txn& txn) { return txn.success.size() == 2; });
  session->core().watch_keeper().resync_late();
  ASSERT_TRUE(world_.run_until([&] { return store.held() == 1; }));
  plan->push_watch(WatchFault::Kind::kDropRevision);
  world_.outside_stamped({put(data_key("Ka"), "token")});
  ASSERT_TRUE(world_.barrier(*session));
  store.release();
  world_.run_ms(50);
  EXPECT_FALSE(image_.complete);
  ASSERT_TRUE(world_.run_until([&] { return image_.complete; }));
  EXPECT_EQ(image_.keys, stored());
  EXPECT_EQ(session->core().snapshot_counters().resyncs, 2U);
}

TEST_F(FollowingTest, IsTrueAfterEveryBarrierUnderFaults) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto session = follow(world_.faults, seed);
    env::SeededRandom random(seed);
    for (int round = 0; round < 30; ++round) {
      const std::string key =
          data_key((random.below(2) == 0 ? "K" : "W") + std::to_string(random.below(4)));
      if (random.below(4) == 0) world_.faults->push_watch(WatchFault::Kind::kDropRevision);
      if (random.below(8) == 0) world_.faults->push_watch(WatchFault::Kind::kEndCompacted);
      world_.outside_stamped({random.below(3) == 0 ? erase(key) : put(key, std::to_string(round))});
      if (random.below(3) != 0) continue;
      ASSERT_TRUE(world_.barrier(*session));
      ASSERT_TRUE(world_.run_until([&] { return image_.complete; }));
      EXPECT_EQ(image_.keys, stored()) << "seed " << seed << " round " << round;
    }
    session.reset();
    world_.run_ms(1000);
  }
}

}  // namespace
}  // namespace symnas::kv
