#include "fsal_cluster/mount/orphan_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

class OrphanSweepTest : public testing::Test {
 protected:
  Handle unlinked_while_open(const std::string& name) {
    const Handle file = world.create(world.root(), name);
    world.open_files().opened(file.ino);
    EXPECT_TRUE(unlink(world.context(), kRoot, world.root(), name));
    EXPECT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kLastOfOrphan);
    return file;
  }
  void put(const std::string& key, const std::string& value) {
    kv::Mutation mutation;
    mutation.writes = {kv::put(key, value)};
    ASSERT_TRUE(world.session().commit_blocking(mutation)->succeeded);
  }
  // Makes the orphan look like one that another mount has left.
  void give_to(const Handle& file, MountId mount) {
    records::Orphan orphan;
    orphan.set_open(true);
    orphan.set_mount(mount.value());
    put(kv::keys::orphan(world.fs(), file.ino), orphan.SerializeAsString());
  }
  bool exists(const Handle& file) { return world.exists(kv::keys::inode(world.fs(), file.ino)); }
  World world;
};

TEST_F(OrphanSweepTest, OursAreLeftToTheLastClose) {
  const Handle file = unlinked_while_open("f");
  ASSERT_TRUE(sweep_orphan(world.context(), file.ino));
  EXPECT_TRUE(exists(file));
}

TEST_F(OrphanSweepTest, ThoseOfARemovedMountGo) {
  const Handle file = unlinked_while_open("f");
  give_to(file, MountId{999});
  ASSERT_TRUE(sweep_orphan(world.context(), file.ino));
  EXPECT_FALSE(exists(file));
  EXPECT_TRUE(list_orphans(world.session(), world.fs())->empty());
}

TEST_F(OrphanSweepTest, ThoseOfALivingMountStayUntilItsEnd) {
  const Handle file = unlinked_while_open("f");
  give_to(file, MountId{999});
  put(kv::keys::mount(world.fs(), MountId{999}), records::MountRecord().SerializeAsString());
  ASSERT_TRUE(sweep_orphan(world.context(), file.ino));
  EXPECT_TRUE(exists(file));
  put(kv::keys::mount_ended(world.fs(), MountId{999}), records::EndRecord().SerializeAsString());
  ASSERT_TRUE(sweep_orphan(world.context(), file.ino));
  EXPECT_FALSE(exists(file));
}

TEST_F(OrphanSweepTest, AnOpenThatWasReclaimedKeepsItsFile) {
  const Handle file = unlinked_while_open("f");
  give_to(file, MountId{999});
  world.open_files().opened(file.ino);
  ASSERT_TRUE(sweep_orphan(world.context(), file.ino));
  EXPECT_TRUE(exists(file));
  EXPECT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kLastOfOrphan);
}

TEST_F(OrphanSweepTest, RemovesInTheBackgroundWhatThisMountHasClosed) {
  const Handle file = unlinked_while_open("f");
  OrphanSweep sweep(world.context(), {});
  sweep.last_closed(file.ino);
  while (exists(file)) std::this_thread::yield();
  sweep.stop();
  EXPECT_TRUE(list_orphans(world.session(), world.fs())->empty());
}

TEST_F(OrphanSweepTest, DeadMapsGoToTheData) {
  records::Orphan dead;
  dead.set_map_generation(1);
  put(kv::keys::orphan(world.fs(), Ino{55}), dead.SerializeAsString());
  ASSERT_TRUE(sweep_orphan(world.context(), Ino{55}));
  EXPECT_THAT(world.data().swept, ElementsAre(Ino{55}));
}

TEST_F(OrphanSweepTest, ListsManyPages) {
  records::Orphan dead;
  const std::size_t count = 2 * kSweepPageKeys + 3;
  for (std::size_t i = 0; i < count; ++i)
    put(kv::keys::orphan(world.fs(), Ino{100 + i}), dead.SerializeAsString());
  const auto orphans = list_orphans(world.session(), world.fs());
  ASSERT_TRUE(orphans);
  EXPECT_EQ(orphans->size(), count);
  EXPECT_EQ(orphans->back(), Ino{100 + count - 1});
}

TEST_F(OrphanSweepTest, TheThreadSweepsAllAndStops) {
  const Handle file = unlinked_while_open("f");
  give_to(file, MountId{999});
  {
    OrphanSweep sweep(world.context(), *list_orphans(world.session(), world.fs()));
    while (exists(file)) std::this_thread::yield();
  }
  EXPECT_FALSE(exists(file));
}

}  // namespace
}  // namespace symnas::fs
