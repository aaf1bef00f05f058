#include "fsal_cluster/state/lock_table.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

const Ino kFile{7};
const LockOwner kAnna{LockProtocol::kNfs4, "client a", "anna"};
const LockOwner kBert{LockProtocol::kNfs4, "client b", "bert"};

LockRange exclusive(std::uint64_t start, std::uint64_t end) {
  return {start, end, LockMode::kExclusive};
}
LockRange shared(std::uint64_t start, std::uint64_t end) { return {start, end, LockMode::kShared}; }

TEST(LockRanges, UnlockInTheMiddleSplits) {
  const auto left = without_range({exclusive(0, 99)}, 40, 59);
  EXPECT_EQ(left, (std::vector{exclusive(0, 39), exclusive(60, 99)}));
}

TEST(LockRanges, UnlockToTheEndOfFileLeavesTheFront) {
  EXPECT_EQ(without_range({exclusive(10, UINT64_MAX)}, 20, UINT64_MAX),
            (std::vector{exclusive(10, 19)}));
}

TEST(LockRanges, NeighboursOfOneModeJoin) {
  EXPECT_EQ(with_range({shared(0, 9)}, shared(10, 19)), (std::vector{shared(0, 19)}));
  EXPECT_EQ(with_range({shared(0, 9)}, exclusive(10, 19)).size(), 2u);
}

TEST(LockRanges, LockingReplacesTheModeOfThatPart) {
  EXPECT_EQ(with_range({exclusive(0, 99)}, shared(50, 99)),
            (std::vector{exclusive(0, 49), shared(50, 99)}));
}

TEST(LockRanges, CoversOnlyInItsMode) {
  EXPECT_TRUE(covers({exclusive(0, 99)}, exclusive(10, 20)));
  EXPECT_FALSE(covers({exclusive(0, 99)}, shared(10, 20)));
  EXPECT_FALSE(covers({exclusive(0, 99)}, exclusive(90, 100)));
}

TEST(LockRanges, CoversAtLeastInItsModeWithSeveralRanges) {
  const std::vector<LockRange> held = {exclusive(0, 49), shared(50, 99)};
  EXPECT_TRUE(covers_at_least(held, shared(0, 99)));
  EXPECT_TRUE(covers_at_least(held, exclusive(10, 49)));
  EXPECT_FALSE(covers_at_least(held, exclusive(10, 50)));
  EXPECT_FALSE(covers_at_least(held, shared(99, 100)));
  EXPECT_FALSE(covers_at_least({}, shared(0, 0)));
  EXPECT_TRUE(covers_at_least({shared(0, UINT64_MAX)}, shared(7, UINT64_MAX)));
}

TEST(LockRanges, WithinAndOutsideKeepTheModesOfWhatIsHeld) {
  const std::vector<LockRange> held = {exclusive(0, 9), shared(10, 19), exclusive(30, UINT64_MAX)};
  const std::vector<LockRange> bounds = {shared(5, 12), exclusive(20, 34), shared(40, 49)};
  EXPECT_EQ(within(held, bounds),
            (std::vector{exclusive(5, 9), shared(10, 12), exclusive(30, 34), exclusive(40, 49)}));
  EXPECT_EQ(outside(held, bounds), (std::vector{exclusive(0, 4), shared(13, 19), exclusive(35, 39),
                                                exclusive(50, UINT64_MAX)}));
  EXPECT_EQ(within(held, {kWholeFile}), held);
  EXPECT_EQ(outside(held, {kWholeFile}), std::vector<LockRange>());
  EXPECT_EQ(within(held, {}), std::vector<LockRange>());
  EXPECT_EQ(outside(held, {}), held);
  EXPECT_EQ(outside(held, {shared(40, UINT64_MAX)}),
            (std::vector{exclusive(0, 9), shared(10, 19), exclusive(30, 39)}));
}

TEST(LockRanges, OverlapsWithinItsBounds) {
  EXPECT_TRUE(overlaps({shared(0, 9), shared(20, 29)}, exclusive(9, 15)));
  EXPECT_FALSE(overlaps({shared(0, 9), shared(20, 29)}, exclusive(10, 19)));
  EXPECT_FALSE(overlaps({}, kWholeFile));
}

TEST(LockTable, ExclusiveStandsAgainstEveryOtherOwner) {
  LockTable table;
  table.set(kFile, kAnna, {exclusive(0, 99)});
  ASSERT_TRUE(table.conflict(kFile, kBert, shared(99, 200)));
  EXPECT_EQ(table.conflict(kFile, kBert, shared(99, 200))->holder, kAnna);
  EXPECT_FALSE(table.conflict(kFile, kBert, exclusive(100, 200)));
  EXPECT_FALSE(table.conflict(kFile, kAnna, shared(0, 10)));
  EXPECT_FALSE(table.conflict(Ino{8}, kBert, exclusive(0, 99)));
}

TEST(LockTable, SharedStandsOnlyAgainstExclusive) {
  LockTable table;
  table.set(kFile, kAnna, {shared(0, 99)});
  EXPECT_FALSE(table.conflict(kFile, kBert, shared(0, 99)));
  EXPECT_TRUE(table.conflict(kFile, kBert, exclusive(50, 50)));
}

TEST(LockTable, FindsEverythingOfOneClient) {
  LockTable table;
  table.set(kFile, kAnna, {shared(0, 1)});
  table.set(Ino{9}, {LockProtocol::kNfs4, "client a", "other"}, {shared(0, 1)});
  table.set(kFile, kBert, {shared(0, 1)});
  table.set(kFile, {LockProtocol::kNlm, "client a", "anna"}, {shared(0, 1)});
  EXPECT_EQ(table.of_client(LockProtocol::kNfs4, "client a").size(), 2u);
}

// Against a byte-per-byte model: after any sequence of locks and unlocks, the ranges and the model
// agree about every byte.
TEST(LockRanges, WhatIsCompatibleWithOthers) {
  const auto x = LockMode::kExclusive;
  const auto s = LockMode::kShared;
  EXPECT_EQ(compatible_with({}), (std::vector<LockRange>{kWholeFile}));
  EXPECT_EQ(compatible_with({{20, 29, s}, {0, 9, x}, {25, 39, s}}),
            (std::vector<LockRange>{{10, 19, x}, {20, 39, s}, {40, UINT64_MAX, x}}));
  EXPECT_EQ(compatible_with({{10, UINT64_MAX, x}}), (std::vector<LockRange>{{0, 9, x}}));
  EXPECT_EQ(compatible_with({{0, UINT64_MAX, x}}), std::vector<LockRange>());
}

TEST(LockRanges, AgreeWithAByteModel) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::array<int, 32> model{};  // 0 none, 1 shared, 2 exclusive
    std::vector<LockRange> held;
    for (int step = 0; step < 30; ++step) {
      std::uint64_t start = random() % model.size();
      std::uint64_t end = random() % model.size();
      if (start > end) std::swap(start, end);
      const int mode = static_cast<int>(random() % 3);
      for (std::uint64_t i = start; i <= end; ++i) model[i] = mode;
      if (mode == 0)
        held = without_range(held, start, end);
      else
        held = with_range(held, {start, end, mode == 2 ? LockMode::kExclusive : LockMode::kShared});
    }
    std::array<int, 32> seen{};
    for (const LockRange& range : held)
      for (std::uint64_t i = range.start; i <= range.end; ++i) {
        ASSERT_EQ(seen[i], 0) << "two ranges overlap, seed " << seed;
        seen[i] = range.mode == LockMode::kExclusive ? 2 : 1;
      }
    ASSERT_EQ(seen, model) << "seed " << seed;
  }
}

}  // namespace
}  // namespace symnas::fs
