#include "fsal_cluster/reply/reply_ring.h"

#include <gtest/gtest.h>

#include <set>

#include "fsal_cluster/reply/limits.h"

namespace symnas::fs {
namespace {

TEST(ReplyRingTest, NewPlacesUntilTheOldestHasRested) {
  ReplyRing ring;
  EXPECT_EQ(ring.last_ns(), 0);
  EXPECT_EQ(ring.take(10), 0u);
  EXPECT_EQ(ring.take(20), 1u);
  EXPECT_EQ(ring.take(10 + kReplyRestNs - 1), 2u);
  EXPECT_EQ(ring.take(10 + kReplyRestNs), 0u);
  EXPECT_EQ(ring.take(20 + kReplyRestNs), 1u);
  EXPECT_EQ(ring.take(20 + kReplyRestNs), 3u) << "the third has not rested";
  EXPECT_EQ(ring.last_ns(), 20 + kReplyRestNs);
}

TEST(ReplyRingTest, AFullRingGivesUpTheOldest) {
  ReplyRing ring;
  std::set<std::uint32_t> places;
  for (std::uint32_t i = 0; i < kRepliesPerClientMax; ++i) places.insert(ring.take(1));
  EXPECT_EQ(places.size(), kRepliesPerClientMax);
  EXPECT_EQ(ring.take(1), 0u);
  EXPECT_EQ(ring.take(1), 1u);
}

}  // namespace
}  // namespace symnas::fs
