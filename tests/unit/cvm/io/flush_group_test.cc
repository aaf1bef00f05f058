#include "cvm/io/flush_group.h"

#include <gtest/gtest.h>

namespace symnas::cvm {
namespace {

using Next = FlushGroup::Next;

TEST(FlushGroup, FirstCallerStartsARoundAtOnce) {
  FlushGroup group;
  EXPECT_EQ(group.join([](Status) {}), Next::kStartRound);
  EXPECT_EQ(group.start_round().size(), 1u);
  EXPECT_EQ(group.finish_round(), Next::kIdle);
  EXPECT_EQ(group.join([](Status) {}), Next::kStartRound);
}

TEST(FlushGroup, CallersBetweenJoinAndStartShareTheRound) {
  FlushGroup group;
  EXPECT_EQ(group.join([](Status) {}), Next::kStartRound);
  EXPECT_EQ(group.join([](Status) {}), Next::kWait);
  EXPECT_EQ(group.start_round().size(), 2u);
  EXPECT_EQ(group.finish_round(), Next::kIdle);
}

TEST(FlushGroup, CallersDuringARoundShareTheNext) {
  FlushGroup group;
  group.join([](Status) {});
  group.start_round();
  EXPECT_EQ(group.join([](Status) {}), Next::kWait);
  EXPECT_EQ(group.join([](Status) {}), Next::kWait);
  EXPECT_EQ(group.finish_round(), Next::kStartRound);
  EXPECT_EQ(group.start_round().size(), 2u);
  EXPECT_EQ(group.finish_round(), Next::kIdle);
}

}  // namespace
}  // namespace symnas::cvm
