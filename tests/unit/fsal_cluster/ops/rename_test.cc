#include "fsal_cluster/ops/rename.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/ops/link.h"
#include "fsal_cluster/ops/lookup.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/schema/dirent.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

class RenameTest : public testing::Test {
 protected:
  Result<Renamed> move(const Handle& from, const std::string& from_name, const Handle& to,
                       const std::string& to_name, const Credentials& who = kRoot) {
    return rename(world.context(), who, from, from_name, to, to_name);
  }
  ErrorCode error_of(const Result<Renamed>& result) {
    return result ? ErrorCode::kInternal : result.error().code;
  }
  Handle at(const Handle& dir, const std::string& name) {
    const auto found = lookup(world.context(), dir, name);
    return found ? found->handle : Handle{};
  }
  World world;
  Handle root = world.root();
};

TEST_F(RenameTest, FileWithinADirectory) {
  const Handle file = world.create(root, "f");
  world.session().forget();
  ASSERT_TRUE(move(root, "f", root, "g"));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "bucket(1) unchanged",
                                            "inode(1) unchanged", "inode(17) unchanged"));
  EXPECT_THAT(world.writes(),
              ElementsAre("erase bucket(1)", "put bucket(1)", "put inode(17)", "touch times(1)"));
  EXPECT_THAT(world.names(root), ElementsAre("g"));
  EXPECT_EQ(at(root, "g"), file);
}

TEST_F(RenameTest, FileToAnotherDirectory) {
  const Handle dir = world.mkdir(root, "d");
  world.create(root, "f");
  world.session().forget();
  const auto done = move(root, "f", dir, "g");
  ASSERT_TRUE(done);
  EXPECT_THAT(world.compares(),
              ElementsAre("bucket(1) unchanged", "bucket(17) absent", "inode(1) unchanged",
                          "inode(17) unchanged", "inode(18) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("erase bucket(1)", "put bucket(17)", "put inode(18)",
                                          "touch times(1)", "touch times(17)"));
  EXPECT_EQ(done->from.post->handle, root);
  EXPECT_EQ(done->to.post->handle, dir);
  ASSERT_TRUE(done->from.pre);
  ASSERT_TRUE(done->to.pre);
  EXPECT_LT(done->to.pre->change, done->to.post->change);
}

TEST_F(RenameTest, DirectoryToAnotherDirectoryUsesTheMoveKey) {
  const Handle a = world.mkdir(root, "a");
  const Handle b = world.mkdir(root, "b");
  world.session().forget();
  ASSERT_TRUE(move(root, "b", a, "c"));
  EXPECT_THAT(world.compares(),
              ElementsAre("bucket(1) unchanged", "bucket(17) absent", "inode(1) unchanged",
                          "inode(17) unchanged", "inode(18) unchanged", "move absent"));
  EXPECT_THAT(world.writes(), ElementsAre("erase bucket(1)", "put bucket(17)", "put inode(18)",
                                          "put move", "touch times(1)", "touch times(17)"));
  EXPECT_EQ(at(b, ".."), a);
}

TEST_F(RenameTest, DirectoryWithinItsParentDoesNotUseTheMoveKey) {
  world.mkdir(root, "a");
  world.session().forget();
  ASSERT_TRUE(move(root, "a", root, "b"));
  EXPECT_THAT(world.compares(), ElementsAre("bucket(1) absent", "bucket(1) unchanged",
                                            "inode(1) unchanged", "inode(17) unchanged"));
}

TEST_F(RenameTest, OntoAFileRemovesIt) {
  const Handle source = world.create(root, "f");
  const Handle target = world.create(root, "g");
  world.session().forget();
  ASSERT_TRUE(move(root, "f", root, "g"));
  EXPECT_THAT(world.compares(),
              ElementsAre("bucket(1) unchanged", "bucket(1) unchanged", "inode(1) unchanged",
                          "inode(17) unchanged", "inode(18) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("erase bucket(1)", "erase inode(18)", "erase token(18)",
                                          "put bucket(1)", "put inode(17)", "touch times(1)"));
  EXPECT_EQ(at(root, "g"), source);
  EXPECT_THAT(world.data().removed_inos, ElementsAre(target.ino));
}

TEST_F(RenameTest, OntoAnOpenFileLeavesAnOrphan) {
  world.create(root, "f");
  const Handle target = world.create(root, "g");
  world.open_files().opened(target.ino);
  ASSERT_TRUE(move(root, "f", root, "g"));
  EXPECT_EQ(world.attributes(target).nlink, 0u);
  EXPECT_TRUE(world.exists(kv::keys::orphan(world.fs(), target.ino)));
  EXPECT_EQ(world.open_files().closed(target.ino), OpenFiles::Closed::kLastOfOrphan);
}

TEST_F(RenameTest, OntoOneOfTwoLinksKeepsTheOther) {
  world.create(root, "f");
  const Handle target = world.create(root, "g");
  ASSERT_TRUE(link(world.context(), kRoot, target, root, "h"));
  ASSERT_TRUE(move(root, "f", root, "g"));
  EXPECT_EQ(world.attributes(target).nlink, 1u);
}

TEST_F(RenameTest, OntoAnEmptyDirectory) {
  const Handle a = world.mkdir(root, "a");
  const Handle b = world.mkdir(root, "b");
  world.session().forget();
  ASSERT_TRUE(move(root, "a", root, "b"));
  EXPECT_THAT(world.compares(),
              ElementsAre("bucket(1) unchanged", "bucket(1) unchanged", "entries(18) absent",
                          "inode(1) unchanged", "inode(17) unchanged", "inode(18) unchanged"));
  EXPECT_EQ(at(root, "b"), a);
  EXPECT_FALSE(world.exists(kv::keys::inode(world.fs(), b.ino)));
}

TEST_F(RenameTest, RefusalsByType) {
  world.mkdir(root, "d");
  const Handle full = world.mkdir(root, "full");
  world.create(full, "x");
  world.create(root, "f");
  EXPECT_EQ(error_of(move(root, "f", root, "d")), ErrorCode::kIsDirectory);
  EXPECT_EQ(error_of(move(root, "d", root, "f")), ErrorCode::kNotDirectory);
  EXPECT_EQ(error_of(move(root, "d", root, "full")), ErrorCode::kNotEmpty);
  EXPECT_EQ(error_of(move(root, "missing", root, "f")), ErrorCode::kNotFound);
  EXPECT_EQ(error_of(move(full, "x", root, "full")), ErrorCode::kIsDirectory);
  EXPECT_EQ(error_of(move(root, "f", root, "..")), ErrorCode::kInvalidArgument);
}

TEST_F(RenameTest, ADirectoryOntoTheDirectoryItComesFrom) {
  const Handle a = world.mkdir(root, "a");
  world.mkdir(a, "b");
  EXPECT_EQ(error_of(move(a, "b", root, "a")), ErrorCode::kNotEmpty);
}

TEST_F(RenameTest, ADirectoryIntoItselfOrBelow) {
  const Handle a = world.mkdir(root, "a");
  const Handle b = world.mkdir(a, "b");
  EXPECT_EQ(error_of(move(root, "a", a, "x")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of(move(root, "a", b, "x")), ErrorCode::kInvalidArgument);
}

TEST_F(RenameTest, TwoNamesOfOneFileStayAsTheyAre) {
  const Handle file = world.create(root, "f");
  ASSERT_TRUE(link(world.context(), kRoot, file, root, "g"));
  world.session().forget();
  ASSERT_TRUE(move(root, "f", root, "g"));
  ASSERT_TRUE(move(root, "f", root, "f"));
  EXPECT_TRUE(world.session().mutations().empty());
  EXPECT_THAT(world.names(root), ElementsAre("f", "g"));
}

// A name or the move key may be loaded while the reply to a change of this mount is under way: then
// it is younger than the rest of the cache (mount 253031646000005682).
TEST_F(RenameTest, AloneTooWhatIsOfOneMomentIsConfirmed) {
  const Handle file = world.create(root, "f");
  const Handle dir = world.mkdir(root, "d");
  ASSERT_TRUE(link(world.context(), kRoot, file, root, "g"));
  world.session().forget();
  ASSERT_TRUE(move(root, "f", root, "g"));
  EXPECT_EQ(world.session().barriers(), 1);
  const Handle other = world.mkdir(root, "other");
  world.session().forget();
  ASSERT_TRUE(move(root, "other", dir, "below"));
  EXPECT_EQ(world.session().barriers(), 1);
  world.session().forget();
  ASSERT_TRUE(move(root, "g", dir, "g"));
  EXPECT_EQ(world.session().barriers(), 0) << "the commit compares all of it";
  EXPECT_EQ(at(dir, "below"), other);
}

// The first look still finds the old name; the second one finds what another RENAME has made of the
// new name.
TEST_F(RenameTest, WhatAnotherRenameHasDoneIsNotDoneTwice) {
  const Handle dir = world.mkdir(root, "d");
  const Handle file = world.create(root, "f");
  world.session().after_next_read([&] { ASSERT_TRUE(move(root, "f", dir, "g")); });
  EXPECT_EQ(error_of(move(root, "f", dir, "g")), ErrorCode::kNotFound);
  EXPECT_EQ(at(dir, "g"), file);
}

TEST_F(RenameTest, Permissions) {
  const Handle to = world.mkdir(root, "to");
  world.create(root, "f", kAlice);
  EXPECT_EQ(error_of(move(root, "f", to, "f", kAlice)), ErrorCode::kPermission);
  world.chmod(to, 0777);
  const Handle dir = world.mkdir(root, "dir");  // root's: alice must not write its ".."
  EXPECT_EQ(error_of(move(root, "dir", to, "dir", kAlice)), ErrorCode::kPermission);
  EXPECT_TRUE(move(root, "dir", root, "dir2", kAlice)) << "the same parent: nothing is written";
  world.chmod(root, 01777);
  EXPECT_EQ(error_of(move(root, "f", to, "f", kBob)), ErrorCode::kNotOwner);
  EXPECT_TRUE(move(root, "f", to, "f", kAlice));
  EXPECT_EQ(at(root, "dir2"), dir);
}

TEST_F(RenameTest, CrossingDirectoryMovesMakeNoCycle) {
  const Handle a = world.mkdir(root, "a");
  const Handle b = world.mkdir(root, "b");
  world.session().forget();
  world.session().interrupt([&] { ASSERT_TRUE(move(root, "b", a, "b")); });
  EXPECT_EQ(error_of(move(root, "a", b, "a")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(world.session().conflicts(), 1);
  EXPECT_EQ(at(a, ".."), root);
  EXPECT_EQ(at(b, ".."), a);
}

TEST_F(RenameTest, ConflictsWithACreateInTheReplacedDirectory) {
  world.mkdir(root, "a");
  const Handle b = world.mkdir(root, "b");
  world.session().interrupt([&] { world.create(b, "x"); });
  EXPECT_EQ(error_of(move(root, "a", root, "b")), ErrorCode::kNotEmpty);
  EXPECT_THAT(world.names(root), ElementsAre("a", "b"));
}

TEST_F(RenameTest, ConflictsWithRmdirOfTheNewParent) {
  world.create(root, "f");
  const Handle d = world.mkdir(root, "d");
  world.session().interrupt([&] { ASSERT_TRUE(rmdir(world.context(), kRoot, root, "d")); });
  EXPECT_EQ(error_of(move(root, "f", d, "f")), ErrorCode::kStale);
  EXPECT_THAT(world.names(root), ElementsAre("f"));
  EXPECT_FALSE(world.exists(kv::keys::directory_times(world.fs(), d.ino)));
}

TEST_F(RenameTest, DoesNotConflictWithACreateBesideIt) {
  world.create(root, "f");
  world.session().forget();
  world.session().interrupt([&] { world.create(root, "x"); });
  ASSERT_TRUE(move(root, "f", root, "g"));
  EXPECT_EQ(world.session().conflicts(), 0);
}

// Two names that share a hash share a key: both edits must go into one put.
TEST_F(RenameTest, PlanWithinOneBucket) {
  Place from;
  from.directory.node = Node{kRootIno, {}, Revision{5}};
  from.name = "f";
  from.bucket.key = kv::keys::dirent_bucket(world.fs(), kRootIno, 77);
  from.bucket.mod_revision = Revision{6};
  auto* entry = from.bucket.record.add_entries();
  entry->set_name("f");
  entry->set_ino(17);
  entry->set_type(1);
  Place to = from;
  to.name = "g";
  Node source{Ino{17}, {}, Revision{7}};
  source.record.set_type(1);
  const auto plan =
      plan_rename(RenameInput{world.fs(), kRoot, from, to, source, nullptr, 1}, {}, {});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->writes.size(), 2u);
  records::DirentBucket bucket;
  ASSERT_TRUE(bucket.ParseFromString(plan->writes[0].value));
  ASSERT_EQ(bucket.entries_size(), 1);
  EXPECT_EQ(bucket.entries(0).name(), "g");
  EXPECT_EQ(plan->compares.size(), 3u);
}

// The second look at a name may find another file than the first did.
TEST_F(RenameTest, OneBucketAtTwoRevisionsIsAConflict) {
  Place from;
  from.directory.node = Node{kRootIno, {}, Revision{5}};
  from.name = "f";
  from.bucket.key = kv::keys::dirent_bucket(world.fs(), kRootIno, 77);
  from.bucket.mod_revision = Revision{6};
  ASSERT_TRUE(add_entry(from.bucket.record, "f", Ino{17}, FileType::kRegular));
  Place to = from;
  to.bucket.mod_revision = Revision{8};
  replace_entry(to.bucket.record, "f", Ino{18}, FileType::kRegular);
  Node source{Ino{17}, {}, Revision{7}};
  source.record.set_type(1);
  Node target{Ino{18}, {}, Revision{8}};
  target.record.set_type(1);
  const auto plan =
      plan_rename(RenameInput{world.fs(), kRoot, from, to, source, &target, 1}, {}, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kConflict);
}

TEST(RenameLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    world.create(world.root(), "f");
    world.create(world.root(), "g");
    world.fail_next_commit(fault);
    const auto done = rename(world.context(), kRoot, world.root(), "f", world.root(), "g");
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(world.faults_met());
    EXPECT_THAT(world.names(world.root()), ElementsAre("g"));
    EXPECT_EQ(world.data().removed_inos.size(), 1u);
  }
}

}  // namespace
}  // namespace symnas::fs
