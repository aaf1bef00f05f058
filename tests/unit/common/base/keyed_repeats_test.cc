#include "common/base/keyed_repeats.h"

#include <string>

#include <gtest/gtest.h>

namespace symnas::log {
namespace {

constexpr std::int64_t kPeriodNs = 1'000;

TEST(KeyedRepeats, EachHasOneLineInAPeriod) {
  KeyedRepeats<std::string> lines(kPeriodNs, 64);
  EXPECT_TRUE(lines.is_due("ann", 0));
  EXPECT_FALSE(lines.is_due("ann", kPeriodNs - 1));
  EXPECT_TRUE(lines.is_due("bob", kPeriodNs - 1));
  EXPECT_TRUE(lines.is_due("ann", kPeriodNs));
  EXPECT_FALSE(lines.is_due("bob", kPeriodNs));
}

TEST(KeyedRepeats, ManyDoNotFillTheLog) {
  constexpr int kKeysMax = 8;
  KeyedRepeats<int> lines(kPeriodNs, kKeysMax);
  for (int key = 0; key < kKeysMax; ++key) EXPECT_TRUE(lines.is_due(key, 0));
  EXPECT_FALSE(lines.is_due(kKeysMax, 1));
  EXPECT_TRUE(lines.is_due(kKeysMax, kPeriodNs));
}

}  // namespace
}  // namespace symnas::log
