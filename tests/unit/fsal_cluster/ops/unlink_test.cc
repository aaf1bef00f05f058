#include "fsal_cluster/ops/unlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/ops/link.h"
#include "fsal_cluster/ops/orphan.h"
#include "fsal_cluster/ops/setattr.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

class UnlinkTest : public testing::Test {
 protected:
  ErrorCode error_of(const std::string& name, const Credentials& who = kRoot) {
    const auto done = unlink(world.context(), who, world.root(), name);
    return done ? ErrorCode::kInternal : done.error().code;
  }
  bool has_inode(const Handle& handle) {
    return world.exists(kv::keys::inode(world.fs(), handle.ino));
  }
  bool has_orphan(const Handle& handle) {
    return world.exists(kv::keys::orphan(world.fs(), handle.ino));
  }
  World world;
};

// Others remove the name and create it again while the unlink waits for the file's I/O. That the
// old file's handle is stale does not make the directory's handle stale.
TEST_F(UnlinkTest, AFileRemovedMeanwhileIsLookedForAgain) {
  world.create(world.root(), "f");
  world.data().stale_plans = 2;
  EXPECT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
}

TEST_F(UnlinkTest, LastLinkConflictSetAndWrites) {
  world.create(world.root(), "f");
  world.session().forget();
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_THAT(world.compares(),
              ElementsAre("bucket(1) unchanged", "inode(1) unchanged", "inode(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("erase bucket(1)", "erase inode(17)", "erase token(17)",
                                          "touch times(1)"));
}

TEST_F(UnlinkTest, OneOfTwoLinksKeepsInodeAndData) {
  const Handle file = world.create(world.root(), "f");
  ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g"));
  world.session().forget();
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_THAT(world.writes(), ElementsAre("erase bucket(1)", "put inode(17)", "touch times(1)"));
  EXPECT_EQ(world.attributes(file).nlink, 1u);
  EXPECT_EQ(world.data().planned, 0);
}

TEST_F(UnlinkTest, SpaceIsFreedAfterTheCommitOnly) {
  const Handle file = world.create(world.root(), "f");
  world.session().interrupt([&] { world.chmod(file, 0600); });
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(world.data().planned, 2) << "planned again after the conflict";
  EXPECT_EQ(world.data().abandoned_count, 1);
  EXPECT_THAT(world.data().removed_inos, ElementsAre(file.ino));
  EXPECT_FALSE(has_inode(file));
}

TEST_F(UnlinkTest, Refusals) {
  world.mkdir(world.root(), "d");
  world.create(world.root(), "f");
  EXPECT_EQ(error_of("missing"), ErrorCode::kNotFound);
  EXPECT_EQ(error_of("d"), ErrorCode::kIsDirectory);
  world.chmod(world.root(), 0755);
  EXPECT_EQ(error_of("f", kAlice), ErrorCode::kPermission);
}

TEST_F(UnlinkTest, InAStickyDirectoryOnlyOwnersRemove) {
  world.chmod(world.root(), 01777);
  world.create(world.root(), "alices", kAlice);
  EXPECT_EQ(error_of("alices", kBob), ErrorCode::kNotOwner);
  EXPECT_TRUE(unlink(world.context(), kAlice, world.root(), "alices"));
}

TEST_F(UnlinkTest, AnOpenFileLivesUntilTheLastClose) {
  const Handle file = world.create(world.root(), "f");
  world.open_files().opened(file.ino);
  world.open_files().opened(file.ino);
  world.session().forget();
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_THAT(world.writes(),
              ElementsAre("erase bucket(1)", "put inode(17)", "put orphan(17)", "touch times(1)"));
  EXPECT_EQ(world.attributes(file).nlink, 0u);
  EXPECT_TRUE(has_orphan(file));
  EXPECT_EQ(world.data().planned, 0);

  EXPECT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kStillNeeded);
  ASSERT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kLastOfOrphan);
  ASSERT_TRUE(end_orphan(world.context(), file.ino));
  EXPECT_FALSE(has_inode(file));
  EXPECT_FALSE(has_orphan(file));
  EXPECT_THAT(world.data().removed_inos, ElementsAre(file.ino));
}

TEST_F(UnlinkTest, TheLastCloseMayComeDuringTheTransaction) {
  const Handle file = world.create(world.root(), "f");
  world.open_files().opened(file.ino);
  world.session().interrupt(
      [&] { EXPECT_EQ(world.open_files().closed(file.ino), OpenFiles::Closed::kStillNeeded); });
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_FALSE(has_inode(file));
  EXPECT_FALSE(has_orphan(file));
}

TEST_F(UnlinkTest, SymlinksHaveNoData) {
  const Handle symlink = world.symlink(world.root(), "l");
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "l"));
  EXPECT_FALSE(has_inode(symlink));
  EXPECT_EQ(world.data().planned, 0);
}

TEST_F(UnlinkTest, ConflictsWithALinkToTheFile) {
  const Handle file = world.create(world.root(), "f");
  world.session().forget();
  world.session().interrupt(
      [&] { ASSERT_TRUE(link(world.context(), kRoot, file, world.root(), "g")); });
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(world.session().conflicts(), 1);
  EXPECT_EQ(world.attributes(file).nlink, 1u) << "the file is not lost under its new name";
}

TEST_F(UnlinkTest, ConflictsWithAnotherUnlink) {
  const Handle file = world.create(world.root(), "f");
  const std::string bucket =
      kv::keys::dirent_bucket(world.fs(), kRootIno, world.context().hasher.hash("f"));
  world.session().interrupt([&] {  // as another mount would
    kv::Mutation other;
    other.writes = {kv::erase(bucket), kv::erase(kv::keys::inode(world.fs(), file.ino))};
    ASSERT_TRUE(world.session().commit_blocking(other));
  });
  EXPECT_EQ(error_of("f"), ErrorCode::kNotFound);
  EXPECT_EQ(world.data().abandoned_count, 1);
  EXPECT_TRUE(world.data().removed_inos.empty());
}

TEST_F(UnlinkTest, DoesNotConflictWithACreateBesideIt) {
  world.create(world.root(), "f");
  world.session().forget();
  world.session().interrupt([&] { world.create(world.root(), "g"); });
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(world.session().conflicts(), 0);
}

TEST(UnlinkLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.create(world.root(), "f");
    world.fail_next_commit(fault);
    const auto done = unlink(world.context(), kRoot, world.root(), "f");
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(world.faults_met());
    EXPECT_EQ(world.data().removed_inos.size(), 1u);
  }
}

}  // namespace
}  // namespace symnas::fs
