#include "fsal_cluster/ops/mknod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

Result<Created> make(World& world, FileType type, const Credentials& who) {
  NewNode node;
  node.type = type;
  node.rdev_major = 8;
  node.rdev_minor = 17;
  return mknod(world.context(), who, world.root(), "n", node);
}

TEST(MknodTest, ConflictSetAndWrites) {
  World world;
  world.session().forget();
  ASSERT_TRUE(make(world, FileType::kFifo, kAlice));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "inode(1) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put bucket(1)", "put inode(17)", "touch times(1)"));
}

TEST(MknodTest, DevicesKeepTheirNumbersAndAreRoots) {
  World world;
  const auto refused = make(world, FileType::kBlockDevice, kAlice);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotOwner);
  const auto made = make(world, FileType::kBlockDevice, kRoot);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attributes.type, FileType::kBlockDevice);
  EXPECT_EQ(made->attributes.rdev_major, 8u);
  EXPECT_EQ(made->attributes.rdev_minor, 17u);
}

TEST(MknodTest, OtherTypesAreRefused) {
  for (const FileType type : {FileType::kRegular, FileType::kDirectory, FileType::kSymlink}) {
    World world;
    const auto made = make(world, type, kRoot);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(MknodTest, LostRepliesHappenOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.fail_next_commit(fault);
    ASSERT_TRUE(make(world, FileType::kSocket, kRoot));
    EXPECT_TRUE(world.faults_met());
    EXPECT_THAT(world.names(world.root()), ElementsAre("n"));
  }
}

}  // namespace
}  // namespace symnas::fs
