#include "fsal_cluster/data/file_map.h"

#include <gtest/gtest.h>

#include "common/env/random.h"

namespace symnas::fs {
namespace {

using State = FileMap::State;
constexpr std::uint64_t kGroup = 1 << 16;

FileMap empty_map() {
  FileMap map(kGroup);
  map.clear();
  return map;
}
void fill(FileMap& map, std::uint64_t begin, std::uint64_t end) {
  map.begin_fill(begin, end);
  map.end_fill(begin, end, FileMap::Filled::kYes);
}
void commit(FileMap& map, std::int64_t revision) {
  for (const MapStep& step : map.plan_commit(FileMap::First::kIfDirty)) {
    map.committed(step, Revision{revision});
  }
}

TEST(FileMap, GrowthIsUnwrittenThenWrittenThenRecorded) {
  FileMap map = empty_map();
  EXPECT_EQ(map.find(0, 100).state, State::kHole);
  EXPECT_EQ(map.find(0, 100).blocks, 100u);
  map.add(0, {500, 16}, false);
  EXPECT_EQ(map.find(0, 100).state, State::kUnwritten);
  EXPECT_EQ(map.find(0, 100).volume_block, 500u);
  map.begin_fill(0, 4);
  EXPECT_EQ(map.find(0, 100).state, State::kUnwritten);
  EXPECT_FALSE(map.dirty());
  map.end_fill(0, 4, FileMap::Filled::kYes);
  EXPECT_EQ(map.find(0, 100).state, State::kWritten);
  EXPECT_EQ(map.find(0, 100).blocks, 4u);
  EXPECT_TRUE(map.dirty());
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  ASSERT_EQ(steps.size(), 1u);
  ASSERT_EQ(steps[0].reverse.size(), 1u);
  EXPECT_EQ(steps[0].reverse[0].old_blocks, 0u);
  EXPECT_EQ(steps[0].reverse[0].new_blocks, 4u);  // not what is only reserved
  EXPECT_EQ(steps[0].used_blocks_delta, 4);
  map.committed(steps[0], Revision{9});
  EXPECT_FALSE(map.dirty());
  EXPECT_EQ(map.revision(0), Revision{9});
  EXPECT_EQ(map.reserved_blocks(), 12u);
  const auto given_back = map.drop_reservations();
  ASSERT_EQ(given_back.size(), 1u);
  EXPECT_EQ(given_back[0], (BlockRun{504, 12}));
  EXPECT_EQ(map.find(4, 100).state, State::kHole);
}

TEST(FileMap, GrowthIsCountedBeforeItIsWritten) {
  FileMap map = empty_map();
  map.add(0, {500, 16}, false);
  EXPECT_EQ(map.growth_of(0, 4), 4u);
  EXPECT_EQ(map.growth_of(2, 4), 4u);  // what lies before is recorded with it
  fill(map, 0, 4);
  EXPECT_EQ(map.growth_of(0, 4), 0u);
  EXPECT_EQ(map.growth_of(2, 6), 2u);
  map.begin_fill(4, 6);
  EXPECT_EQ(map.growth_of(4, 8), 2u);
  map.end_fill(4, 6, FileMap::Filled::kNo);
  commit(map, 9);
  EXPECT_EQ(map.growth_of(0, 4), 0u);
  EXPECT_EQ(map.growth_of(0, 16), 12u);
  map.add(1024, {2048, 256}, true);  // a unit is recorded as a whole
  EXPECT_EQ(map.growth_of(1100, 1101), 256u);
  fill(map, 1100, 1101);
  EXPECT_EQ(map.growth_of(1200, 1201), 0u);
}

TEST(FileMap, AllocatedBlocksAreRecordedUnwritten) {
  FileMap map = empty_map();
  map.allocate(0, {500, 16});
  EXPECT_TRUE(map.dirty());
  EXPECT_EQ(map.find(0, 100).state, State::kUnwritten);
  EXPECT_EQ(map.unrecorded_written_blocks(), 0u);
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].used_blocks_delta, 16);
  EXPECT_EQ(steps[0].covered_blocks, 16u);
  const records::Extent& extent = steps[0].chunks[0].value.extents(0);
  EXPECT_EQ(extent.blocks(), 16u);
  EXPECT_EQ(extent.written(), std::string(1, '\0'));
  map.committed(steps[0], Revision{9});
  EXPECT_FALSE(map.dirty());
  EXPECT_TRUE(map.idle());
  EXPECT_TRUE(map.drop_reservations().empty());
  fill(map, 3, 5);
  commit(map, 10);
  EXPECT_EQ(map.find(3, 100).blocks, 2u);
  EXPECT_EQ(map.find(5, 100).state, State::kUnwritten);
}

TEST(FileMap, WhatWasAllocatedAndNotRecordedIsGivenBack) {
  FileMap map = empty_map();
  map.add(0, {500, 8}, false);
  fill(map, 0, 8);
  commit(map, 9);
  map.allocate(8, {508, 8});
  map.allocate(16, {700, 8});
  const auto back = map.drop_reservations();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0], (BlockRun{508, 8}));
  EXPECT_EQ(back[1], (BlockRun{700, 8}));
  EXPECT_FALSE(map.dirty());
  EXPECT_EQ(map.next_mapped(8, 100), 100u);
}

// A commit of the reservation has failed, and a write goes on behind it.
TEST(FileMap, WhatIsWrittenBehindAReservationIsNotCountedAsReserved) {
  FileMap map = empty_map();
  map.allocate(0, {500, 8});
  map.add(8, {508, 8}, true);
  fill(map, 8, 16);
  commit(map, 9);
  EXPECT_FALSE(map.dirty());
  EXPECT_EQ(map.find(0, 100).state, State::kUnwritten);
  EXPECT_EQ(map.find(8, 100).state, State::kWritten);
}

TEST(FileMap, AllocatingIsRecordedInStepsOfBoundedSize) {
  FileMap map(std::uint64_t{1} << 40);
  map.load_chunked(0);
  for (std::uint64_t chunk = 0; chunk < 300; ++chunk)
    map.allocate(chunk * kChunkBlocks, {chunk * kChunkBlocks, kChunkBlocks});
  std::int64_t blocks = 0;
  std::uint64_t covered = 0;
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  for (const MapStep& step : steps) {
    EXPECT_LE(step.reverse.size(), kReverseMapPutsPerTxn);
    EXPECT_GT(step.covered_blocks, covered);
    covered = step.covered_blocks;
    blocks += step.used_blocks_delta;
    map.committed(step, Revision{9});
  }
  EXPECT_EQ(steps.size(), 3u);
  EXPECT_EQ(blocks, 300 * std::int64_t{kChunkBlocks});
  EXPECT_FALSE(map.dirty());
}

TEST(FileMap, APunchSplitsExtentsAndStopsAfterSomeChanges) {
  FileMap map = empty_map();
  map.add(0, {1000, 10}, false);
  fill(map, 0, 10);
  map.allocate(20, {2000, 10});
  commit(map, 9);
  const FileMap::Cut cut = map.plan_punch(4, 25, 100);
  EXPECT_EQ(cut.upto, 25u);
  EXPECT_EQ(cut.used_blocks_delta, -11);
  ASSERT_EQ(cut.freed.size(), 2u);
  EXPECT_EQ(cut.freed[0], (BlockRun{1004, 6}));
  EXPECT_EQ(cut.freed[1], (BlockRun{2000, 5}));
  ASSERT_EQ(cut.reverse.size(), 3u);  // shorter; erased; the right part, which is no growth
  EXPECT_EQ(cut.reverse[0].new_blocks, 4u);
  EXPECT_EQ(cut.reverse[1].new_blocks, 0u);
  EXPECT_EQ(cut.reverse[2].volume_block, 2005u);
  EXPECT_EQ(cut.reverse[2].old_blocks, cut.reverse[2].new_blocks);
  map.punch(cut, Revision{10});
  EXPECT_EQ(map.find(0, 100).blocks, 4u);
  EXPECT_EQ(map.find(4, 100).state, State::kHole);
  EXPECT_EQ(map.find(25, 100).state, State::kUnwritten);
  EXPECT_EQ(map.find(25, 100).volume_block, 2005u);
  EXPECT_EQ(map.plan_punch(0, 100, 1).upto, 4u);
}

TEST(FileMap, SequentialGrowthExtendsOneReverseMapKey) {
  FileMap map = empty_map();
  map.add(0, {1000, 8}, false);
  fill(map, 0, 8);
  commit(map, 1);
  map.add(8, {1008, 8}, false);  // right behind: the same extent
  fill(map, 8, 16);
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  ASSERT_EQ(steps[0].reverse.size(), 1u);
  EXPECT_EQ(steps[0].reverse[0].volume_block, 1000u);
  EXPECT_EQ(steps[0].reverse[0].old_blocks, 8u);
  EXPECT_EQ(steps[0].reverse[0].new_blocks, 16u);
  EXPECT_EQ(steps[0].chunks[0].value.extents_size(), 1);
}

TEST(FileMap, AGroupBoundarySplitsAnExtent) {
  FileMap map = empty_map();
  map.add(0, {kGroup - 4, 4}, false);
  map.add(4, {kGroup, 4}, false);
  fill(map, 0, 8);
  EXPECT_EQ(map.plan_commit(FileMap::First::kIfDirty)[0].reverse.size(), 2u);
}

TEST(FileMap, AGapOfWholeUnitsIsNotRecorded) {
  FileMap map = empty_map();
  map.add(0, {0, 4 * kUnitBlocks}, false);
  fill(map, 0, 2);
  fill(map, 3 * kUnitBlocks + 7, 3 * kUnitBlocks + 8);
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  ASSERT_EQ(steps[0].reverse.size(), 2u);
  EXPECT_EQ(steps[0].reverse[0].new_blocks, 2u);
  EXPECT_EQ(steps[0].reverse[1].file_block, 3 * kUnitBlocks);
  EXPECT_EQ(steps[0].reverse[1].new_blocks, 8u);
  EXPECT_EQ(steps[0].chunks[0].value.extents(1).written(), std::string("\x80", 1));
}

TEST(FileMap, AWholeUnitIsRecordedAtOnce) {
  FileMap map = empty_map();
  map.add(0, {512, kUnitBlocks}, true);
  fill(map, 9, 10);
  auto steps = map.plan_commit(FileMap::First::kIfDirty);
  EXPECT_EQ(steps[0].used_blocks_delta, std::int64_t{kUnitBlocks});
  map.committed(steps[0], Revision{1});
  fill(map, 100, 101);  // its next block changes the bitmap only
  steps = map.plan_commit(FileMap::First::kIfDirty);
  EXPECT_TRUE(steps[0].reverse.empty());
  EXPECT_EQ(steps[0].used_blocks_delta, 0);
}

TEST(FileMap, WritesDuringACommitBelongToTheNext) {
  FileMap map = empty_map();
  map.add(0, {0, 64}, false);
  fill(map, 0, 4);
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  fill(map, 4, 9);
  map.committed(steps[0], Revision{1});
  EXPECT_TRUE(map.dirty());
  EXPECT_EQ(map.unrecorded_written_blocks(), 5u);
  const auto next = map.plan_commit(FileMap::First::kIfDirty);
  EXPECT_EQ(next[0].reverse[0].old_blocks, 4u);
  EXPECT_EQ(next[0].reverse[0].new_blocks, 9u);
}

TEST(FileMap, LargeChangesAreSeveralTransactionsEachOfThemWhole) {
  FileMap map = empty_map();
  std::uint64_t volume = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    map.add(i, {volume, 1}, false);
    volume += 2;  // never contiguous
  }
  fill(map, 0, 1000);
  const auto steps = map.plan_commit(FileMap::First::kIfDirty);
  EXPECT_EQ(steps.size(), (1000 + kReverseMapPutsPerTxn - 1) / kReverseMapPutsPerTxn);
  int extents = 0;
  std::uint64_t covered = 0;
  for (const MapStep& step : steps) {
    EXPECT_LE(step.reverse.size(), kReverseMapPutsPerTxn);
    ASSERT_EQ(step.chunks.size(), 1u);
    extents += static_cast<int>(step.reverse.size());
    EXPECT_EQ(step.chunks[0].value.extents_size(), extents);
    EXPECT_GT(step.covered_blocks, covered);
    covered = step.covered_blocks;
    map.committed(step, Revision{1});
  }
  EXPECT_FALSE(map.dirty());
  EXPECT_EQ(covered, 1000u);
}

TEST(FileMap, ACutShortensErasesAndCounts) {
  FileMap map = empty_map();
  map.add(0, {0, 10}, false);
  map.add(20, {100, 10}, false);
  fill(map, 0, 10);
  fill(map, 20, 30);
  commit(map, 3);
  const FileMap::Cut cut = map.plan_cut(5, 0);
  ASSERT_EQ(cut.reverse.size(), 2u);
  EXPECT_EQ(cut.reverse[0].new_blocks, 5u);
  EXPECT_EQ(cut.reverse[1].new_blocks, 0u);
  EXPECT_EQ(cut.used_blocks_delta, -15);
  EXPECT_EQ(cut.freed[0], (BlockRun{5, 5}));
  map.cut(5, cut, Revision{4});
  EXPECT_EQ(map.find(0, 30).blocks, 5u);
  EXPECT_EQ(map.find(5, 30).state, State::kHole);
  EXPECT_EQ(map.revision(0), Revision{4});
  const FileMap::Cut all = map.plan_cut(0, 0);
  map.cut(0, all, Revision{5});
  EXPECT_EQ(map.revision(0), Revision{0});  // no extents, no key
}

TEST(FileMap, CorruptRecordsAreRefused) {
  FileMap map(kGroup);
  records::Inode inode;
  auto* extent = inode.add_extents();
  extent->set_blocks(0);
  EXPECT_EQ(map.load_inline(inode).error().code, ErrorCode::kCorrupt);
  extent->set_blocks(4);
  extent->set_volume_block(kGroup - 2);  // crosses a group
  EXPECT_EQ(map.load_inline(inode).error().code, ErrorCode::kCorrupt);
  extent->set_volume_block(0);
  *inode.add_extents() = *extent;  // overlaps
  EXPECT_EQ(map.load_inline(inode).error().code, ErrorCode::kCorrupt);
}

// Whatever is written and committed, and in whatever order: a second map loaded from the records
// shows the same.
TEST(FileMap, RecordsSayWhatMemorySays) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    env::SeededRandom random(seed);
    FileMap map = empty_map();
    std::uint64_t volume = 0;
    records::MapChunk record;
    std::vector<bool> written(2000);
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t block = random.below(1990);
      const std::uint64_t end = block + 1 + random.below(2000 - block);
      const FileMap::Piece piece = map.find(block, end);
      if (piece.state == State::kHole) {
        if (random.below(3) == 0) volume += 1 + random.below(5);
        map.add(block, {volume, piece.blocks}, random.below(4) == 0);
        volume += piece.blocks;
      } else {
        fill(map, block, block + piece.blocks);
        std::fill(written.begin() + static_cast<std::ptrdiff_t>(block),
                  written.begin() + static_cast<std::ptrdiff_t>(block + piece.blocks), true);
      }
      if (random.below(4) != 0) continue;
      for (const MapStep& step : map.plan_commit(FileMap::First::kIfDirty)) {
        if (!step.chunks.empty()) record = step.chunks.back().value;
        map.committed(step, Revision{1});
      }
      FileMap loaded(kGroup);
      loaded.load_chunked(1);
      ASSERT_TRUE(loaded.load_chunk(0, record, Revision{1}).has_value());
      for (std::uint64_t b = 0; b < written.size(); ++b) {
        const FileMap::Piece mine = map.find(b, b + 1);
        const FileMap::Piece theirs = loaded.find(b, b + 1);
        ASSERT_EQ(theirs.state == State::kWritten, written[b]) << "seed " << seed << " block " << b;
        if (!written[b]) continue;
        ASSERT_EQ(mine.volume_block, theirs.volume_block);
      }
    }
  }
}

}  // namespace
}  // namespace symnas::fs
