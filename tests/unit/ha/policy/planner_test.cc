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
  ASSERT_GT(scenarios.size(), 40u);
  std::set<std::string> titles;
  for (const Scenario& scenario : scenarios) {
    EXPECT_TRUE(titles.insert(scenario.title).second) << scenario.title << ": twice";
    const auto facts = parse_facts(scenario.facts);
    ASSERT_TRUE(facts) << scenario.title << ": " << facts.error().message;
    EXPECT_EQ(render(plan(*facts)), scenario.places) << scenario.title;
  }
}

class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {
    const int heads = 1 + pick(6);
    for (int i = 0; i < heads; ++i) {
      names_.push_back("h" + std::to_string(i));
      facts.heads[names_.back()] = static_cast<HeadState>(pick(3));
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
    return out;
  }
  std::mt19937 random_;
  std::vector<std::string> names_;
};

constexpr unsigned kClusters = 20'000;

TEST(PlannerProperty, NobodyIsDisturbedWithoutAReason) {
  for (unsigned seed = 0; seed < kClusters; ++seed) {
    const Facts facts = RandomCluster(seed).facts;
    for (const auto& [name, place] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (vnfs.stopped || vnfs.owner.empty()) continue;
      if (place.head == vnfs.owner) continue;
      const bool ordered = place.reason == Reason::kOrdered && place.head == vnfs.target;
      const bool drained =
          place.reason == Reason::kDrained && facts.heads.at(vnfs.owner) == HeadState::kDraining;
      EXPECT_TRUE(ordered || drained) << "seed " << seed << ", " << name;
    }
  }
}

TEST(PlannerProperty, OnlyServingHeadsGetAnythingNew) {
  for (unsigned seed = 0; seed < kClusters; ++seed) {
    const Facts facts = RandomCluster(seed).facts;
    for (const auto& [name, place] : plan(facts)) {
      const VnfsFacts& vnfs = facts.vnfses.at(name);
      if (place.head.empty() || place.head == vnfs.owner) continue;
      EXPECT_EQ(facts.heads.at(place.head), HeadState::kServing) << "seed " << seed << ", " << name;
    }
  }
}

// No ping-pong: what was planned and then done is planned again.
TEST(PlannerProperty, APlanThatWasCarriedOutStands) {
  for (unsigned seed = 0; seed < kClusters; ++seed) {
    Facts facts = RandomCluster(seed).facts;
    const auto first = plan(facts);
    for (const auto& [name, place] : first) {
      VnfsFacts& vnfs = facts.vnfses.at(name);
      if (place.reason == Reason::kHeld) continue;
      vnfs.owner = place.head;
      vnfs.target.clear();
    }
    for (const auto& [name, place] : plan(facts)) {
      EXPECT_EQ(place.head, first.at(name).head) << "seed " << seed << ", " << name;
    }
  }
}

TEST(FactsTextTest, SaysWhatIsWrongInALine) {
  for (const char* text : {"head", "head lost", "head a a", "vnfs", "vnfs v", "vnfs v on",
                           "vnfs v on a over b", "vnfs v on a\nvnfs v on b", "node a"}) {
    const auto facts = parse_facts(text);
    ASSERT_FALSE(facts) << text;
    EXPECT_EQ(facts.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(facts.error().message.find("facts: '"), std::string::npos) << facts.error().message;
  }
}

}  // namespace
}  // namespace symnas::ha
