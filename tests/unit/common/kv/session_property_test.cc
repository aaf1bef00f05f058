// Many mounts, random faults, simulated time: a session keeps its promises whatever goes wrong.
//   SYMNAS_SEED=<n>   replays one seed; SYMNAS_SEEDS=<n> runs that many.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "common/base/log.h"
#include "session_world.h"

namespace symnas::kv {
namespace {

constexpr int kCounters = 3;
constexpr int kScratchKeys = 6;
constexpr int kOperationsPerActor = 25;
constexpr int kActorsPerMount = 5;

std::string counter_key(std::uint64_t i) { return data_key("I" + std::to_string(i)); }
std::string scratch_key(std::uint64_t i) { return data_key("M" + std::to_string(i)); }
std::int64_t number_of(const CachedValue& value) {
  return value.value ? std::stoll(*value.value) : 0;
}

// What the sessions have promised to the actors.
struct Promises {
  std::map<std::string, std::int64_t> increments;  // acknowledged
  std::map<std::string, std::int64_t> uncertain;   // under way when their mount ended
  std::set<std::string> once;                      // unique keys acknowledged as put
  std::set<std::string> never;                     // unique keys answered "not executed"
  std::int64_t next_unique = 0;
  std::int64_t conflicts = 0;
  std::int64_t no_space = 0;
};

// A sequence of operations of one client of one mount.
class Actor {
 public:
  Actor(SimSession& session, env::Random& random, Promises& promises)
      : session_(session), random_(random), promises_(promises) {}

  void start() { next(); }
  bool idle() const { return idle_; }
  std::string doing() const { return what_ + " " + std::to_string(done_); }

 private:
  void next() {
    if (done_ == kOperationsPerActor) {
      idle_ = true;
      return;
    }
    ++done_;
    key_ = counter_key(random_.below(kCounters));
    const bool more_strict = session_.core().options.cache_bytes_max % 2 == 1;
    switch (random_.below(more_strict ? 12 : 6)) {
      case 0: unique(); return;
      case 1: scratch(); return;
      case 2:
      case 3:
      case 4: increment(); return;
      default: strict(); return;
    }
  }

  // A barrier, then a read: it must not miss an acknowledged increment.
  void strict() {
    what_ = "strict";
    const std::int64_t floor = promises_.increments[key_];
    session_.core().barriers().barrier([this, floor](Status status) {
      if (!status) return stop();
      session_.core().reader().read({key_}, [this, floor](auto values) {
        if (!values) return stop();
        EXPECT_GE(number_of(values->front()), floor)
            << "a strict read missed an acknowledged change";
        next();
      });
    });
  }

  void increment() {
    what_ = "increment";
    session_.core().reader().read({key_}, [this](auto values) {
      if (!values) return stop();
      const CachedValue& value = values->front();
      const std::int64_t number = number_of(value);
      Mutation mutation;
      mutation.compares.push_back(
          mod_revision_is(key_, value.value ? value.mod_revision : Revision(0)));
      mutation.writes.push_back(put(key_, std::to_string(number + 1)));
      mutation.merged_puts.push_back(put(data_key("Tdir"), std::to_string(random_.next())));
      session_.core().committer().commit(mutation, [this, number](Result<Committed> committed) {
        if (!committed) return not_executed(committed.error());
        if (!committed->succeeded) {
          ++promises_.conflicts;
          return increment();
        }
        ++promises_.increments[key_];
        const auto seen = session_.core().reader().peek(key_);
        EXPECT_TRUE(!seen || number_of(*seen) > number) << "own write not in the cache";
        next();
      });
    });
  }

  void unique() {
    what_ = "unique";
    const std::string key = data_key("U" + std::to_string(promises_.next_unique++));
    session_.core().committer().commit(put_mutation(key, "x"), [this, key](auto committed) {
      if (committed) {
        EXPECT_TRUE(committed->succeeded) << "a put without compares";
        promises_.once.insert(key);
        next();
      } else {
        if (committed.error().code == ErrorCode::kNoSpace) promises_.never.insert(key);
        not_executed(committed.error());
      }
    });
  }

  void scratch() {
    what_ = "scratch";
    const std::string key = scratch_key(random_.below(kScratchKeys));
    Mutation mutation;
    switch (random_.below(5)) {
      case 0: mutation.writes.push_back(erase_range(prefix_range(data_key("M")))); break;
      case 1: mutation.writes.push_back(erase(key)); break;
      case 2: mutation.compares.push_back(key_absent(key)); [[fallthrough]];
      default: mutation.writes.push_back(put(key, std::to_string(random_.next())));
    }
    session_.core().reader().read({key}, [this, mutation](auto values) {
      if (!values) return stop();
      session_.core().committer().commit(mutation, [this, mutation](auto committed) {
        if (!committed) return not_executed(committed.error());
        if (committed->succeeded) check_cleared(mutation, committed->revision);
        next();
      });
    });
  }

  // When a delete is answered, the cache does not hold any more what it removed.
  void check_cleared(const Mutation& mutation, Revision revision) {
    const Op& op = mutation.writes.front();
    if (op.kind != Op::Kind::kDelete) return;
    for (std::uint64_t i = 0; i < kScratchKeys; ++i) {
      if (!contains(op.range, scratch_key(i))) continue;
      const auto seen = session_.core().reader().peek(scratch_key(i));
      EXPECT_TRUE(!seen || !seen->value || seen->mod_revision > revision) << "deleted, but cached";
    }
  }

  void not_executed(const Error& error) {
    if (error.code == ErrorCode::kNoSpace) {
      ++promises_.no_space;
      next();
      return;
    }
    stop();
  }
  void stop() {
    ++promises_.uncertain[key_];
    idle_ = true;
  }

  SimSession& session_;
  env::Random& random_;
  Promises& promises_;
  std::string key_;
  std::string what_;
  int done_ = 0;
  bool idle_ = false;
};

FaultWeights draw_weights(env::Random& random) {
  const auto weight = [&random](std::uint64_t below) {
    return random.below(2) == 0 ? 0 : static_cast<int>(random.below(below));
  };
  FaultWeights weights;
  weights.conflict = weight(300);
  weights.unavailable = weight(1000);
  weights.request_lost = weight(500);
  weights.reply_lost = weight(1000);
  weights.commit_late = weight(500);
  weights.duplicate = weight(1000);
  weights.delay = weight(1000);
  weights.compact = weight(300);
  weights.leader_change = weight(100);
  weights.watch_drop_event = weight(300);
  weights.watch_drop_revision = weight(300);
  weights.watch_end = weight(300);
  weights.watch_end_compacted = weight(200);
  weights.watch_delay = weight(1000);
  weights.delay_ns_max = 700 * kNsPerMs;  // beyond a try's time-out
  return weights;
}

struct Mount {
  SessionOptions options;
  std::shared_ptr<SeededFaults> faults;
  std::unique_ptr<SimSession> session;
  std::vector<std::unique_ptr<Actor>> actors;
  std::optional<Revision> ended_at;
};

class Scenario {
 public:
  explicit Scenario(std::uint64_t seed) : world_(seed), random_(seed * 7919 + 1) {}

  void run() {
    mounts_.resize(1 + random_.below(3));
    for (std::size_t i = 0; i < mounts_.size(); ++i) open(mounts_[i], i + 1);
    for (auto& mount : mounts_) {
      for (int i = 0; i < kActorsPerMount; ++i) {
        mount.actors.push_back(std::make_unique<Actor>(*mount.session, random_, promises_));
      }
    }
    for (auto& mount : mounts_) {
      for (auto& actor : mount.actors) actor->start();
    }
    disturb();
    calm_down();
    check_store();
    check_caches();
  }
  const Promises& promises() const { return promises_; }

 private:
  void open(Mount& mount, std::uint64_t id) {
    mount.options = world_.new_mount(id);
    // Small enough to evict now and then. An odd size makes the mount's actors do mostly strict
    // reads.
    mount.options.cache_bytes_max = static_cast<std::int64_t>(20'000 + random_.below(100'000));
    mount.faults = std::make_shared<SeededFaults>(random_.next(), draw_weights(random_));
    mount.session = world_.new_session(mount.options, mount.faults);
    ASSERT_TRUE(mount.session->opened) << "opening must come to an end";
    ASSERT_TRUE(*mount.session->opened) << mount.session->opened->error().message;
  }

  bool all_idle() const {
    for (const auto& mount : mounts_) {
      for (const auto& actor : mount.actors) {
        if (!actor->idle()) return false;
      }
    }
    return true;
  }

  std::string unanswered() const {
    std::string text;
    for (const auto& mount : mounts_) {
      const auto counters = mount.session->core().snapshot_counters();
      text += fmt::format("mount {}: {} batches, {} conflicts, {} stale, {} resyncs, {} loads:",
                          to_hex(mount.options.session_id), counters.batches, counters.conflicts,
                          counters.stale_operations, counters.resyncs, counters.cache_loads);
      for (const auto& actor : mount.actors) text += actor->idle() ? "" : " " + actor->doing();
      text += "; ";
    }
    return text;
  }

  // While the actors work, the quota fills now and then, and somebody else may end a mount.
  void disturb() {
    for (int round = 0; round < 30 && !all_idle(); ++round) {
      world_.run_until([this] { return all_idle(); }, 200);
      if (random_.below(20) == 0) world_.server->set_quota(MemServer::Quota::kFull);
      world_.run_until([this] { return all_idle(); }, 100);
      world_.server->set_quota(MemServer::Quota::kFree);
      Mount& victim = mounts_[random_.below(mounts_.size())];
      if (random_.below(40) == 0 && !victim.ended_at) {
        victim.ended_at = world_.outside_stamped({put(victim.options.ended_key, "")}).revision;
      }
    }
  }

  void calm_down() {
    for (auto& mount : mounts_) mount.faults->stop();
    EXPECT_TRUE(world_.run_until([this] { return all_idle(); }, 2'000'000))
        << "not all were answered: " << unanswered();
    world_.run_ms(10'000);  // late copies arrive
  }

  void check_store() {
    for (int i = 0; i < kCounters; ++i) {
      const auto key = counter_key(static_cast<std::uint64_t>(i));
      const auto stored = world_.stored(key);
      const std::int64_t value = stored ? std::stoll(stored->value) : 0;
      EXPECT_GE(value, promises_.increments[key]) << "an acknowledged increment is missing";
      EXPECT_LE(value, promises_.increments[key] + promises_.uncertain[key])
          << "an increment happened that nobody was told of";
    }
    for (const auto& key : promises_.once) {
      const auto stored = world_.stored(key);
      ASSERT_TRUE(stored) << "an acknowledged put is missing";
      EXPECT_EQ(stored->version, 1) << "executed more than once";
    }
    for (const auto& key : promises_.never) {
      EXPECT_FALSE(world_.stored(key)) << "answered no, but executed";
    }
    for (const auto& mount : mounts_) {
      if (!mount.ended_at) {
        EXPECT_TRUE(mount.session->ended.empty()) << mount.session->ended.front().message;
        continue;
      }
      for (const auto& kv : world_.server->dump()) {
        if (contains(prefix_range(slot_key(mount.options, 0).substr(0, 16)), kv.key)) {
          EXPECT_LT(kv.mod_revision, *mount.ended_at) << "INV-3: written after the end";
        }
      }
      EXPECT_LE(mount.session->ended.size(), 1u);
    }
  }

  // Makes one more change of everything; then every cache must show what the store holds.
  void check_caches() {
    world_.outside_stamped({put(data_key("Zlast"), "1")});
    world_.run_ms(1000);
    for (auto& mount : mounts_) {
      if (mount.ended_at) continue;
      for (const auto& kv : world_.server->dump()) check_cached(mount, kv.key);
      for (int i = 0; i < kScratchKeys; ++i) {
        check_cached(mount, scratch_key(static_cast<std::uint64_t>(i)));
      }
    }
  }
  void check_cached(Mount& mount, const std::string& key) {
    const auto cached = mount.session->core().reader().peek(key);
    if (!cached) return;
    const auto stored = world_.stored(key);
    ASSERT_EQ(cached->value.has_value(), stored.has_value()) << to_hex(key);
    if (!stored) return;
    EXPECT_EQ(*cached->value, stored->value) << to_hex(key);
    EXPECT_EQ(cached->mod_revision, stored->mod_revision);
  }

  SessionWorld world_;
  env::SeededRandom random_;
  Promises promises_;
  std::vector<Mount> mounts_;
};

std::uint64_t env_number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(SessionProperty, ExactlyOnceCoherentAndNothingAfterTheEnd) {
  log::init("test", "error");
  const std::uint64_t only = env_number("SYMNAS_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t last = only != 0 ? only : env_number("SYMNAS_SEEDS", 300);
  std::int64_t increments = 0;
  std::int64_t conflicts = 0;
  std::int64_t refused = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("replay with SYMNAS_SEED=" + std::to_string(seed));
    Scenario scenario(seed);
    scenario.run();
    for (const auto& [key, count] : scenario.promises().increments) increments += count;
    conflicts += scenario.promises().conflicts;
    refused += scenario.promises().no_space;
    if (HasFailure()) break;
  }
  std::printf("%lld increments, %lld conflicts, %lld refused for space\n",
              static_cast<long long>(increments), static_cast<long long>(conflicts),
              static_cast<long long>(refused));
  EXPECT_GT(increments, 0);
}

// The same promise with real threads, whose interleaving the machine decides.
TEST(SessionProperty, ThreadsCountExactlyUnderFaults) {
  log::init("test", "error");
  SessionWorld world;  // for its server and the mount record only
  const auto options = world.new_mount();
  MemStoreOptions store_options;
  store_options.server = world.server;
  store_options.scheduler = std::make_shared<ThreadScheduler>();
  FaultWeights weights{.conflict = 50,
                       .unavailable = 50,
                       .request_lost = 50,
                       .reply_lost = 300,
                       .commit_late = 50,
                       .duplicate = 500,
                       .leader_change = 10,
                       .leader_change_txns = 3,
                       .watch_drop_revision = 50,
                       .watch_end = 50,
                       .watch_end_compacted = 20};
  store_options.faults = std::make_shared<SeededFaults>(1, weights);
  MemStore store(std::move(store_options));
  auto opened = Session::open(store, env::system_clock(), options, nullptr, 10'000);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto session = std::move(*opened);
  constexpr int kThreads = 6;
  constexpr int kIncrements = 150;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&session, t] {
      const auto key = counter_key(static_cast<std::uint64_t>(t % 2));
      for (int i = 0; i < kIncrements;) {
        const auto value = session->read(key);
        ASSERT_TRUE(value);
        const auto committed = session->commit_blocking(
            replace_mutation(key, value->value ? value->mod_revision : Revision(0),
                             std::to_string(number_of(*value) + 1)));
        ASSERT_TRUE(committed);
        if (committed->succeeded) ++i;
        if (i % 16 == 0) {
          ASSERT_TRUE(session->barrier());
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto stored = world.stored(counter_key(i));
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->value, std::to_string(kIncrements * kThreads / 2));
    EXPECT_EQ(stored->version, kIncrements * kThreads / 2);
  }
}

}  // namespace
}  // namespace symnas::kv
