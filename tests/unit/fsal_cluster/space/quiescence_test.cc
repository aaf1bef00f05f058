#include "fsal_cluster/space/quiescence.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

TEST(Quiescence, AFreeWaitsForTheIoThatHadBegun) {
  Quiescence io;
  const auto before = io.begin();
  const auto stamp = io.retire();
  const auto after = io.begin();
  EXPECT_FALSE(io.reusable(stamp));
  io.end(after);
  EXPECT_FALSE(io.reusable(stamp));  // the older one still runs
  io.end(before);
  EXPECT_TRUE(io.reusable(stamp));
}

TEST(Quiescence, WithoutIoAFreeIsReusableAtOnce) {
  Quiescence io;
  EXPECT_TRUE(io.reusable(io.retire()));
}

TEST(Quiescence, IoThatBeginsLaterNeverBlocksAFree) {
  Quiescence io;
  const auto first = io.begin();
  const auto stamp = io.retire();
  const auto second = io.begin();
  const auto stamp2 = io.retire();
  io.end(first);
  EXPECT_TRUE(io.reusable(stamp));
  EXPECT_FALSE(io.reusable(stamp2));
  io.end(second);
  EXPECT_TRUE(io.reusable(stamp2));
  EXPECT_EQ(io.in_flight(), 0u);
}

TEST(QuiescenceDeathTest, AnIoEndsOnce) {
  Quiescence io;
  const auto ticket = io.begin();
  io.end(ticket);
  EXPECT_DEATH(io.end(ticket), "ended twice");
}

}  // namespace
}  // namespace symnas::fs
