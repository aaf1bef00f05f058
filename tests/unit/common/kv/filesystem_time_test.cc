#include "common/kv/filesystem_time.h"

#include <gtest/gtest.h>

#include "common/kv/limits.h"

namespace symnas::kv {
namespace {

TEST(FilesystemTime, AscendsStrictlyWhateverTheWallClockDoes) {
  FilesystemTime time;
  EXPECT_EQ(time.next(1'000'000), 1'000'000);
  EXPECT_EQ(time.next(1'000'000), 1'000'001);
  EXPECT_EQ(time.next(500), 1'000'002);
  EXPECT_EQ(time.next(2'000'000), 2'000'000);
}

TEST(FilesystemTime, StaysAboveAStampOfAHeadWhoseClockIsAhead) {
  FilesystemTime time;
  time.observe(5'000'000);
  time.observe(4'000'000);  // an older one through the watch
  EXPECT_EQ(time.next(1'000'000), 5'000'000 + kStampStepNs);
}

TEST(FilesystemTime, StaysAboveWhatRecordsShow) {
  FilesystemTime time;
  time.saw(5'000'000);
  time.saw(4'000'000);
  EXPECT_EQ(time.next(1'000'000), 5'000'001);
  EXPECT_EQ(time.newest_stamp(), 0);
}

TEST(FilesystemTime, AStampCoversEveryTimeHandedOutAndStepsAreWide) {
  FilesystemTime time;
  const auto handed = time.next(1'000'000);
  const auto first = time.next_stamp(1'000'000);
  EXPECT_GE(first, handed);
  const auto second = time.next_stamp(1'000'000);
  EXPECT_GE(second, first + kStampStepNs);
  EXPECT_GT(time.next(0), second);
}

}  // namespace
}  // namespace symnas::kv
