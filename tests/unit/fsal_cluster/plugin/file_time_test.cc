#include "fsal_cluster/plugin/file_time.h"

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

timespec time_of(std::int64_t seconds, long ns) {
  timespec ts{};
  ts.tv_sec = seconds;
  ts.tv_nsec = ns;
  return ts;
}

TEST(FileTime, RoundTrip) {
  for (const timespec ts : {time_of(0, 0), time_of(1, 999'999'999), time_of(-1, 1),
                            time_of(UINT32_MAX, 5), time_of(9'223'372'036, 854'775'807)}) {
    const auto ns = to_ns(ts);
    ASSERT_TRUE(ns);
    const timespec back = to_timespec(*ns);
    EXPECT_EQ(back.tv_sec, ts.tv_sec);
    EXPECT_EQ(back.tv_nsec, ts.tv_nsec);
  }
  EXPECT_EQ(to_ns(time_of(-1, 1)), -999'999'999);
}

TEST(FileTime, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(to_ns(time_of(std::int64_t{1} << 62, 0)));
  EXPECT_FALSE(to_ns(time_of(INT64_MIN, 0)));
  EXPECT_FALSE(to_ns(time_of(9'223'372'036, 854'775'808)));
  EXPECT_FALSE(to_ns(time_of(9'223'372'037, 0)));
  EXPECT_FALSE(to_ns(time_of(0, kNsPerSecond)));
  EXPECT_FALSE(to_ns(time_of(0, -1)));
  EXPECT_TRUE(to_ns(time_of(-9'223'372'036, 0)));
}

}  // namespace
}  // namespace symnas::plugin
