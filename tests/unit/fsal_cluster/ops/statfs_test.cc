#include "fsal_cluster/ops/statfs.h"

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

TEST(StatfsTest, BytesOfTheAllocatorAndFilesWithoutEnd) {
  World world;
  const auto space = statfs(world.context());
  ASSERT_TRUE(space);
  EXPECT_EQ(space->total_bytes, 1000u);
  EXPECT_EQ(space->free_bytes, 400u);
  EXPECT_GT(space->free_files, 1'000'000'000u);
  EXPECT_EQ(space->total_files, space->free_files);
}

}  // namespace
}  // namespace symnas::fs
