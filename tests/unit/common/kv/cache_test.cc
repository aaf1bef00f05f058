#include "common/kv/cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace symnas::kv {
namespace {

Cache::Fact present(const std::string& value, std::int64_t mod) { return {value, Revision(mod)}; }
Cache::Fact absent(std::int64_t at) { return {std::nullopt, Revision(at)}; }

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() { cache_.open(Revision(10)); }

  void event(const std::string& key, Cache::Fact fact) {
    const Revision at = fact.order;
    cache_.begin_events(at);
    cache_.apply_events({{key, std::move(fact)}});
    cache_.end_events(at);
  }
  std::string value(const std::string& key) {
    const auto known = cache_.peek(key);
    if (!known) return "unknown";
    return known->value ? *known->value : "absent";
  }

  Cache cache_{1 << 20};
};

TEST_F(CacheTest, TheHigherRevisionWinsInWhateverOrder) {
  cache_.offer({{"k", present("b", 20)}}, Revision(20), cache_.life());
  cache_.offer({{"k", present("a", 15)}}, Revision(16), cache_.life());
  EXPECT_EQ(value("k"), "b");
  event("k", present("c", 21));
  EXPECT_EQ(value("k"), "c");
  event("k", absent(22));
  EXPECT_EQ(value("k"), "absent");
  cache_.offer({{"k", present("b", 20)}}, Revision(20), cache_.life());
  EXPECT_EQ(value("k"), "absent") << "a tombstone holds against older facts";
}

TEST_F(CacheTest, AnAbsenceIsAsNewAsTheReadThatSawIt) {
  cache_.offer({{"k", absent(30)}}, Revision(30), cache_.life());
  event("k", present("old", 25));
  EXPECT_EQ(value("k"), "absent");
  event("k", present("new", 31));
  EXPECT_EQ(value("k"), "new");
}

TEST_F(CacheTest, TheEventThatOvertakesALoadIsKept) {
  const auto pin = cache_.pin("k");
  EXPECT_EQ(value("k"), "unknown");
  event("k", present("new", 12));
  const auto settled = cache_.settle("k", present("old", 11), Revision(11), cache_.life());
  EXPECT_EQ(settled.value, "new");
  EXPECT_EQ(settled.mod_revision, Revision(12));
  cache_.unpin("k", pin);
  EXPECT_EQ(value("k"), "new");
}

TEST_F(CacheTest, AFactOlderThanTheWatchDoesNotEnter) {
  cache_.begin_events(Revision(15));
  cache_.offer({{"k", present("a", 12)}}, Revision(14), cache_.life());
  EXPECT_EQ(value("k"), "unknown") << "an event up to 15 may have been ignored";
  EXPECT_EQ(cache_.entries(), 0);
  const auto settled = cache_.settle("k", present("a", 12), Revision(14), cache_.life());
  EXPECT_EQ(settled.value, "a") << "but it answers the read";
  cache_.offer({{"k", present("a", 12)}}, Revision(15), cache_.life());
  EXPECT_EQ(value("k"), "a");
}

TEST_F(CacheTest, AnEntryRefusesFactsFromBeforeItsBirth) {
  cache_.begin_events(Revision(15));
  const auto pin = cache_.pin("k");
  cache_.offer({{"k", present("a", 12)}}, Revision(14), cache_.life());
  EXPECT_EQ(value("k"), "unknown");
  event("k", present("b", 16));
  EXPECT_EQ(value("k"), "b");
  cache_.unpin("k", pin);
}

// A watch opened at a member that lags repeats events that are older than the opening of the cache.
TEST_F(CacheTest, AnEventFromBeforeTheBirthMakesNothingKnown) {
  const auto pin = cache_.pin("k");
  cache_.apply_events({{"k", present("old", 9)}});
  EXPECT_EQ(value("k"), "unknown") << "a newer change up to 10 may be still to come";
  cache_.unpin("k", pin);
}

TEST_F(CacheTest, ClosedItKnowsNothingAndTakesNothing) {
  const auto pin = cache_.pin("k");
  cache_.offer({{"k", present("a", 20)}}, Revision(20), cache_.life());
  cache_.close();
  EXPECT_EQ(value("k"), "unknown");
  cache_.offer({{"k", present("a", 20)}}, Revision(20), cache_.life());
  EXPECT_EQ(cache_.pin("k"), 0u);
  EXPECT_EQ(value("k"), "unknown");
  cache_.open(Revision(30));
  cache_.offer({{"k", present("a", 20)}}, Revision(29), cache_.life());
  EXPECT_EQ(value("k"), "unknown") << "from before the new watch";
  const auto second = cache_.pin("k");
  cache_.unpin("k", pin);  // of the first life: must not touch the second
  cache_.offer({{"k", present("b", 25)}}, Revision(30), cache_.life());
  cache_.unpin("k", second);
  EXPECT_EQ(value("k"), "b");
}

// A barrier may have passed while the cache was closed: the answer to an earlier request must not
// be seen after it.
TEST_F(CacheTest, AnAnswerToARequestFromBeforeTheOpeningDoesNotEnter) {
  const auto before = cache_.life();
  cache_.close();
  const auto closed = cache_.life();
  EXPECT_EQ(closed, 0u);
  cache_.open(Revision(10));
  cache_.offer({{"k", present("a", 20)}}, Revision(20), before);
  cache_.offer({{"k", present("a", 20)}}, Revision(20), closed);
  EXPECT_EQ(cache_.settle("k", present("a", 20), Revision(20), before).value, "a");
  EXPECT_EQ(value("k"), "unknown");
  cache_.offer({{"k", present("a", 20)}}, Revision(20), cache_.life());
  EXPECT_EQ(value("k"), "a");
}

TEST_F(CacheTest, AfterSuchAnAnswerNothingOlderEnters) {
  const auto before = cache_.life();
  cache_.close();
  cache_.open(Revision(10));
  cache_.offer({{"known", present("a", 15)}}, Revision(15), cache_.life());
  cache_.offer({{"known", present("own", 20)}}, Revision(20), before);
  EXPECT_EQ(value("known"), "own");
  const auto pin = cache_.pin("loading");
  cache_.offer({{"loading", present("own", 20)}}, Revision(20), before);
  EXPECT_EQ(value("loading"), "unknown");
  cache_.offer({{"loading", present("a", 15)}}, Revision(19), cache_.life());
  EXPECT_EQ(value("loading"), "unknown") << "older than an own write that has been answered";
  cache_.offer({{"loading", present("own", 20)}}, Revision(21), cache_.life());
  EXPECT_EQ(value("loading"), "own");
  cache_.unpin("loading", pin);
}

TEST_F(CacheTest, ALoadingEntryThatLearntNothingLeavesNoTrace) {
  const auto pin = cache_.pin("k");
  EXPECT_EQ(cache_.entries(), 1);
  cache_.unpin("k", pin);
  EXPECT_EQ(cache_.entries(), 0);
  EXPECT_EQ(cache_.bytes(), 0);
}

TEST_F(CacheTest, ForgetDropsOnlyWhatIsOlder) {
  cache_.offer({{"k", present("a", 20)}}, Revision(20), cache_.life());
  cache_.forget("k", Revision(15));
  EXPECT_EQ(value("k"), "a");
  cache_.forget("k", Revision(25));
  EXPECT_EQ(value("k"), "unknown");
  const auto pin = cache_.pin("k");
  cache_.offer({{"k", present("a", 20)}}, Revision(20), cache_.life());
  cache_.forget("k", Revision(25));
  cache_.offer({{"k", present("a", 20)}}, Revision(24), cache_.life());
  EXPECT_EQ(value("k"), "unknown") << "it proved wrong at 25";
  cache_.offer({{"k", present("a", 20)}}, Revision(26), cache_.life());
  EXPECT_EQ(value("k"), "a");
  cache_.unpin("k", pin);
}

TEST_F(CacheTest, ChangedSince) {
  EXPECT_FALSE(cache_.changed_since("k", Revision(5)));
  cache_.offer({{"k", present("a", 20)}}, Revision(20), cache_.life());
  EXPECT_TRUE(cache_.changed_since("k", Revision(19)));
  EXPECT_FALSE(cache_.changed_since("k", Revision(20)));
}

// Facts of one transaction: whoever finds one of them finds all of them.
class CacheTogether : public ::testing::Test {
 protected:
  // Enough for dozens of switches between the threads even where they share a CPU.
  static constexpr std::int64_t kLooks = 150'000;
  CacheTogether() { cache_.open(Revision(1)); }

  // Looks at the keys one after the other while `change` goes on: none may be behind the one
  // before.
  void look_while(const std::function<void(std::int64_t round)>& change) {
    std::atomic<bool> done{false};
    std::thread looker([&] {
      for (std::int64_t i = 0; i < kLooks; ++i) {
        Revision newest;
        for (const std::string& key : keys_) {
          const auto known = cache_.peek(key);
          if (!known) continue;
          if (known->mod_revision < newest) ++torn_;
          newest = known->mod_revision;
        }
      }
      done = true;
    });
    for (std::int64_t round = 2; !done; ++round) change(round);
    looker.join();
  }
  std::vector<Cache::KeyFact> all(std::int64_t revision) const {
    std::vector<Cache::KeyFact> facts;
    for (const std::string& key : keys_) facts.push_back({key, present("v", revision)});
    return facts;
  }

  Cache cache_{1 << 20};
  const std::vector<std::string> keys_{"a", "b", "c", "d", "e", "f", "g", "h"};
  std::atomic<int> torn_{0};
};

TEST_F(CacheTogether, FactsOfOneTransaction) {
  look_while([&](std::int64_t round) { cache_.offer(all(round), Revision(round), cache_.life()); });
  EXPECT_EQ(torn_, 0);
}

TEST_F(CacheTogether, EventsOfOneRevision) {
  cache_.offer(all(1), Revision(1), cache_.life());
  look_while([&](std::int64_t round) {
    cache_.begin_events(Revision(round));
    cache_.apply_events(all(round));
    cache_.end_events(Revision(round));
  });
  EXPECT_EQ(torn_, 0);
}

TEST(CacheEviction, StaysWithinItsBytesAndSparesWhatItMust) {
  constexpr std::int64_t kBytes = 64 * 1024;
  Cache cache(kBytes);
  cache.open(Revision(10));
  cache.end_events(Revision(100));
  const auto pin = cache.pin("pinned");
  // Not passed by the watch yet.
  cache.offer({{"own", present("mine", 200)}}, Revision(200), cache.life());
  for (int i = 0; i < 5000; ++i) {
    const std::string key = "key" + std::to_string(i);
    cache.offer({{key, present(std::string(100, 'x'), 50)}}, Revision(300), cache.life());
  }
  EXPECT_LT(cache.bytes(), 2 * kBytes);
  EXPECT_GT(cache.entries(), 50);
  EXPECT_TRUE(cache.peek("own"));
  cache.offer({{"pinned", present("a", 20)}}, Revision(300), cache.life());
  EXPECT_TRUE(cache.peek("pinned"));
  cache.unpin("pinned", pin);
}

}  // namespace
}  // namespace symnas::kv
