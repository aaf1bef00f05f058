#include "vnfsd/api/rate_limiter.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::api {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(RateLimiter, GivesABurstAndThenTheRate) {
  RateLimiter limiter({2, 3}, 10);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.take("a", 0), 0);
  EXPECT_EQ(limiter.take("a", 0), 500);
  EXPECT_EQ(limiter.take("a", kSecond / 2), 0);
  EXPECT_GT(limiter.take("a", kSecond / 2), 0);
  // Never more than the burst, however long nothing came.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.take("a", 1'000'000 * kSecond), 0);
  EXPECT_GT(limiter.take("a", 1'000'000 * kSecond), 0);
}

TEST(RateLimiter, EachKeyHasItsOwnBucket) {
  RateLimiter limiter({1, 1}, 10);
  EXPECT_EQ(limiter.take("a", 0), 0);
  EXPECT_EQ(limiter.take("b", 0), 0);
  EXPECT_EQ(limiter.take("a", 0), 1000);
}

TEST(RateLimiter, ForgetsWhoWasUsedLongestAgo) {
  RateLimiter limiter({1, 1}, 2);
  EXPECT_EQ(limiter.take("a", 0), 0);
  EXPECT_EQ(limiter.take("b", 0), 0);
  EXPECT_GT(limiter.take("a", 0), 0);
  EXPECT_EQ(limiter.take("c", 0), 0);  // b goes
  EXPECT_GT(limiter.take("a", 0), 0);
  EXPECT_EQ(limiter.take("b", 0), 0);
}

TEST(RateLimiter, AClockThatStandsGivesNothing) {
  RateLimiter limiter({1000, 1}, 2);
  EXPECT_EQ(limiter.take("a", kSecond), 0);
  EXPECT_GT(limiter.take("a", 0), 0);
}

}  // namespace
}  // namespace symnas::vnfsd::api
