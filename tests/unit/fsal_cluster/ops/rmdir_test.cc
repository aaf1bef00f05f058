#include "fsal_cluster/ops/rmdir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/ops/create.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

class RmdirTest : public testing::Test {
 protected:
  ErrorCode error_of(const std::string& name, const Credentials& who = kRoot) {
    const auto done = rmdir(world.context(), who, world.root(), name);
    return done ? ErrorCode::kInternal : done.error().code;
  }
  World world;
};

TEST_F(RmdirTest, ConflictSetAndWrites) {
  world.mkdir(world.root(), "d");
  world.session().forget();
  ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) unchanged", "entries(17) absent",
                                            "inode(1) unchanged", "inode(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("erase bucket(1)", "erase inode(17)", "erase times(17)",
                                          "touch times(1)"));
}

TEST_F(RmdirTest, Refusals) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.create(dir, "f");
  world.create(world.root(), "f");
  EXPECT_EQ(error_of("d"), ErrorCode::kNotEmpty);
  EXPECT_EQ(error_of("f"), ErrorCode::kNotDirectory);
  EXPECT_EQ(error_of("missing"), ErrorCode::kNotFound);
  world.chmod(world.root(), 0755);
  EXPECT_EQ(error_of("d", kAlice), ErrorCode::kPermission);
}

TEST_F(RmdirTest, LeavesNothingBehind) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.mkdir(dir, "e");
  ASSERT_TRUE(rmdir(world.context(), kRoot, dir, "e"));
  ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
  EXPECT_FALSE(world.exists(kv::keys::inode(world.fs(), dir.ino)));
  EXPECT_FALSE(world.exists(kv::keys::directory_times(world.fs(), dir.ino)));
}

TEST_F(RmdirTest, ConflictsWithACreateInIt) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.session().forget();
  world.session().interrupt([&] { world.create(dir, "f"); });
  EXPECT_EQ(error_of("d"), ErrorCode::kNotEmpty);
  EXPECT_GE(world.session().conflicts(), 1);
  EXPECT_THAT(world.names(dir), ElementsAre("f"));
}

TEST_F(RmdirTest, ConflictsWithAChmodOfIt) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.session().forget();
  world.session().interrupt([&] { world.chmod(dir, 0700); });
  ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
  EXPECT_EQ(world.session().conflicts(), 1);
}

// The CREATE's batch puts times for a directory that is gone; the first try to delete them
// conflicts.
TEST_F(RmdirTest, ACreateThatComesTooLateLeavesNoTimes) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.session().interrupt([&] {
    ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
    world.fail_next_commit(kv::TxnFault::Kind::kNone);
    world.fail_next_commit(kv::TxnFault::Kind::kConflict);
  });
  const auto made = create(world.context(), kRoot, dir, "f", CreateMode::kGuarded, 0, NewNode());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kStale);
  EXPECT_TRUE(world.faults_met());
  EXPECT_FALSE(world.exists(kv::keys::directory_times(world.fs(), dir.ino)));
  EXPECT_EQ(world.session().mutations().back().growth, kv::Growth::kMustGo)
      << "what is kept back of the quota is kept for this";
}

TEST_F(RmdirTest, DoesNotConflictWithACreateBesideIt) {
  world.mkdir(world.root(), "d");
  world.session().forget();
  world.session().interrupt([&] { world.create(world.root(), "f"); });
  ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "d"));
  EXPECT_EQ(world.session().conflicts(), 0);
}

TEST(RmdirLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.mkdir(world.root(), "d");
    world.fail_next_commit(fault);
    const auto done = rmdir(world.context(), kRoot, world.root(), "d");
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(world.faults_met());
    EXPECT_TRUE(world.names(world.root()).empty());
  }
}

}  // namespace
}  // namespace symnas::fs
