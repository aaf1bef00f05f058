// The planner against the scenarios in scenarios.txt, and its invariants over random clusters.
#include "ha/policy/planner.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "ha/policy/facts_text.h"

namespace symnas::ha {
namespace {

struct Scenario {
  std::string title;
  std::string facts;
  std::string places;
};

std::vector<Scenario> read_scenarios(const std::string& path) {
  std::ifstream file(path);
  std::vector<Scenario> scenarios;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      scenarios.push_back({line.substr(3), "", ""});
    } else if (line.starts_with("=> ")) {
      scenarios.back().places += line.substr(3) + '\n';
    } else if (!scenarios.empty()) {
      scenarios.back().facts += line + '\n';
    }
  }
  return scenarios;
}

TEST(PlannerTest, DecidesEachScenarioAsWritten) {
  const auto scenarios = read_scenarios(SYMNAS_SCENARIOS);
  ASSERT_GE(scenarios.size(), 100u);
  std::set<std::string> titles;
  std::set<std::string> texts;
  for (const Scenario& scenario : scenarios) {
    EXPECT_TRUE(titles.insert(scenario.title).second) << scenario.title << ": twice";
    const bool distributes = scenario.title.starts_with("distribute");
    EXPECT_TRUE(texts.insert((distributes ? "distribute\n" : "") + scenario.facts).second)
        << scenario.title << ": another scenario has the same facts";
    const auto facts = parse_facts(scenario.facts);
    ASSERT_TRUE(facts) << scenario.title << ": " << facts.error().message;
    EXPECT_EQ(render(distributes ? distribute(*facts) : plan(*facts)), scenario.places)
        << scenario.title;
  }
}

class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {
    const int heads = 1 + pick(6);
    for (int i = 0; i < heads; ++i) {
      names_.push_back("h" + std::to_string(i));
      facts.heads[names_.back()] = static_cast<HeadState>(pick(3));
      if (pick(2) == 0) facts.settled.insert(names_.back());
    }
    const int vnfses = 1 + pick(10);
    for (int i = 0; i < vnfses; ++i) facts.vnfses["v" + std::to_string(i)] = vnfs();
  }
  Facts facts;

 private:
  int pick(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string any_head() { return names_[static_cast<std::size_t>(pick(int(names_.size())))]; }
  VnfsFacts vnfs() {
    VnfsFacts out;
    out.heads = names_;
    std::shuffle(out.heads.begin(), out.heads.end(), random_);
    out.heads.resize(static_cast<std::size_t>(1 + pick(int(names_.size()))));
    if (pick(2) == 0) out.owner = any_head();
    if (pick(4) == 0) out.target = any_head();
    out.stopped = pick(8) == 0;
    for (const std::string& head : out.heads) {
      if (pick(6) == 0) out.blind.insert(head);
      if (pick(6) == 0) out.refused.insert(head);
    }
    if (pick(2) == 0) out.failback = Failback::kAuto;
    if (pick(4) == 0) out.pinned = any_head();
    out.ailing = !out.owner.empty() && pick(5) == 0;
    if (out.ailing) out.blind.insert(out.owner);
    return out;
  }
  std::mt19937 random_;
  std::vector<std::string> names_;
};

constexpr unsigned kClusters = 6'000;

template <class Check>
void for_each_cluster(const Check& check) {
  for (unsigned seed = 0; seed < kClusters; ++seed) {
    SCOPED_TRACE(seed);
    check(RandomCluster(seed).facts);
    if (::testing::Test::HasFailure()) return;  // one seed is enough
  }
}

// Whether the owner could send the VNFS to that head now.
bool can_take(const Facts& facts, const VnfsFacts& vnfs, const std::string& head) {
  return facts.heads.contains(head) && facts.heads.at(head) == HeadState::kServing &&
         !vnfs.blind.contains(head) && !vnfs.refused.contains(head);
}

std::ptrdiff_t index_of(const VnfsFacts& vnfs, const std::string& head) {
  return std::find(vnfs.heads.begin(), vnfs.heads.end(), head) - vnfs.heads.begin();
}

// The facts after the whole plan was carried out; held VNFSs stay held.
Facts carried_out(Facts facts, const std::map<std::string, Place>& places) {
  for (const auto& [name, place] : places) {
    if (place.reason == Reason::kHeld) continue;
    VnfsFacts& vnfs = facts.vnfses.at(name);
    if (vnfs.owner != place.head) vnfs.ailing = false;
    vnfs.owner = place.head;
    vnfs.target.clear();
  }
  return facts;
}

TEST(PlannerProperty, EveryVnfsHasOnePlace) {
  for_each_cluster([](const Facts& facts) {
    const auto places = plan(facts);
    ASSERT_EQ(places.size(), facts.vnfses.size());
    for (const auto& [name, vnfs] : facts.vnfses) EXPECT_TRUE(places.contains(name)) << name;
  });
}

TEST(PlannerProperty, NobodyIsDisturbedWithoutAReason) {
  for_each_cluster([](const Facts& facts) {
    for (const auto& [name, place] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (vnfs.stopped || vnfs.owner.empty() || place.head == vnfs.owner) continue;
      const bool ordered = place.reason == Reason::kOrdered && place.head == vnfs.target;
      const bool drained =
          place.reason == Reason::kDrained && facts.heads.at(vnfs.owner) == HeadState::kDraining;
      const bool back = place.reason == Reason::kFailback && vnfs.failback == Failback::kAuto &&
                        vnfs.pinned != vnfs.owner && facts.settled.contains(place.head) &&
                        index_of(vnfs, place.head) < index_of(vnfs, vnfs.owner);
      const bool ailing = place.reason == Reason::kAiling && vnfs.ailing &&
                          facts.heads.at(vnfs.owner) == HeadState::kServing;
      EXPECT_TRUE(ordered || drained || back || ailing) << name;
      if (!ordered) {
        EXPECT_TRUE(needs_order(place.reason) && can_take(facts, vnfs, place.head)) << name;
      }
    }
  });
}

TEST(PlannerProperty, OnlyServingHeadsGetAnythingNewUnlessNobodyElseCan) {
  for_each_cluster([](const Facts& facts) {
    for (const auto& [name, place] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (place.head.empty() || place.head == vnfs.owner) continue;
      if (place.reason != Reason::kForced) {
        EXPECT_EQ(facts.heads.at(place.head), HeadState::kServing) << name;
        continue;
      }
      EXPECT_EQ(facts.heads.at(place.head), HeadState::kDraining) << name;
      for (const std::string& head : vnfs.heads) {
        const bool sees = !vnfs.blind.contains(head) || vnfs.blind.contains(place.head);
        EXPECT_FALSE(sees && facts.heads.at(head) == HeadState::kServing) << name;
      }
    }
  });
}

TEST(PlannerProperty, ADrainedHeadKeepsNothingThatAnotherCanTake) {
  for_each_cluster([](const Facts& facts) {
    for (const auto& [name, place] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (place.head.empty() || facts.heads.at(place.head) != HeadState::kDraining) continue;
      for (const std::string& head : vnfs.heads) {
        EXPECT_FALSE(!vnfs.owner.empty() && can_take(facts, vnfs, head)) << name;
      }
    }
  });
}

TEST(PlannerProperty, NobodyIsLeftWithoutAServerBecauseOfADrain) {
  for_each_cluster([](Facts facts) {
    for (auto& [name, vnfs] : facts.vnfses) vnfs.target.clear();
    const auto with = plan(facts);
    for (auto& [name, state] : facts.heads) {
      if (state == HeadState::kDraining) state = HeadState::kServing;
    }
    const auto without = plan(facts);
    for (const auto& [name, place] : with) {
      EXPECT_EQ(place.head.empty(), without.at(name).head.empty()) << name;
    }
  });
}

std::size_t share_of(const Facts& facts) {
  std::size_t serving = 0;
  std::size_t wanted = 0;
  for (const auto& [name, state] : facts.heads) serving += state == HeadState::kServing ? 1 : 0;
  for (const auto& [name, vnfs] : facts.vnfses) wanted += vnfs.stopped ? 0 : 1;
  return serving == 0 ? wanted : (wanted + serving - 1) / serving;
}

bool is_new(const Place& place) {
  return place.reason == Reason::kFirst || place.reason == Reason::kBalanced ||
         place.reason == Reason::kDrained || place.reason == Reason::kAiling;
}

TEST(PlannerProperty, NoHeadIsGivenMoreThanItsShareUnlessAllHaveTheirs) {
  for_each_cluster([](Facts facts) {
    for (auto& [name, vnfs] : facts.vnfses) vnfs.failback = Failback::kManual;
    const std::size_t share = share_of(facts);
    const auto places = plan(facts);
    std::map<std::string, std::size_t> loads;
    for (const auto& [name, place] : places) loads[place.head] += is_new(place) ? 0 : 1;
    for (const auto& [name, place] : places) {
      if (!is_new(place)) continue;
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (loads[place.head] >= share) {
        for (const std::string& head : vnfs.heads) {
          EXPECT_TRUE(loads[head] >= share || !can_take(facts, vnfs, head)) << name << " " << head;
        }
      }
      ++loads[place.head];
    }
  });
}

TEST(PlannerProperty, FailbackGivesNobodyMoreThanItsShare) {
  for_each_cluster([](const Facts& facts) {
    const auto places = plan(facts);
    std::map<std::string, std::size_t> loads;
    for (const auto& [name, place] : places) ++loads[place.head];
    for (const auto& [name, place] : places) {
      if (place.reason != Reason::kFailback) continue;
      EXPECT_LE(loads[place.head], share_of(facts)) << name;
    }
  });
}

// No ping-pong: after at most two rounds (orders are carried out first) nothing moves any more.
TEST(PlannerProperty, APlanThatWasCarriedOutStands) {
  for_each_cluster([](const Facts& facts) {
    bool orders = false;
    for (const auto& [name, vnfs] : facts.vnfses) orders = orders || !vnfs.target.empty();
    Facts now = carried_out(facts, plan(facts));
    if (orders) now = carried_out(now, plan(now));
    const auto last = plan(now);
    for (const auto& [name, place] : last) {
      EXPECT_FALSE(needs_order(place.reason)) << name;
      if (place.reason == Reason::kHeld || place.reason == Reason::kStopped) continue;
      EXPECT_EQ(place.head, now.vnfses.at(name).owner) << name;
    }
  });
}

// The heads carry out their parts of the plan in any order, and the plan changes in between.
TEST(PlannerProperty, OneMoveAfterTheOtherEndsToo) {
  for_each_cluster([](Facts facts) {
    const std::size_t bound = 2 * facts.vnfses.size() * (facts.heads.size() + 1);
    for (std::size_t moves = 0; moves <= bound; ++moves) {
      const auto places = plan(facts);
      const auto next = std::find_if(places.begin(), places.end(), [&](const auto& entry) {
        const VnfsFacts& vnfs = facts.vnfses.at(entry.first);
        return entry.second.reason != Reason::kHeld && entry.second.head != vnfs.owner;
      });
      if (next == places.end()) return;
      ASSERT_LT(moves, bound) << next->first << " goes to and fro";
      facts = carried_out(facts, {*next});
    }
  });
}

TEST(PlannerProperty, ADistributionStandsAndDisturbsNobodyForNothing) {
  for_each_cluster([](Facts facts) {
    for (auto& [name, vnfs] : facts.vnfses) vnfs.target.clear();
    facts = carried_out(facts, plan(facts));
    const auto moves = distribute(facts);
    for (const auto& [name, place] : moves) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      EXPECT_EQ(place.reason, Reason::kDistributed);
      EXPECT_NE(place.head, vnfs.owner) << name;
      EXPECT_TRUE(can_take(facts, vnfs, place.head)) << name;
      EXPECT_EQ(facts.heads.at(vnfs.owner), HeadState::kServing) << name;
    }
    const Facts then = carried_out(facts, moves);
    EXPECT_EQ(render(distribute(then)), "");
    for (const auto& [name, place] : plan(then)) EXPECT_FALSE(needs_order(place.reason)) << name;
  });
}

TEST(PlannerProperty, TheSameFactsAreDecidedTheSameEverywhere) {
  for_each_cluster([](const Facts& facts) {
    const Facts copy = facts;
    EXPECT_EQ(plan(facts), plan(copy));
    EXPECT_EQ(distribute(facts), distribute(copy));
  });
}

TEST(FactsTextTest, SaysWhatIsWrongInALine) {
  for (const char* text :
       {"head", "head lost", "head a a", "vnfs", "vnfs v", "vnfs v on", "vnfs v on a over b",
        "vnfs v on a\nvnfs v on b", "node a", "head settled", "vnfs v on a pinned",
        "vnfs v on a refused", "vnfs v auto"}) {
    const auto facts = parse_facts(text);
    ASSERT_FALSE(facts) << text;
    EXPECT_EQ(facts.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(facts.error().message.find("facts: '"), std::string::npos) << facts.error().message;
  }
}

}  // namespace
}  // namespace symnas::ha
