#include "fsal_cluster/access/acl_change.h"

#include <gtest/gtest.h>

#include "fsal_cluster/access/acl_mode.h"
#include "fsal_cluster/access/posix_acl.h"
#include "fsal_cluster/schema/acl.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {
namespace {

const PosixAcl kShared{{PosixTag::kUserObject, 0, 7},
                       {PosixTag::kUser, 5, 6},
                       {PosixTag::kGroupObject, 0, 4},
                       {PosixTag::kMask, 0, 6},
                       {PosixTag::kOther, 0, 0}};
const PosixAcl kPlain{
    {PosixTag::kUserObject, 0, 6}, {PosixTag::kGroupObject, 0, 4}, {PosixTag::kOther, 0, 4}};

records::Inode inode_of(FileType type, std::uint32_t mode) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(type));
  inode.set_mode(mode);
  return inode;
}
AclChange access(const PosixAcl& acl) { return {std::nullopt, acl, std::nullopt}; }
AclChange inherited(const PosixAcl& acl) { return {std::nullopt, std::nullopt, acl}; }
ErrorCode error_of(const Status& status) {
  return status ? ErrorCode::kInternal : status.error().code;
}

TEST(AclChangeTest, TheModeIsInStep) {
  records::Inode inode = inode_of(FileType::kRegular, 06600);
  ASSERT_TRUE(set_acl(access(kShared), inode));
  EXPECT_EQ(inode.mode(), 06760u);
  EXPECT_TRUE(inode.has_acl());
  ASSERT_TRUE(set_mode(0640, inode));
  EXPECT_EQ(inode.mode(), 0640u);
  EXPECT_EQ(posix_of_acl(*acl_of(inode), AclOf::kFile)[1].rights, 4u);
}

TEST(AclChangeTest, AnAclThatIsAModeIsNone) {
  records::Inode inode = inode_of(FileType::kRegular, 0700);
  ASSERT_TRUE(set_acl(access(kShared), inode));
  ASSERT_TRUE(set_acl(access(kPlain), inode));
  EXPECT_EQ(inode.mode(), 0644u);
  EXPECT_FALSE(inode.has_acl());
}

TEST(AclChangeTest, AccessAndDefaultAreSetApart) {
  records::Inode inode = inode_of(FileType::kDirectory, 0755);
  ASSERT_TRUE(set_acl(inherited(kShared), inode));
  EXPECT_EQ(inode.mode(), 0755u);
  ASSERT_TRUE(set_acl(access(kShared), inode));
  EXPECT_EQ(posix_of_acl(*acl_of(inode), AclOf::kDirectory), kShared);
  EXPECT_EQ(inherited_posix_of_acl(*acl_of(inode)), kShared);
  ASSERT_TRUE(set_acl(inherited({}), inode));
  EXPECT_EQ(posix_of_acl(*acl_of(inode), AclOf::kDirectory), kShared);
  EXPECT_TRUE(inherited_posix_of_acl(*acl_of(inode)).empty());
}

TEST(AclChangeTest, RemovalOfTheAccessAclLeavesTheMode) {
  records::Inode inode = inode_of(FileType::kRegular, 0600);
  ASSERT_TRUE(set_acl(access(kShared), inode));
  ASSERT_TRUE(set_acl(access({}), inode));
  EXPECT_EQ(inode.mode(), 0760u);
  EXPECT_FALSE(inode.has_acl());
}

TEST(AclChangeTest, WhatIsRefused) {
  records::Inode file = inode_of(FileType::kRegular, 0600);
  EXPECT_EQ(error_of(set_acl(inherited(kShared), file)), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(set_acl(inherited({}), file));
  records::Inode link = inode_of(FileType::kSymlink, 0777);
  EXPECT_EQ(error_of(set_acl(access(kShared), link)), ErrorCode::kNotSupported);
  Acl large;
  large.aces.resize(kAcesMax + 1, Ace{AceType::kAllow, AceWho::kUser, 5, 0, kAceReadData});
  EXPECT_EQ(error_of(set_acl({large, {}, {}}, file)), ErrorCode::kTooLarge);
  large.aces.pop_back();
  EXPECT_TRUE(set_acl({large, {}, {}}, file));
}

TEST(AclChangeTest, FilesHandOnNothing) {
  records::Inode inode = inode_of(FileType::kRegular, 0600);
  const Ace effective{AceType::kAllow, AceWho::kUser, 5, kAceFileInherit, kAceReadData};
  const Ace later{AceType::kAllow, AceWho::kUser, 6, kAceFileInherit | kAceInheritOnly, 1};
  ASSERT_TRUE(set_acl({Acl{{effective, later}}, {}, {}}, inode));
  ASSERT_EQ(acl_of(inode)->aces.size(), 1u);
  EXPECT_EQ(acl_of(inode)->aces[0].flags, 0u);
}

TEST(AclChangeTest, ChmodWithoutAnAclIsAMode) {
  records::Inode inode = inode_of(FileType::kRegular, 0600);
  ASSERT_TRUE(set_mode(04755, inode));
  EXPECT_EQ(inode.mode(), 04755u);
  EXPECT_FALSE(inode.has_acl());
}

}  // namespace
}  // namespace symnas::fs
