#include "ha/detection/corosync/witness.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

const CorosyncWitness::Heads kHeads = {
    {"c1n1", {"10.0.0.1"}}, {"c1n2", {"10.0.0.2"}}, {"c1n3", {"10.0.0.3"}}};

class CorosyncWitnessTest : public ::testing::Test {
 protected:
  // Which of the three nodes are members.
  void say(bool first, bool second, bool third, bool quorate = true) {
    now_ms += 100;
    witness.told({quorate,
                  {{1, "c1n1", {"10.0.0.1"}, first},
                   {2, "c1n2", {"10.0.0.2"}, second},
                   {3, "c1n3", {"10.0.0.3"}, third}}},
                 now_ms);
  }
  CorosyncSight look() { return witness.sight(kHeads, now_ms); }

  std::int64_t now_ms = 1'000;
  CorosyncWitness witness;
};

TEST_F(CorosyncWitnessTest, NothingIsKnownAtFirst) {
  EXPECT_EQ(look().error, "has not answered yet");
  EXPECT_FALSE(look().has_lost("c1n3", 0));
}

TEST_F(CorosyncWitnessTest, AMemberThatHasGoneIsLostSinceThen) {
  say(true, true, true);
  EXPECT_EQ(look().heads.at("c1n3").state, CorosyncState::kMember);
  say(true, true, false);
  const std::int64_t lost_ms = now_ms;
  say(true, true, false);
  EXPECT_EQ(look().heads.at("c1n3").state, CorosyncState::kLost);
  EXPECT_EQ(look().heads.at("c1n3").lost_ms, lost_ms);
  EXPECT_TRUE(look().has_lost("c1n3", lost_ms - 1));
  EXPECT_FALSE(look().has_lost("c1n3", lost_ms + 1)) << "it was heard after that";
  say(true, true, true);
  EXPECT_FALSE(look().has_lost("c1n3", 0));
}

TEST_F(CorosyncWitnessTest, WhatHasNeverJoinedIsNotLost) {
  say(true, true, false);
  say(true, true, false);
  EXPECT_EQ(look().heads.at("c1n3").state, CorosyncState::kAbsent);
  EXPECT_FALSE(look().has_lost("c1n3", 0));
}

TEST_F(CorosyncWitnessTest, AMinorityHasLostNobody) {
  say(true, true, true);
  say(true, false, false, false);
  EXPECT_FALSE(look().has_lost("c1n3", 0));
  say(true, true, false);
  EXPECT_TRUE(look().has_lost("c1n3", 0));
}

TEST_F(CorosyncWitnessTest, WhatWasSaidLongAgoIsNoKnowledge) {
  say(true, true, true);
  say(true, true, false);
  now_ms += kCorosyncFreshMs + 1;
  EXPECT_EQ(look().error, "does not answer");
  EXPECT_TRUE(look().heads.empty());
  EXPECT_FALSE(look().has_lost("c1n3", 0));
}

TEST_F(CorosyncWitnessTest, AnEndForgetsWhoWasAMember) {
  say(true, true, true);
  witness.ended("corosync has ended");
  EXPECT_EQ(look().error, "corosync has ended");
  say(true, true, false);
  EXPECT_EQ(look().error, "");
  EXPECT_EQ(look().heads.at("c1n3").state, CorosyncState::kAbsent);
}

TEST_F(CorosyncWitnessTest, ANodeIsKnownByNameThenByAddress) {
  witness.told({true,
                {{7, "c1n1", {"192.0.2.1"}, true},
                 {8, "two", {"192.0.2.2", "10.0.0.2"}, true},
                 {9, "", {"192.0.2.9"}, true},
                 {10, "elsewhere", {"10.0.0.1"}, true}}},
               now_ms);
  const CorosyncSight sight = look();
  EXPECT_EQ(sight.heads.at("c1n1").state, CorosyncState::kMember);
  EXPECT_EQ(sight.heads.at("c1n2").state, CorosyncState::kMember);
  EXPECT_EQ(sight.no_node, std::vector<std::string>{"c1n3"});
  EXPECT_EQ(sight.strangers, (std::vector<std::string>{"node 9", "node elsewhere"}));
}

}  // namespace
}  // namespace symnas::ha
