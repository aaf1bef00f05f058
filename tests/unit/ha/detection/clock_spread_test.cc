#include "ha/detection/clock_spread.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

constexpr std::int64_t kS = 1'000'000'000;
constexpr std::int64_t kNoon = 1'000'000 * kS;  // wall clock when the monotonic one shows 0

class ClockSpreadTest : public ::testing::Test {
 protected:
  // The head says that its clock is so much ahead of the right time.
  void say(const std::string& head, std::int64_t ahead_ns, std::int64_t on_its_way_ns = 0) {
    spread.heard(head, kNoon + now_ns - on_its_way_ns + ahead_ns, now_ns);
  }
  // What is to be gone by, ahead of the right time; this head's own clock is `own_ns` ahead.
  std::int64_t agreed(std::int64_t own_ns) {
    const auto sight = spread.look(kNoon + now_ns + own_ns, now_ns);
    EXPECT_TRUE(sight);
    return sight ? sight->base_ns - kNoon : -1;
  }
  ClockSpread spread;
  std::int64_t now_ns = 100 * kS;
};

TEST_F(ClockSpreadTest, NobodyElseIsKnown) {
  EXPECT_FALSE(spread.look(kNoon, 0));
  say("b", 0);
  now_ns += 6 * kS;
  EXPECT_FALSE(spread.look(kNoon + now_ns, now_ns));  // it was said too long ago
}

TEST_F(ClockSpreadTest, ARightClockIsGoneBy) {
  say("b", 20'000'000);
  say("c", 90'000'000);
  EXPECT_EQ(agreed(0), 0);
}

TEST_F(ClockSpreadTest, OneThatIsAheadIsOutvoted) {
  say("b", 3600 * kS);
  say("c", 10);
  EXPECT_EQ(agreed(0), 0);
  EXPECT_EQ(agreed(7200 * kS), 3600 * kS);  // all differ: the one in the middle
  say("d", 20);
  EXPECT_EQ(agreed(7200 * kS), 20);
}

TEST_F(ClockSpreadTest, OneThatIsBehindIsOutvoted) {
  say("b", -3600 * kS);
  say("c", 10);
  EXPECT_EQ(agreed(0), 0);
  say("b", 5);
  say("b", 5);
  EXPECT_EQ(agreed(-3600 * kS), 5);
}

TEST_F(ClockSpreadTest, OfTwoTheEarlierOneIsGoneBy) {
  say("b", 0);
  EXPECT_EQ(agreed(3600 * kS), 0);
  EXPECT_EQ(agreed(-3600 * kS), -3600 * kS);
}

TEST_F(ClockSpreadTest, WhatWasOnItsWayForLongDoesNotCount) {
  say("b", 0);
  say("b", 0, 3 * kS);
  const auto sight = spread.look(kNoon + now_ns, now_ns);
  ASSERT_TRUE(sight);
  EXPECT_EQ(sight->ahead_ns.at("b"), 0);
}

TEST_F(ClockSpreadTest, AClockThatIsSetBackIsBelievedAfterSomeAnswers) {
  for (std::size_t i = 0; i < kClockSamples; ++i) say("b", 60 * kS);
  for (std::size_t i = 0; i < kClockSamples; ++i) say("b", 0);
  EXPECT_EQ(spread.look(kNoon + now_ns, now_ns)->ahead_ns.at("b"), 0);
}

TEST_F(ClockSpreadTest, ItSaysWhoIsOff) {
  say("b", 3600 * kS);
  say("c", 0);
  const auto sight = spread.look(kNoon + now_ns, now_ns);
  ASSERT_TRUE(sight);
  EXPECT_EQ(sight->own_ahead_ns, 0);
  EXPECT_EQ(sight->ahead_ns, (std::map<std::string, std::int64_t>{{"b", 3600 * kS}, {"c", 0}}));
  spread.keep_only({"c"});
  EXPECT_FALSE(spread.look(kNoon + now_ns, now_ns)->ahead_ns.contains("b"));
}

}  // namespace
}  // namespace symnas::ha
