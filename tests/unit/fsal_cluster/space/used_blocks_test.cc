// Records of the reverse map that cannot be read: no space is taken there, all else goes on.
#include "fsal_cluster/space/used_blocks.h"

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/space/space_world.h"

namespace symnas::fs {
namespace {

class UsedBlocksTest : public SpaceTest {
 protected:
  void damage(std::uint64_t block) {
    kv::Mutation mutation;
    mutation.writes = {kv::put(space->reverse_key(block), "\xff")};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  }
};

TEST_F(UsedBlocksTest, AnUnreadableRecordGoesToTheNextOne) {
  record({3, 5});
  damage(10);
  record({20, 4});
  damage(200);
  damage(kGroup + 1);
  const auto all = read_used_blocks(world.session(), world.fs(), std::nullopt, kGroup);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->recorded, (std::vector<BlockRun>{{3, 5}, {20, 4}}));
  EXPECT_EQ(all->unreadable,
            (std::vector<BlockRun>{{10, 10}, {200, kGroup - 200}, {kGroup + 1, kGroup - 1}}));
  const auto one = read_used_blocks(world.session(), world.fs(), 1, kGroup);
  EXPECT_TRUE(one->recorded.empty());
  EXPECT_EQ(one->unreadable, (std::vector<BlockRun>{{kGroup + 1, kGroup - 1}}));
}

// It is in the range that whoever takes the blocks compares to be empty.
TEST_F(UsedBlocksTest, AKeyThatIsTooLongIsUnreadable) {
  record({3, 5});
  kv::Mutation mutation;
  records::ReverseMap entry;
  entry.set_blocks(2);
  mutation.writes = {kv::put(space->reverse_key(10) + "x", entry.SerializeAsString())};
  ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  const auto all = read_used_blocks(world.session(), world.fs(), 0, kGroup);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->recorded, (std::vector<BlockRun>{{3, 5}}));
  EXPECT_EQ(all->unreadable, (std::vector<BlockRun>{{10, kGroup - 10}}));
}

TEST_F(UsedBlocksTest, AGroupIsClaimedWithoutWhatCannotBeRead) {
  groups = 1;
  owned_by(MountId{0}, 0, 1);
  damage(10);
  record({20, 4});
  announce(kAll);
  space.reset();
  space = std::move(*Space::open(world.session(), clock, background, options()));
  ASSERT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
  std::uint64_t blocks = 0;
  while (const auto run = space->allocate({.blocks = kGroup})) {
    EXPECT_TRUE(run->end() <= 10 || run->start >= 24);
    blocks += run->blocks;
  }
  EXPECT_EQ(blocks, kGroup - 14);
  EXPECT_EQ(space->use()->free_blocks, 0u);
}

TEST_F(UsedBlocksTest, WhatCannotBeReadIsNotTakenFromAnOwnGroup) {
  groups = 1;
  announce(kAll);
  claim(1);
  const auto run = space->allocate({.blocks = kGroup});
  ASSERT_EQ(run->blocks, kGroup);
  record(*run);
  space->recorded(*run);
  damage(run->start);
  EXPECT_EQ(make_room(2 * kSharedRoomWaitMs * 1'000'000), Space::Room::kNone);
  erase(*run);  // the file is gone
  EXPECT_EQ(make_room(2 * kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
}

}  // namespace
}  // namespace symnas::fs
