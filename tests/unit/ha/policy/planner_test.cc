// The planner against the scenarios in scenarios.txt, and its invariants over random clusters.
#include "ha/policy/planner.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/ha/policy/facts_text.h"

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
Facts carried_out(Facts facts, const std::map<std::string, Assignment>& assignments) {
  for (const auto& [name, assignment] : assignments) {
    if (assignment.reason == Reason::kHeld) continue;
    VnfsFacts& vnfs = facts.vnfses.at(name);
    if (vnfs.owner != assignment.head) vnfs.ailing = false;
    vnfs.owner = assignment.head;
    vnfs.target.clear();
  }
  return facts;
}

TEST(PlannerProperty, EveryVnfsHasOnePlace) {
  for_each_cluster([](const Facts& facts) {
    const auto assignments = plan(facts);
    ASSERT_EQ(assignments.size(), facts.vnfses.size());
    for (const auto& [name, vnfs] : facts.vnfses) EXPECT_TRUE(assignments.contains(name)) << name;
  });
}

TEST(PlannerProperty, NobodyIsDisturbedWithoutAReason) {
  for_each_cluster([](const Facts& facts) {
    for (const auto& [name, assignment] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (vnfs.stopped || vnfs.owner.empty() || assignment.head == vnfs.owner) continue;
      const bool ordered = assignment.reason == Reason::kOrdered && assignment.head == vnfs.target;
      const bool drained = assignment.reason == Reason::kDrained &&
                           facts.heads.at(vnfs.owner) == HeadState::kDraining;
      const bool back = assignment.reason == Reason::kFailback &&
                        vnfs.failback == Failback::kAuto && vnfs.pinned != vnfs.owner &&
                        facts.settled.contains(assignment.head) &&
                        index_of(vnfs, assignment.head) < index_of(vnfs, vnfs.owner);
      const bool ailing = assignment.reason == Reason::kAiling && vnfs.ailing &&
                          facts.heads.at(vnfs.owner) == HeadState::kServing;
      EXPECT_TRUE(ordered || drained || back || ailing) << name;
      if (!ordered) {
        EXPECT_TRUE(needs_order(assignment.reason) && can_take(facts, vnfs, assignment.head))
            << name;
      }
    }
  });
}

TEST(PlannerProperty, OnlyServingHeadsGetAnythingNewUnlessNobodyElseCan) {
  for_each_cluster([](const Facts& facts) {
    for (const auto& [name, assignment] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (assignment.head.empty() || assignment.head == vnfs.owner) continue;
      if (assignment.reason != Reason::kForced) {
        EXPECT_EQ(facts.heads.at(assignment.head), HeadState::kServing) << name;
        continue;
      }
      EXPECT_EQ(facts.heads.at(assignment.head), HeadState::kDraining) << name;
      for (const std::string& head : vnfs.heads) {
        const bool sees = !vnfs.blind.contains(head) || vnfs.blind.contains(assignment.head);
        EXPECT_FALSE(sees && facts.heads.at(head) == HeadState::kServing) << name;
      }
    }
  });
}

TEST(PlannerProperty, ADrainedHeadKeepsNothingThatAnotherCanTake) {
  for_each_cluster([](const Facts& facts) {
    for (const auto& [name, assignment] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (assignment.head.empty() || facts.heads.at(assignment.head) != HeadState::kDraining)
        continue;
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
    for (const auto& [name, assignment] : with) {
      EXPECT_EQ(assignment.head.empty(), without.at(name).head.empty()) << name;
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

bool is_new(const Assignment& assignment) {
  return assignment.reason == Reason::kFirst || assignment.reason == Reason::kBalanced ||
         assignment.reason == Reason::kDrained || assignment.reason == Reason::kAiling;
}

TEST(PlannerProperty, NoHeadIsGivenMoreThanItsShareUnlessAllHaveTheirs) {
  for_each_cluster([](Facts facts) {
    for (auto& [name, vnfs] : facts.vnfses) vnfs.failback = Failback::kManual;
    const std::size_t share = share_of(facts);
    const auto assignments = plan(facts);
    std::map<std::string, std::size_t> loads;
    for (const auto& [name, assignment] : assignments)
      loads[assignment.head] += is_new(assignment) ? 0 : 1;
    for (const auto& [name, assignment] : assignments) {
      if (!is_new(assignment)) continue;
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (loads[assignment.head] >= share) {
        for (const std::string& head : vnfs.heads) {
          EXPECT_TRUE(loads[head] >= share || !can_take(facts, vnfs, head)) << name << " " << head;
        }
      }
      ++loads[assignment.head];
    }
  });
}

TEST(PlannerProperty, FailbackGivesNobodyMoreThanItsShare) {
  for_each_cluster([](const Facts& facts) {
    const auto assignments = plan(facts);
    std::map<std::string, std::size_t> loads;
    for (const auto& [name, assignment] : assignments) ++loads[assignment.head];
    for (const auto& [name, assignment] : assignments) {
      if (assignment.reason != Reason::kFailback) continue;
      EXPECT_LE(loads[assignment.head], share_of(facts)) << name;
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
    for (const auto& [name, assignment] : last) {
      EXPECT_FALSE(needs_order(assignment.reason)) << name;
      if (assignment.reason == Reason::kHeld || assignment.reason == Reason::kStopped) continue;
      EXPECT_EQ(assignment.head, now.vnfses.at(name).owner) << name;
    }
  });
}

// The heads carry out their parts of the plan in any order, and the plan changes in between.
TEST(PlannerProperty, OneMoveAfterTheOtherEndsToo) {
  for_each_cluster([](Facts facts) {
    const std::size_t bound = 2 * facts.vnfses.size() * (facts.heads.size() + 1);
    for (std::size_t moves = 0; moves <= bound; ++moves) {
      const auto assignments = plan(facts);
      const auto next =
          std::find_if(assignments.begin(), assignments.end(), [&](const auto& entry) {
            const VnfsFacts& vnfs = facts.vnfses.at(entry.first);
            return entry.second.reason != Reason::kHeld && entry.second.head != vnfs.owner;
          });
      if (next == assignments.end()) return;
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
    for (const auto& [name, assignment] : moves) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      EXPECT_EQ(assignment.reason, Reason::kDistributed);
      EXPECT_NE(assignment.head, vnfs.owner) << name;
      EXPECT_TRUE(can_take(facts, vnfs, assignment.head)) << name;
      EXPECT_EQ(facts.heads.at(vnfs.owner), HeadState::kServing) << name;
    }
    const Facts then = carried_out(facts, moves);
    EXPECT_EQ(render(distribute(then)), "");
    for (const auto& [name, assignment] : plan(then))
      EXPECT_FALSE(needs_order(assignment.reason)) << name;
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
