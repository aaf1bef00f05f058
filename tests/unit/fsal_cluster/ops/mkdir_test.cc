#include "fsal_cluster/ops/mkdir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/ops/lookup.h"
#include "fsal_cluster/ops/setattr.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

TEST(MkdirTest, ConflictSetAndWrites) {
  World world;
  world.session().forget();
  ASSERT_TRUE(mkdir(world.context(), kRoot, world.root(), "d", {}));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "inode(1) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put bucket(1)", "put inode(17)", "touch times(1)"));
}

TEST(MkdirTest, TheDirectoryKnowsItsParent) {
  World world;
  const Handle a = world.mkdir(world.root(), "a");
  const Handle b = world.mkdir(a, "b");
  EXPECT_EQ(lookup(world.context(), b, "..")->handle, a);
  EXPECT_EQ(lookup(world.context(), a, "..")->handle, world.root());
  EXPECT_EQ(world.attributes(b).type, FileType::kDirectory);
  EXPECT_EQ(world.attributes(b).nlink, 1u);
}

TEST(MkdirTest, SetgidIsInherited) {
  World world;
  SetAttributes changes;
  changes.gid = 500;
  changes.mode = 02777;
  ASSERT_TRUE(setattr(world.context(), kRoot, world.root(), changes));
  NewNode node;
  node.attributes.mode = 0750;
  const auto made = mkdir(world.context(), kAlice, world.root(), "d", node);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->attributes.gid, 500u);
  EXPECT_EQ(made->attributes.mode, 02750u);
}

TEST(MkdirTest, AnExistingNameIsRefusedBeforePermission) {
  World world;
  world.mkdir(world.root(), "d");
  world.chmod(world.root(), 0755);
  const auto made = mkdir(world.context(), kAlice, world.root(), "d", {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kAlreadyExists);
}

TEST(MkdirTest, LostRepliesHappenOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.fail_next_commit(fault);
    ASSERT_TRUE(mkdir(world.context(), kRoot, world.root(), "d", {}));
    EXPECT_TRUE(world.faults_met());
    EXPECT_THAT(world.names(world.root()), ElementsAre("d"));
  }
}

}  // namespace
}  // namespace symnas::fs
