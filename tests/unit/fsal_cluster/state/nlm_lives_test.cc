#include "fsal_cluster/state/nlm_lives.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

const std::string kHost = "10.0.0.202";

TEST(NlmLivesTest, TheNewestLifeThatWasToldCounts) {
  NlmLives lives;
  EXPECT_FALSE(lives.is_over(kHost, 3, 0, 0));
  lives.note(kHost, 5, 0, 0);
  lives.note(kHost, 3, 0, 0);
  lives.note(kHost, 0, 0, 0);
  EXPECT_TRUE(lives.is_over(kHost, 3, 0, 0));
  EXPECT_FALSE(lives.is_over(kHost, 5, 0, 0));
  EXPECT_FALSE(lives.is_over(kHost, 7, 0, 0));
  EXPECT_FALSE(lives.is_over(kHost, 0, 0, 0)) << "not told";
  EXPECT_FALSE(lives.is_over("10.0.0.20", 3, 0, 0));
}

TEST(NlmLivesTest, WhoCountsAnewIsServedAfterAWhile) {
  NlmLives lives;
  lives.note(kHost, 50, 0, 0);
  EXPECT_TRUE(lives.is_over(kHost, 1, kLifeRememberedNs - 1, 0));
  EXPECT_FALSE(lives.is_over(kHost, 1, kLifeRememberedNs, 0));
  EXPECT_TRUE(lives.is_over(kHost, 1, -kLifeRememberedNs, 0)) << "it was begun before";
  lives.note(kHost, 3, kLifeRememberedNs, 0);
  EXPECT_TRUE(lives.is_over(kHost, 1, kLifeRememberedNs, 0));
}

// A process that was stopped, or a gate that was closed: what was sent before is read after it.
TEST(NlmLivesTest, OnlyTimeOfServingWithoutABreakCounts) {
  NlmLives lives;
  lives.note(kHost, 5, 0, 0);
  const std::int64_t resumed_ns = 3 * kLifeRememberedNs;
  EXPECT_TRUE(lives.is_over(kHost, 3, resumed_ns, resumed_ns));
  EXPECT_TRUE(lives.is_over(kHost, 3, resumed_ns + kLifeRememberedNs - 1, resumed_ns));
  EXPECT_FALSE(lives.is_over(kHost, 3, resumed_ns + kLifeRememberedNs, resumed_ns));
  lives.note(kHost, 3, resumed_ns, resumed_ns);
  EXPECT_TRUE(lives.is_over(kHost, 3, resumed_ns, resumed_ns)) << "a late copy of a notice";
}

TEST(NlmLivesTest, TheOldestMakesRoom) {
  NlmLives lives;
  for (std::size_t i = 0; i <= kLivesRemembered; ++i)
    lives.note(std::to_string(i), 5, static_cast<std::int64_t>(i), 0);
  EXPECT_FALSE(lives.is_over("0", 3, 0, 0));
  EXPECT_TRUE(lives.is_over("1", 3, 0, 0));
  EXPECT_TRUE(lives.is_over(std::to_string(kLivesRemembered), 3, 0, 0));
}

TEST(NlmLivesTest, WhoLocksIsKnownUntilTheLastOneEnds) {
  NlmLives lives;
  EXPECT_FALSE(lives.any_under_way(kHost));
  lives.begin(kHost);
  lives.begin(kHost);
  lives.end(kHost);
  EXPECT_TRUE(lives.any_under_way(kHost));
  EXPECT_FALSE(lives.any_under_way("10.0.0.20"));
  lives.end(kHost);
  EXPECT_FALSE(lives.any_under_way(kHost));
}

}  // namespace
}  // namespace symnas::fs
