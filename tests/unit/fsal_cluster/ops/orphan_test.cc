#include "fsal_cluster/ops/orphan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/ops/unlink.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

Handle unlinked_and_closed(World& world) {
  const Handle file = world.create(world.root(), "f");
  world.open_files().opened(file.ino);
  EXPECT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kLastOfOrphan);
  return file;
}

TEST(OrphanTest, ConflictSetAndWrites) {
  World world;
  const Handle file = unlinked_and_closed(world);
  world.session().forget();
  ASSERT_TRUE(end_orphan(world.context(), file.ino));
  EXPECT_THAT(world.compares(), ElementsAre("inode(17) unchanged"));
  EXPECT_THAT(world.writes(),
              ElementsAre("erase inode(17)", "erase orphan(17)", "erase token(17)"));
}

TEST(OrphanTest, AnOrphanRecordOfTheRemovalStays) {
  Node node{Ino{17}, {}, Revision{3}};
  TxnPart removal;
  removal.writes = {kv::put(kv::keys::orphan(FsId{1}, Ino{17}), "more to free")};
  const kv::Mutation plan = plan_orphan_end(FsId{1}, node, removal);
  ASSERT_EQ(plan.writes.size(), 2u);
  EXPECT_EQ(text_of(plan.writes[1]), "put orphan(17)");
}

TEST(OrphanTest, InodesWithANameAreLeftAlone) {
  World world;
  const Handle file = world.create(world.root(), "f");
  ASSERT_TRUE(end_orphan(world.context(), file.ino));
  EXPECT_EQ(world.attributes(file).nlink, 1u);
  EXPECT_TRUE(end_orphan(world.context(), Ino{999})) << "gone already";
}

TEST(OrphanTest, OpenedAgainByHandleItWaitsForTheNextLastClose) {
  World world;
  const Handle file = unlinked_and_closed(world);
  world.open_files().opened(file.ino);
  ASSERT_TRUE(end_orphan(world.context(), file.ino));
  EXPECT_EQ(world.attributes(file).nlink, 0u);
  ASSERT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kLastOfOrphan);
  ASSERT_TRUE(end_orphan(world.context(), file.ino));
  EXPECT_FALSE(world.exists(kv::keys::inode(world.fs(), file.ino)));
}

TEST(OrphanTest, LostRepliesHappenOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    const Handle file = unlinked_and_closed(world);
    world.fail_next_commit(fault);
    ASSERT_TRUE(end_orphan(world.context(), file.ino));
    EXPECT_TRUE(world.faults_met());
    EXPECT_THAT(world.data().removed_inos, ElementsAre(file.ino));
  }
}

}  // namespace
}  // namespace symnas::fs
