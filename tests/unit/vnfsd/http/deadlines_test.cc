#include "vnfsd/http/deadlines.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

constexpr Deadlines kShort = {100, 200, 300, 1000};
constexpr std::int64_t kRoughlyMs = 50;

TEST(Patience, ReadsHaveOneDeadlineInAll) {
  const std::int64_t begin_ms = Patience::now_ms();
  Patience patience(kShort);
  EXPECT_GE(patience.read_by_ms(), begin_ms + 200);
  const std::int64_t first_ms = patience.read_by_ms();
  patience.wrote(1'000'000, 0);
  EXPECT_EQ(patience.read_by_ms(), first_ms);
}

TEST(Patience, ASlowReaderGetsNoMoreTimeByEachByte) {
  Patience patience(kShort);
  const auto left_ms = [&] { return patience.write_by_ms() - Patience::now_ms(); };
  EXPECT_NEAR(left_ms(), 300, kRoughlyMs);
  for (int i = 0; i < 10; ++i) patience.wrote(1, 29);
  EXPECT_NEAR(left_ms(), 20, kRoughlyMs);
  patience.wrote(1, 29);
  EXPECT_LT(left_ms(), 0);
}

TEST(Patience, AReaderAtTheSlowestRateMayGoOn) {
  Patience patience(kShort);
  for (int i = 0; i < 100; ++i) patience.wrote(100, 100);
  EXPECT_NEAR(patience.write_by_ms() - Patience::now_ms(), 300, kRoughlyMs);
}

}  // namespace
}  // namespace symnas::vnfsd
