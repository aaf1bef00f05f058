#include "fsal_cluster/access/acl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/schema/acl.h"

namespace symnas::fs {
namespace {

using testing::ElementsAre;

const Credentials kOwner{1, 11, {}};
const Credentials kMember{2, 99, {11}};
const Credentials kStranger{3, 13, {}};
const Credentials kSuper{0, 0, {}};
constexpr FileOwner kFile{1, 11};

Ace allow(AceWho who, std::uint32_t id, std::uint32_t mask, std::uint32_t flags = 0) {
  return {AceType::kAllow, who, id, flags, mask};
}
Ace deny(AceWho who, std::uint32_t id, std::uint32_t mask, std::uint32_t flags = 0) {
  return {AceType::kDeny, who, id, flags, mask};
}

records::Inode inode_with(FileType type, std::uint32_t mode, const Acl& acl) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(type));
  inode.set_mode(mode);
  inode.set_uid(kFile.uid);
  inode.set_gid(kFile.gid);
  put_acl(inode, acl);
  return inode;
}

TEST(AclTest, TheFirstEntryThatMentionsABitDecidesIt) {
  const Acl acl{{allow(AceWho::kUser, 3, kAceReadData), deny(AceWho::kEveryone, 0, kAceReadData),
                 allow(AceWho::kEveryone, 0, kAceReadData | kAceExecute)}};
  EXPECT_EQ(evaluate(acl, kStranger, kFile).allowed, kAceReadData | kAceExecute);
  EXPECT_EQ(evaluate(acl, kMember, kFile).allowed, kAceExecute);
  EXPECT_EQ(evaluate(acl, kMember, kFile).denied, kAceReadData);
}

TEST(AclTest, WhomAnEntryMeans) {
  const Acl acl{
      {allow(AceWho::kOwner, 0, kAceReadData), allow(AceWho::kOwningGroup, 0, kAceExecute),
       allow(AceWho::kUser, 3, kAceWriteData), allow(AceWho::kGroup, 13, kAceAppendData)}};
  EXPECT_EQ(evaluate(acl, kOwner, kFile).allowed, kAceReadData | kAceExecute);
  EXPECT_EQ(evaluate(acl, kMember, kFile).allowed, kAceExecute);
  EXPECT_EQ(evaluate(acl, kStranger, kFile).allowed, kAceWriteData | kAceAppendData);
}

TEST(AclTest, EntriesForInheritanceOnlySayNothing) {
  const Acl acl{{allow(AceWho::kEveryone, 0, kAceReadData, kAceFileInherit | kAceInheritOnly)}};
  EXPECT_EQ(evaluate(acl, kOwner, kFile).allowed, 0u);
  EXPECT_TRUE(named(acl).empty());
}

TEST(AclTest, NamesAppearOnce) {
  const Acl acl{
      {allow(AceWho::kUser, 3, 1), deny(AceWho::kUser, 3, 2), allow(AceWho::kGroup, 3, 1)}};
  EXPECT_THAT(named(acl), ElementsAre(AclName{AceWho::kUser, 3}, AclName{AceWho::kGroup, 3}));
}

TEST(AclTest, OwnersAlwaysMendTheirAcl) {
  const records::Inode inode =
      inode_with(FileType::kRegular, 0, {{deny(AceWho::kEveryone, 0, kAceMask)}});
  EXPECT_TRUE(acl_grants(kOwner, inode, kAceReadAcl | kAceWriteAcl | kAceWriteAttributes));
  EXPECT_FALSE(acl_grants(kOwner, inode, kAceReadData));
  EXPECT_FALSE(acl_grants(kMember, inode, kAceReadAcl));
}

TEST(AclTest, AclDecidesAndNotTheMode) {
  const Acl acl{{allow(AceWho::kUser, 3, kAceReadData)}};
  const records::Inode inode = inode_with(FileType::kRegular, 0777, acl);
  EXPECT_TRUE(check_access(kStranger, inode, kMayRead));
  EXPECT_FALSE(check_access(kStranger, inode, kMayWrite));
  EXPECT_FALSE(check_access(kOwner, inode, kMayRead));
  EXPECT_TRUE(check_access(kSuper, inode, kMayRead | kMayWrite));
}

TEST(AclTest, FilesAndSubdirectoriesAreAddedByOwnRights) {
  const records::Inode files = inode_with(
      FileType::kDirectory, 0777, {{allow(AceWho::kEveryone, 0, kAceWriteData | kAceExecute)}});
  EXPECT_TRUE(check_add(kStranger, files, FileType::kRegular));
  EXPECT_FALSE(check_add(kStranger, files, FileType::kDirectory));
  const records::Inode directories = inode_with(
      FileType::kDirectory, 0777, {{allow(AceWho::kEveryone, 0, kAceAppendData | kAceExecute)}});
  EXPECT_FALSE(check_add(kStranger, directories, FileType::kSymlink));
  EXPECT_TRUE(check_add(kStranger, directories, FileType::kDirectory));
}

// RFC 8881 6.2.1.3.2, with search in the directory given.
struct DeleteCase {
  const char* name;
  std::uint32_t directory_allows, directory_denies, target_allows, target_denies;
  bool sticky, allowed;
};
class DeleteTest : public testing::TestWithParam<DeleteCase> {};

TEST_P(DeleteTest, Rule) {
  const DeleteCase& c = GetParam();
  const auto acl = [](std::uint32_t denies, std::uint32_t allows) {
    return Acl{{deny(AceWho::kEveryone, 0, denies), allow(AceWho::kEveryone, 0, allows)}};
  };
  const records::Inode directory =
      inode_with(FileType::kDirectory, c.sticky ? 01777u : 0777u,
                 acl(c.directory_denies, c.directory_allows | kAceExecute));
  const records::Inode target =
      inode_with(FileType::kRegular, 0666, acl(c.target_denies, c.target_allows));
  EXPECT_EQ(check_delete(kStranger, directory, target).has_value(), c.allowed);
  EXPECT_TRUE(check_delete(kSuper, directory, target));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, DeleteTest,
    testing::Values(
        DeleteCase{"Nothing", 0, 0, 0, 0, false, false},
        DeleteCase{"AddFile", kAceWriteData, 0, 0, 0, false, true},
        DeleteCase{"AddFileSticky", kAceWriteData, 0, 0, 0, true, false},
        DeleteCase{"DeleteChild", kAceDeleteChild, 0, 0, 0, false, true},
        DeleteCase{"DeleteChildSticky", kAceDeleteChild, 0, 0, 0, true, false},
        DeleteCase{"Delete", 0, 0, kAceDelete, 0, false, true},
        DeleteCase{"DeleteSticky", 0, 0, kAceDelete, 0, true, true},
        DeleteCase{"DeleteThoughDenied", 0, kAceDeleteChild, kAceDelete, 0, false, true},
        DeleteCase{"ChildThoughDenied", kAceDeleteChild, 0, 0, kAceDelete, false, true},
        DeleteCase{"DeniedByDirectory", kAceWriteData, kAceDeleteChild, 0, 0, false, false},
        DeleteCase{"DeniedByTarget", kAceWriteData, 0, 0, kAceDelete, false, false}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(AclTest, WhoMayWriteADirectoryWithoutAnAclDeletesWhatDeniesIt) {
  records::Inode directory;
  directory.set_type(static_cast<std::uint32_t>(FileType::kDirectory));
  directory.set_mode(0777);
  const records::Inode target =
      inode_with(FileType::kRegular, 0666, {{deny(AceWho::kEveryone, 0, kAceDelete)}});
  EXPECT_TRUE(check_delete(kStranger, directory, target));
  directory.set_mode(0755);
  EXPECT_FALSE(check_delete(kStranger, directory, target));
}

TEST(AclTest, NobodyDeletesWithoutSearch) {
  const records::Inode directory = inode_with(
      FileType::kDirectory, 0777, {{allow(AceWho::kEveryone, 0, kAceWriteData | kAceDeleteChild)}});
  EXPECT_FALSE(check_delete(kStranger, directory, directory));
}

TEST(AclTest, WhatAccessAnswers) {
  Attributes attributes;
  attributes.type = FileType::kDirectory;
  attributes.uid = kFile.uid;
  attributes.gid = kFile.gid;
  attributes.acl = std::make_shared<Acl>(Acl{{allow(AceWho::kEveryone, 0, kAceWriteData)}});
  // Who may add files may remove them, as long as nothing denies it.
  EXPECT_EQ(granted_by_acl(kStranger, attributes, kAceDeleteChild | kAceReadData), kAceDeleteChild);
  EXPECT_EQ(granted_by_acl(kSuper, attributes, kAceMask), kAceMask);
  attributes.type = FileType::kRegular;
  EXPECT_EQ(granted_by_acl(kSuper, attributes, kAceMask), kAceMask & ~kAceExecute);
}

TEST(AclTest, RecordKeepsEverything) {
  const Acl acl{{allow(AceWho::kUser, 3, kAceMask, kAceFlags), deny(AceWho::kGroup, 4, 1),
                 allow(AceWho::kOwner, 0, 2), allow(AceWho::kOwningGroup, 0, 4),
                 deny(AceWho::kEveryone, 0, 8)}};
  const records::Inode inode = inode_with(FileType::kRegular, 0, acl);
  EXPECT_EQ(*acl_of(inode), acl);
  EXPECT_EQ(acl_of(records::Inode()), nullptr);
}

TEST(AclTest, EntriesOfLaterVersionsAllowNothing) {
  records::Inode inode = inode_with(FileType::kRegular, 0, {{allow(AceWho::kEveryone, 0, 1)}});
  inode.mutable_acl()->mutable_aces(0)->set_type(static_cast<records::Ace::Type>(7));
  EXPECT_EQ(acl_of(inode)->aces.front(), deny(AceWho::kEveryone, 0, 1));
}

}  // namespace
}  // namespace symnas::fs
