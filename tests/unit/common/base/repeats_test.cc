#include "common/base/repeats.h"

#include <gtest/gtest.h>

namespace symnas::log {
namespace {

TEST(Repeats, TheFirstOnesOfAPeriodAreWritten) {
  Repeats repeats(2, 1'000);
  EXPECT_EQ(repeats.admit(5'000), 0u);
  EXPECT_EQ(repeats.admit(5'001), 0u);
  EXPECT_FALSE(repeats.admit(5'002));
  EXPECT_FALSE(repeats.admit(5'999));
}

TEST(Repeats, TheOthersAreCountedForTheNextOne) {
  Repeats repeats(1, 1'000);
  EXPECT_EQ(repeats.admit(0), 0u);
  for (int i = 1; i <= 7; ++i) EXPECT_FALSE(repeats.admit(i));
  EXPECT_EQ(repeats.admit(1'000), 7u);
  EXPECT_FALSE(repeats.admit(1'001));
  EXPECT_EQ(repeats.admit(90'000), 1u);
}

}  // namespace
}  // namespace symnas::log
