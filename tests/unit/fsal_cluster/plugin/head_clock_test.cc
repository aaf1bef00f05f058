#include "fsal_cluster/plugin/head_clock.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

TEST(HeadClock, TheFileIsOfThisBootAndComplete) {
  EXPECT_EQ(parse_clock_file("-17 boot\n", "boot"), -17);
  EXPECT_EQ(parse_clock_file("1700000000000000000 boot\n", "boot"), 1'700'000'000'000'000'000);
  for (const char* text : {"", "17", "17 boot", "17 other\n", "17 boots\n", "x boot\n", "17boot\n"})
    EXPECT_EQ(parse_clock_file(text, "boot"), std::nullopt) << text;
}

TEST(HeadClock, ItGoesByTheFileOnceThereIsOne) {
  const std::string path = ::testing::TempDir() + "/head_clock_test." + std::to_string(::getpid());
  env::ManualClock kernel(5'000'000'000);
  const HeadClock clock(path, "boot", kernel);
  EXPECT_EQ(clock.wall_ns(), 5'000'000'000);
  std::ofstream(path) << "1000000000 boot\n";
  EXPECT_EQ(clock.wall_ns(), 5'000'000'000);  // not yet read again
  kernel.advance_ns(1'000'000'000);
  EXPECT_EQ(clock.wall_ns(), 7'000'000'000);
  std::ofstream(path) << "broken";
  kernel.advance_ns(1'000'000'000);
  EXPECT_EQ(clock.wall_ns(), 8'000'000'000);  // what was known holds
  std::remove(path.c_str());
}

TEST(HeadClock, WithoutAFileItIsTheKernels) {
  env::ManualClock kernel(5);
  EXPECT_EQ(HeadClock("", "boot", kernel).wall_ns(), 5);
}

}  // namespace
}  // namespace symnas::plugin
