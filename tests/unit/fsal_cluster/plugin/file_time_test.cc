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
  for (const timespec ts :
       {time_of(0, 0), time_of(1, 999'999'999), time_of(-1, 1), time_of(UINT32_MAX, 5),
        time_of(kLastSecond, 999'999'999), time_of(kFirstSecond, 0)}) {
    const auto ns = to_ns(ts);
    ASSERT_TRUE(ns);
    const timespec back = to_timespec(*ns);
    EXPECT_EQ(back.tv_sec, ts.tv_sec);
    EXPECT_EQ(back.tv_nsec, ts.tv_nsec);
  }
  EXPECT_EQ(to_ns(time_of(-1, 1)), -999'999'999);
}

TEST(FileTime, ClampsWhatDoesNotFit) {
  const std::int64_t last_ns = kLastSecond * kNsPerSecond;
  const std::int64_t first_ns = kFirstSecond * kNsPerSecond;
  EXPECT_EQ(to_ns(time_of(kLastSecond + 1, 0)), last_ns);
  EXPECT_EQ(to_ns(time_of(std::int64_t{1} << 62, 5)), last_ns);
  EXPECT_EQ(to_ns(time_of(INT64_MAX, 999'999'999)), last_ns);
  EXPECT_EQ(to_ns(time_of(kFirstSecond - 1, 999'999'999)), first_ns);
  EXPECT_EQ(to_ns(time_of(INT64_MIN, 0)), first_ns);
  EXPECT_NE(first_ns, fs::kServerTime) << "the server's time is no client's";
}

TEST(FileTime, RefusesWhatIsNoTime) {
  EXPECT_FALSE(to_ns(time_of(0, kNsPerSecond)));
  EXPECT_FALSE(to_ns(time_of(0, -1)));
  EXPECT_FALSE(to_ns(time_of(INT64_MAX, kNsPerSecond)));
}

}  // namespace
}  // namespace symnas::plugin
