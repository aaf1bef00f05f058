#include "fsal_cluster/ops/setattr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/types/acl.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

records::Inode inode_of(FileType type, std::uint32_t mode, std::uint32_t uid, std::uint32_t gid) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(type));
  inode.set_mode(mode);
  inode.set_uid(uid);
  inode.set_gid(gid);
  return inode;
}

ErrorCode error_of(const Status& status) {
  return status ? ErrorCode::kInternal : status.error().code;
}

// A file of alice, group 100.
records::Inode alices(std::uint32_t mode) { return inode_of(FileType::kRegular, mode, 1000, 100); }

TEST(ApplySetattrTest, ModeIsTheOwners) {
  SetAttributes changes;
  changes.mode = 0600;
  records::Inode inode = alices(0666);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 1, inode)), ErrorCode::kNotOwner);
  EXPECT_EQ(inode.mode(), 0666u);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, inode));
  EXPECT_EQ(inode.mode(), 0600u);
  EXPECT_EQ(inode.ctime_ns(), 1);
}

TEST(ApplySetattrTest, SetgidNeedsMembership) {
  SetAttributes changes;
  changes.mode = 02750;
  records::Inode foreign_group = inode_of(FileType::kRegular, 0700, 1000, 999);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, foreign_group));
  EXPECT_EQ(foreign_group.mode(), 0750u);
  records::Inode own_group = alices(0700);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, own_group));
  EXPECT_EQ(own_group.mode(), 02750u);
}

TEST(ApplySetattrTest, OnlyRootChangesTheOwner) {
  SetAttributes changes;
  changes.uid = 1001;
  records::Inode inode = alices(0644);
  EXPECT_EQ(error_of(apply_setattr(kAlice, changes, 1, inode)), ErrorCode::kNotOwner);
  ASSERT_TRUE(apply_setattr(kRoot, changes, 1, inode));
  EXPECT_EQ(inode.uid(), 1001u);
}

TEST(ApplySetattrTest, TheOwnerMayNameItself) {
  SetAttributes changes;
  changes.uid = 1000;
  records::Inode inode = alices(0644);
  EXPECT_TRUE(apply_setattr(kAlice, changes, 1, inode));
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 1, inode)), ErrorCode::kNotOwner);
}

TEST(ApplySetattrTest, TheOwnerMayGiveAnOwnGroup) {
  SetAttributes changes;
  changes.gid = 150;
  records::Inode inode = alices(0644);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, inode));
  EXPECT_EQ(inode.gid(), 150u);
  changes.gid = 999;
  EXPECT_EQ(error_of(apply_setattr(kAlice, changes, 1, inode)), ErrorCode::kNotOwner);
}

AclChange acl_for_bob(std::uint32_t mask) {
  return {Acl{{{AceType::kAllow, AceWho::kUser, 1001, 0, mask},
               {AceType::kAllow, AceWho::kOwner, 0, 0, kAceReadData}}},
          {},
          {}};
}

records::Inode alices_with_acl(std::uint32_t mask) {
  SetAttributes changes;
  changes.acl = std::make_shared<AclChange>(acl_for_bob(mask));
  records::Inode inode = alices(0600);
  EXPECT_TRUE(apply_setattr(kAlice, changes, 1, inode));
  return inode;
}

TEST(ApplySetattrTest, AnAclIsTheOwnersAndBringsTheModeInStep) {
  SetAttributes changes;
  changes.acl = std::make_shared<AclChange>(acl_for_bob(kAceReadData));
  records::Inode inode = alices(0600);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 7, inode)), ErrorCode::kNotOwner);
  EXPECT_FALSE(inode.has_acl());
  ASSERT_TRUE(apply_setattr(kAlice, changes, 7, inode));
  EXPECT_EQ(inode.mode(), 0440u);
  EXPECT_EQ(inode.acl().aces_size(), 2);
  EXPECT_EQ(inode.ctime_ns(), 7);
}

TEST(ApplySetattrTest, AModeGivenWithAnAclHoldsForIt) {
  SetAttributes changes;
  changes.acl = std::make_shared<AclChange>(acl_for_bob(kAceReadData));
  changes.mode = 0400;
  records::Inode inode = alices(0600);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, inode));
  EXPECT_EQ(inode.mode(), 0400u);
  EXPECT_FALSE(check_access(kBob, inode, kMayRead));
}

TEST(ApplySetattrTest, WriteAclLetsOthersSetTheModeButNotActAsTheOwner) {
  records::Inode inode = alices_with_acl(kAceWriteAcl);
  SetAttributes changes;
  changes.mode = 06777;
  ASSERT_TRUE(apply_setattr(kBob, changes, 1, inode));
  EXPECT_EQ(inode.mode(), 0777u);
}

TEST(ApplySetattrTest, WriteAttributesLetsOthersSetTimes) {
  SetAttributes changes;
  changes.mtime_ns = 5;
  records::Inode inode = alices_with_acl(kAceReadData);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 1, inode)), ErrorCode::kNotOwner);
  inode = alices_with_acl(kAceWriteAttributes);
  EXPECT_TRUE(apply_setattr(kBob, changes, 1, inode));
}

TEST(ApplySetattrTest, WriteOwnerLetsOthersTakeAFileAndNotGiveIt) {
  SetAttributes changes;
  changes.uid = 1002;
  records::Inode inode = alices_with_acl(kAceWriteOwner);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 1, inode)), ErrorCode::kNotOwner);
  changes.uid = 1001;
  changes.gid = 101;
  EXPECT_TRUE(apply_setattr(kBob, changes, 1, inode));
  EXPECT_EQ(inode.uid(), 1001u);
  EXPECT_EQ(inode.gid(), 101u);
}

TEST(ApplySetattrTest, ChownClearsPrivilegeBits) {
  SetAttributes changes;
  changes.gid = 150;
  records::Inode program = alices(06755);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, program));
  EXPECT_EQ(program.mode(), 0755u);
  records::Inode locking = alices(02644);  // setgid without group execute: mandatory locking
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, locking));
  EXPECT_EQ(locking.mode(), 02644u);
  records::Inode directory = inode_of(FileType::kDirectory, 02755, 1000, 100);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, directory));
  EXPECT_EQ(directory.mode(), 02755u);
}

TEST(ApplySetattrTest, RootMaySetOwnerAndSetuidTogether) {
  SetAttributes changes;
  changes.uid = 0;
  changes.mode = 04755;
  records::Inode program = alices(0755);
  ASSERT_TRUE(apply_setattr(kRoot, changes, 1, program));
  EXPECT_EQ(program.mode(), 04755u);
}

TEST(ApplySetattrTest, TruncateClearsPrivilegeBitsUnlessRootDoesIt) {
  SetAttributes changes;
  changes.size_bytes = 0;
  records::Inode program = alices(06755);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 1, program));
  EXPECT_EQ(program.mode(), 0755u);
  records::Inode by_root = alices(06755);
  ASSERT_TRUE(apply_setattr(kRoot, changes, 1, by_root));
  EXPECT_EQ(by_root.mode(), 06755u);
}

TEST(ApplySetattrTest, SizeNeedsWritePermissionOrOwnership) {
  SetAttributes changes;
  changes.size_bytes = 0;
  records::Inode inode = alices(0444);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 1, inode)), ErrorCode::kPermission);
  EXPECT_TRUE(apply_setattr(kAlice, changes, 1, inode));
  inode.set_mode(0446);
  EXPECT_TRUE(apply_setattr(kBob, changes, 1, inode));
}

TEST(ApplySetattrTest, ExplicitTimesAreTheOwners) {
  SetAttributes changes;
  changes.mtime_ns = 5;
  records::Inode inode = alices(0666);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 9, inode)), ErrorCode::kNotOwner);
  ASSERT_TRUE(apply_setattr(kAlice, changes, 9, inode));
  EXPECT_EQ(inode.mtime_ns(), 5);
  EXPECT_EQ(inode.ctime_ns(), 9);
}

TEST(ApplySetattrTest, ServerTimeNeedsWritePermission) {
  SetAttributes changes;
  changes.atime_ns = kServerTime;
  changes.mtime_ns = kServerTime;
  records::Inode inode = alices(0664);
  EXPECT_EQ(error_of(apply_setattr(kBob, changes, 9, inode)), ErrorCode::kPermission);
  inode.set_mode(0666);
  ASSERT_TRUE(apply_setattr(kBob, changes, 9, inode));
  EXPECT_EQ(inode.atime_ns(), 9);
  EXPECT_EQ(inode.mtime_ns(), 9);
}

class SetattrTest : public testing::Test {
 protected:
  World world;
};

TEST_F(SetattrTest, ConflictSetAndWrites) {
  const Handle file = world.create(world.root(), "f");
  world.session().forget();
  world.chmod(file, 0600);
  EXPECT_THAT(world.compares(), ElementsAre("inode(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put inode(17)"));
}

TEST_F(SetattrTest, ADirectorysMtimeGoesIntoItsContentTimes) {
  const Handle dir = world.mkdir(world.root(), "d");
  world.create(dir, "f");
  world.session().forget();
  SetAttributes past;
  past.mtime_ns = 12345;
  const auto set = setattr(world.context(), kRoot, dir, past);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_THAT(world.compares(), ElementsAre("inode(17) unchanged"));
  EXPECT_THAT(world.writes(), ElementsAre("put inode(17)", "put times(17)"));
  EXPECT_EQ(set->mtime_ns, 12345);
  EXPECT_GT(set->ctime_ns, 12345);
  world.chmod(dir, 0700);
  EXPECT_EQ(world.attributes(dir).mtime_ns, 12345) << "chmod leaves mtime alone";
  world.create(dir, "g");
  EXPECT_GT(world.attributes(dir).mtime_ns, 12345) << "new content moves it on";
}

TEST_F(SetattrTest, AFilesMtimeIsChangedInTheTurnOfItsData) {
  const Handle file = world.create(world.root(), "f");
  SetAttributes changes;
  changes.mode = 0600;
  changes.atime_ns = 12345;
  ASSERT_TRUE(setattr(world.context(), kRoot, file, changes));
  EXPECT_TRUE(world.data().mtimes_chosen.empty());
  changes.mtime_ns = 12345;
  EXPECT_FALSE(setattr(world.context(), kBob, file, changes));
  EXPECT_TRUE(world.data().mtimes_chosen.empty()) << "a refused caller causes no commit";
  ASSERT_TRUE(setattr(world.context(), kRoot, file, changes));
  EXPECT_THAT(world.data().mtimes_chosen, ElementsAre(file.ino));
  EXPECT_EQ(world.attributes(file).mtime_ns, 12345);
  changes.mtime_ns = kServerTime;
  ASSERT_TRUE(setattr(world.context(), kRoot, file, changes));
  EXPECT_THAT(world.data().mtimes_chosen, ElementsAre(file.ino, file.ino));
  EXPECT_GT(world.attributes(file).mtime_ns, 12345);
}

TEST_F(SetattrTest, SizeAndMtimeInOneChange) {
  const Handle file = world.create(world.root(), "f");
  SetAttributes changes;
  changes.size_bytes = 100;
  ASSERT_TRUE(setattr(world.context(), kRoot, file, changes));
  EXPECT_TRUE(world.data().mtimes_chosen.empty());
  changes.size_bytes = 200;
  changes.mtime_ns = 12345;
  world.session().forget();
  const auto set = setattr(world.context(), kRoot, file, changes);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_THAT(world.writes(), ElementsAre("put inode(17)"));
  EXPECT_EQ(set->size_bytes, 200u);
  EXPECT_EQ(set->mtime_ns, 12345);
  EXPECT_THAT(world.data().mtimes_chosen, ElementsAre(file.ino));
}

TEST_F(SetattrTest, ChangeAndCtimeGrow) {
  const Handle file = world.create(world.root(), "f");
  const Attributes before = world.attributes(file);
  world.chmod(file, 0600);
  const Attributes after = world.attributes(file);
  EXPECT_GT(after.change, before.change);
  EXPECT_GT(after.ctime_ns, before.ctime_ns);
  EXPECT_EQ(after.mtime_ns, before.mtime_ns);
}

TEST_F(SetattrTest, SizeAndModeInOneChange) {
  const Handle file = world.create(world.root(), "f");
  world.session().forget();
  SetAttributes changes;
  changes.size_bytes = 4711;
  changes.mode = 0600;
  const auto set = setattr(world.context(), kRoot, file, changes);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->size_bytes, 4711u);
  EXPECT_EQ(set->mode, 0600u);
  EXPECT_EQ(world.session().mutations().size(), 1u);
}

TEST_F(SetattrTest, ARefusedSizeChangesNothing) {
  const Handle file = world.create(world.root(), "f");
  SetAttributes changes;
  changes.size_bytes = 4711;
  const auto set = setattr(world.context(), kBob, file, changes);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kPermission);
  EXPECT_EQ(world.attributes(file).size_bytes, 0u);
}

TEST_F(SetattrTest, NothingToChangeWritesNothing) {
  const Handle file = world.create(world.root(), "f");
  world.session().forget();
  ASSERT_TRUE(setattr(world.context(), kBob, file, {}));
  EXPECT_TRUE(world.session().mutations().empty());
}

TEST_F(SetattrTest, ConflictsWithAnotherSetattr) {
  const Handle file = world.create(world.root(), "f");
  world.session().forget();
  world.session().interrupt([&] {
    SetAttributes owner;
    owner.uid = 1000;
    ASSERT_TRUE(setattr(world.context(), kRoot, file, owner));
  });
  world.chmod(file, 0601);
  EXPECT_EQ(world.session().conflicts(), 1);
  EXPECT_EQ(world.attributes(file).uid, 1000u) << "the other change is not overwritten";
  EXPECT_EQ(world.attributes(file).mode, 0601u);
}

TEST_F(SetattrTest, ChmodOfADirectoryDoesNotConflictWithItsContent) {
  world.session().forget();
  world.session().interrupt([&] { world.create(world.root(), "f"); });
  world.chmod(world.root(), 0755);
  EXPECT_EQ(world.session().conflicts(), 0);
}

TEST_F(SetattrTest, StaleHandles) {
  const auto set = setattr(world.context(), kRoot, Handle{world.fs(), Ino{99}, Generation{1}},
                           SetAttributes{.mode = 0});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kStale);
}

// etcd is full, and the mount that keeps the file's size cannot be asked for it.
TEST_F(SetattrTest, WhatIsDoneIsNotAnsweredAsRefused) {
  const Handle file = world.create(world.root(), "f");
  world.data().published = fail(ErrorCode::kNoSpace, "full");
  const auto set = setattr(world.context(), kRoot, file, SetAttributes{.mode = 0601});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->mode, 0601u);
  const auto nothing = setattr(world.context(), kRoot, file, SetAttributes{});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kNoSpace);
}

TEST(SetattrLostReplyTest, HappensOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    World world;
    const Handle file = world.create(world.root(), "f");
    world.fail_next_commit(fault);
    world.chmod(file, 0601);
    EXPECT_TRUE(world.faults_met());
    EXPECT_EQ(world.attributes(file).mode, 0601u);
  }
}

TEST(SetattrAclTest, AFilesystemThatKeepsNoneRefuses) {
  World world;
  const Handle file = world.create(world.root(), "f");
  SetAttributes changes;
  changes.acl = std::make_shared<AclChange>(acl_for_bob(kAceReadData));
  ASSERT_TRUE(setattr(world.context(), kRoot, file, changes));
  EXPECT_NE(world.attributes(file).acl, nullptr);
  world.context().acls = false;
  const auto refused = setattr(world.context(), kRoot, file, changes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(world.attributes(file).acl, nullptr);
}

}  // namespace
}  // namespace symnas::fs
