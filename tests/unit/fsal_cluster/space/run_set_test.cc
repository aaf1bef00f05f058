#include "fsal_cluster/space/run_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace symnas::fs {
namespace {

using Runs = std::vector<BlockRun>;
constexpr BlockRun kAll{0, 1000};

TEST(RunSetTest, JoinsAndCuts) {
  RunSet set;
  set.add({10, 10});
  set.add({20, 5});
  set.add({5, 5});
  EXPECT_EQ(set.within(kAll), (Runs{{5, 20}}));
  set.add({8, 4});
  EXPECT_EQ(set.blocks(), 20u);
  set.remove({10, 5});
  EXPECT_EQ(set.within(kAll), (Runs{{5, 5}, {15, 10}}));
  EXPECT_EQ(set.within({8, 10}), (Runs{{8, 2}, {15, 3}}));
  set.remove({0, 100});
  EXPECT_TRUE(set.within(kAll).empty());
  EXPECT_EQ(set.blocks(), 0u);
}

TEST(RunSetTest, SameAsASetOfBlocks) {
  std::mt19937 random(7);
  RunSet set;
  std::set<std::uint64_t> model;
  for (int round = 0; round < 2000; ++round) {
    const BlockRun run{random() % 60, random() % 9};
    const bool adds = random() % 2 == 0;
    for (std::uint64_t block = run.start; block < run.end(); ++block) {
      if (adds) {
        model.insert(block);
      } else {
        model.erase(block);
      }
    }
    if (adds) {
      set.add(run);
    } else {
      set.remove(run);
    }
    std::set<std::uint64_t> blocks;
    for (const BlockRun& part : set.within(kAll))
      for (std::uint64_t block = part.start; block < part.end(); ++block) blocks.insert(block);
    ASSERT_EQ(blocks, model);
    ASSERT_EQ(set.blocks(), model.size());
  }
}

TEST(RunSetTest, Gaps) {
  EXPECT_EQ(gaps({100, 50}, {}), (Runs{{100, 50}}));
  EXPECT_EQ(gaps({100, 50}, {{120, 10}, {90, 15}, {110, 15}, {149, 9}}),
            (Runs{{105, 5}, {130, 19}}));
  EXPECT_TRUE(gaps({100, 50}, {{0, 1000}}).empty());
}

}  // namespace
}  // namespace symnas::fs
