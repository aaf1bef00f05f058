#include "fsal_cluster/data/placement.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

constexpr std::uint64_t kGroup = 1 << 20;

FileMap empty_map() {
  FileMap map(kGroup);
  map.clear();
  return map;
}

TEST(Placement, ASmallFileGetsWhatItNeeds) {
  const FileMap map = empty_map();
  const auto wanted = next_placement(map, {}, 0, 2);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->file_block, 0u);
  EXPECT_EQ(wanted->space.blocks, 2u);
  EXPECT_EQ(wanted->space.align, 1u);
  EXPECT_FALSE(wanted->whole);
}

TEST(Placement, ASequentialWriterReservesAsMuchAsItHasWritten) {
  FileMap map = empty_map();
  map.add(0, {4096, 1024}, false);
  GrowthState growth{
      .size_bytes = 1024 * kBlockBytes, .tail_end_block = 1024, .streak_blocks = 1024};
  const auto wanted = next_placement(map, growth, 1024, 1280);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_TRUE(wanted->sequential);
  EXPECT_EQ(wanted->file_block, 1024u);
  EXPECT_EQ(wanted->space.blocks, 256u + 1024u);
  EXPECT_EQ(wanted->space.goal, 4096u + 1024u);
  growth.streak_blocks = 1 << 20;
  EXPECT_EQ(next_placement(map, growth, 1024, 1280)->space.blocks, 256 + kReserveBlocksMax);
  growth.reserve_max = 0;  // the volume is nearly full
  EXPECT_EQ(next_placement(map, growth, 1024, 1280)->space.blocks, 256u);
}

TEST(Placement, AReorderedSequentialWriteTakesTheGapWithIt) {
  FileMap map = empty_map();
  map.add(0, {0, 512}, false);
  const GrowthState growth{
      .size_bytes = 512 * kBlockBytes, .tail_end_block = 512, .streak_blocks = 512};
  const auto wanted = next_placement(map, growth, 768, 1024);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->file_block, 512u);
  EXPECT_EQ(wanted->space.goal, 512u);
}

TEST(Placement, AFarHoleOfALargeFileIsAWholeUnit) {
  FileMap map = empty_map();
  const GrowthState growth{.size_bytes = std::uint64_t{1} << 30};
  const auto wanted = next_placement(map, growth, 10 * kUnitBlocks + 5, 10 * kUnitBlocks + 7);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->file_block, 10 * kUnitBlocks);
  EXPECT_EQ(wanted->space.blocks, kUnitBlocks);
  EXPECT_TRUE(wanted->whole);
  EXPECT_EQ(wanted->space.align, kAlignBlocks);
  EXPECT_EQ(wanted->space.residue, 0u);
  // Only the hole is placed in a unit that is mapped in part.
  map.add(10 * kUnitBlocks + 100, {4000, 16}, true);
  const auto rest = next_placement(map, growth, 10 * kUnitBlocks + 5, 10 * kUnitBlocks + 7);
  EXPECT_EQ(rest->space.blocks, 100u);
}

TEST(Placement, LargeFilesKeepFileAndVolumeCongruent) {
  FileMap map = empty_map();
  map.add(0, {3, 2}, false);  // began as a small file at an odd place
  const GrowthState growth{.size_bytes = 2 * kBlockBytes};
  const auto wanted = next_placement(map, growth, 2, 514);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->space.align, kAlignBlocks);
  EXPECT_EQ(wanted->space.residue, 2u);
  EXPECT_FALSE(wanted->space.goal.has_value());  // volume block 5 is not congruent
}

TEST(Placement, NothingIsMissing) {
  FileMap map = empty_map();
  map.add(0, {0, 8}, false);
  EXPECT_FALSE(next_placement(map, {}, 2, 8).has_value());
}

}  // namespace
}  // namespace symnas::fs
