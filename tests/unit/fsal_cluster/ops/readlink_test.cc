#include "fsal_cluster/ops/readlink.h"

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

TEST(ReadlinkTest, OnlySymlinksHaveATarget) {
  World world;
  EXPECT_EQ(*readlink(world.context(), world.symlink(world.root(), "l")), "target");
  const auto of_file = readlink(world.context(), world.create(world.root(), "f"));
  ASSERT_FALSE(of_file);
  EXPECT_EQ(of_file.error().code, ErrorCode::kInvalidArgument);
  const auto gone = readlink(world.context(), Handle{world.fs(), Ino{99}, Generation{1}});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kStale);
}

}  // namespace
}  // namespace symnas::fs
