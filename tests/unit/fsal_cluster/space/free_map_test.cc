#include "fsal_cluster/space/free_map.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "common/env/random.h"

namespace symnas::fs {
namespace {

TEST(FreeMap, IsTheComplementOfTheReverseMap) {
  const FreeMap map = FreeMap::without({100, 100}, {{150, 10}, {100, 5}, {155, 10}, {190, 10}});
  EXPECT_EQ(map.runs(), (std::vector<BlockRun>{{105, 45}, {165, 25}}));
  EXPECT_EQ(map.free_blocks(), 70u);
}

TEST(FreeMap, TakesTheGoalThenTheSmallestThatFits) {
  FreeMap map = FreeMap::without({0, 1000}, {{10, 10}, {50, 50}, {200, 100}});
  // free: [0,10) [20,50) [100,200) [300,1000)
  EXPECT_EQ(map.allocate({.blocks = 5, .goal = 150}), (BlockRun{150, 5}));
  EXPECT_EQ(map.allocate({.blocks = 30}), (BlockRun{20, 30}));
  EXPECT_EQ(map.allocate({.blocks = 8}), (BlockRun{0, 8}));
  EXPECT_EQ(map.allocate({.blocks = 16, .align = 16, .residue = 3}), (BlockRun{163, 16}));
  EXPECT_EQ(map.allocate({.blocks = 5000}), (BlockRun{300, 700}));  // the largest there is
}

TEST(FreeMap, AlignmentIsAWishNotACondition) {
  FreeMap map = FreeMap::without({0, 64}, {{0, 17}, {20, 44}});
  EXPECT_EQ(map.allocate({.blocks = 2, .align = 16}), (BlockRun{17, 2}));
}

TEST(FreeMap, JoinsWhatComesBack) {
  FreeMap map({0, 100});
  map.add({10, 10});
  map.add({30, 10});
  map.add({20, 10});
  EXPECT_EQ(map.runs(), (std::vector<BlockRun>{{10, 30}}));
  EXPECT_EQ(map.largest_run(), 30u);
}

TEST(FreeMapDeathTest, TwoOwnersOfOneBlockAreABug) {
  FreeMap map({0, 100});
  map.add({10, 10});
  EXPECT_DEATH(map.add({15, 1}), "freed twice");
  EXPECT_DEATH(map.take({19, 2}), "taken twice");
}

TEST(FreeMap, NeverLosesOrInventsABlock) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    env::SeededRandom random(seed);
    constexpr std::uint64_t kBlocks = 2000;
    FreeMap map = FreeMap::without({0, kBlocks}, {});
    std::vector<bool> used(kBlocks);
    std::vector<BlockRun> held;
    for (int i = 0; i < 200; ++i) {
      if (random.below(2) == 0 && !held.empty()) {
        const auto at = static_cast<std::ptrdiff_t>(random.below(held.size()));
        const BlockRun run = held[static_cast<std::size_t>(at)];
        held.erase(held.begin() + at);
        map.add(run);
        for (std::uint64_t b = run.start; b < run.end(); ++b) used[b] = false;
        continue;
      }
      SpaceWish wish{.blocks = 1 + random.below(100)};
      if (random.below(2) == 0) wish.goal = random.below(kBlocks);
      if (random.below(2) == 0) wish.align = 16;
      const auto run = map.allocate(wish);
      if (!run) continue;
      ASSERT_LE(run->blocks, wish.blocks);
      for (std::uint64_t b = run->start; b < run->end(); ++b) {
        ASSERT_FALSE(used[b]) << "seed " << seed;
        used[b] = true;
      }
      held.push_back(*run);
    }
    const auto free = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), false));
    ASSERT_EQ(map.free_blocks(), free);
    for (std::uint64_t b = 0; b < kBlocks; ++b) ASSERT_EQ(map.is_free({b, 1}), !used[b]);
  }
}

}  // namespace
}  // namespace symnas::fs
