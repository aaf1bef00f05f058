#include "fsal_cluster/ops/symlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/ops/readlink.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

Result<Created> make(World& world, std::string target) {
  NewNode node;
  node.symlink_target = std::move(target);
  return symlink(world.context(), kAlice, world.root(), "l", node);
}

TEST(SymlinkTest, ConflictSetAndWrites) {
  World world;
  world.session().forget();
  ASSERT_TRUE(make(world, "t"));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "inode(1) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put bucket(1)", "put inode(17)", "touch times(1)"));
}

TEST(SymlinkTest, TheTargetIsKeptByteForByte) {
  World world;
  const std::string target = "../x/\xff" + std::string(4000, 'y');
  const auto made = make(world, target);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attributes.mode, 0777u);
  EXPECT_EQ(made->attributes.size_bytes, target.size());
  EXPECT_EQ(*readlink(world.context(), made->attributes.handle), target);
}

TEST(SymlinkTest, ImpossibleTargets) {
  World world;
  EXPECT_EQ(make(world, "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(world, std::string("a\0b", 3)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(world, std::string(4096, 'x')).error().code, ErrorCode::kNameTooLong);
}

TEST(SymlinkTest, LostRepliesHappenOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.fail_next_commit(fault);
    ASSERT_TRUE(make(world, "t"));
    EXPECT_TRUE(world.faults_met());
    EXPECT_THAT(world.names(world.root()), ElementsAre("l"));
  }
}

}  // namespace
}  // namespace symnas::fs
