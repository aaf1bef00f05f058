#include "fsal_cluster/access/acl_inherit.h"

#include <gtest/gtest.h>

#include "fsal_cluster/access/acl.h"
#include "fsal_cluster/access/posix_acl.h"
#include "tests/unit/fsal_cluster/access/random_acl.h"

namespace symnas::fs {
namespace {

constexpr std::uint32_t kBoth = kAceFileInherit | kAceDirInherit;
constexpr std::uint32_t kReadWrite = kAceReadData | kAceWriteData | kAceAppendData;

Acl one(std::uint32_t flags) { return {{{AceType::kAllow, AceWho::kUser, 5, flags, kReadWrite}}}; }
std::uint32_t flags_of_inherited(const Acl& acl) {
  std::uint32_t flags = 0;
  for (const Ace& ace : acl.aces)
    if (ace.is_inheritable()) flags = ace.flags;
  return flags;
}
bool user_reads(const Acl& acl) {
  return (evaluate(acl, AclName{AceWho::kUser, 5}).allowed & kAceReadData) != 0;
}

TEST(AclInheritTest, NothingIsInherited) {
  EXPECT_FALSE(inherit(one(0), AclOf::kFile, 0644));
  EXPECT_FALSE(inherit(one(kAceDirInherit), AclOf::kFile, 0644));
  EXPECT_FALSE(inherit(one(kAceFileInherit | kAceNoPropagate), AclOf::kDirectory, 0755));
}

struct FlagCase {
  std::uint32_t of_parent;
  bool effective_in_directory;
  std::uint32_t of_directory;  // flags of what it hands on
  bool effective_in_file;
};

TEST(AclInheritTest, FlagsOfRfc8881) {
  const FlagCase cases[] = {
      {kAceFileInherit, false, kAceFileInherit | kAceInheritOnly, true},
      {kAceDirInherit, true, kAceDirInherit | kAceInheritOnly, false},
      {kBoth, true, kBoth | kAceInheritOnly, true},
      {kBoth | kAceInheritOnly, true, kBoth | kAceInheritOnly, true},
      {kBoth | kAceNoPropagate, true, 0, true},
      {kAceDirInherit | kAceNoPropagate, true, 0, false},
  };
  for (const FlagCase& c : cases) {
    SCOPED_TRACE(c.of_parent);
    const auto directory = inherit(one(c.of_parent), AclOf::kDirectory, 0770);
    ASSERT_TRUE(directory && directory->acl);
    EXPECT_EQ(user_reads(*directory->acl), c.effective_in_directory);
    EXPECT_EQ(flags_of_inherited(*directory->acl), c.of_directory);
    const auto file = inherit(one(c.of_parent), AclOf::kFile, 0660);
    ASSERT_EQ(file.has_value(), c.effective_in_file);
    if (!file) continue;
    EXPECT_TRUE(user_reads(*file->acl));
    EXPECT_EQ(flags_of_inherited(*file->acl), 0u);
  }
}

// POSIX 1003.1e draft 17, 23.1.5.1: the new file's entries are those of the default ACL, less what
// the mode does not have.
TEST(AclInheritTest, DefaultAclOfPosix) {
  const Acl parent = inheritable_of_posix({{PosixTag::kUserObject, 0, 7},
                                           {PosixTag::kUser, 5, 6},
                                           {PosixTag::kGroupObject, 0, 5},
                                           {PosixTag::kMask, 0, 7},
                                           {PosixTag::kOther, 0, 0}});
  const auto file = inherit(parent, AclOf::kFile, 0666);
  ASSERT_TRUE(file && file->acl);
  EXPECT_EQ(file->mode, 0660u);
  const PosixAcl expected{{PosixTag::kUserObject, 0, 6},
                          {PosixTag::kUser, 5, 6},
                          {PosixTag::kGroupObject, 0, 4},
                          {PosixTag::kMask, 0, 6},
                          {PosixTag::kOther, 0, 0}};
  EXPECT_EQ(posix_of_acl(*file->acl, AclOf::kFile), expected);
  const auto narrow = inherit(parent, AclOf::kFile, 0640);
  EXPECT_EQ(narrow->mode, 0640u);
  EXPECT_EQ(posix_of_acl(*narrow->acl, AclOf::kFile)[1].rights, 4u);
  const auto directory = inherit(parent, AclOf::kDirectory, 0777);
  EXPECT_EQ(directory->mode, 0770u);
  EXPECT_EQ(inherited_posix_of_acl(*directory->acl), inherited_posix_of_acl(parent));
}

TEST(AclInheritTest, WithoutAModeTheAclDecides) {
  const auto file = inherit(one(kBoth), AclOf::kFile, std::nullopt);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->mode, 0060u);
}

TEST(AclInheritTest, AnAclThatSaysOnlyAModeIsNotKept) {
  Acl parent = acl_of_mode(0750, AclOf::kDirectory);
  for (Ace& ace : parent.aces) ace.flags = kBoth | kAceInheritOnly;
  const auto file = inherit(parent, AclOf::kFile, 0666);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->mode, 0640u);
  EXPECT_FALSE(file->acl);
}

TEST(AclInheritTest, NeverMoreThanTheModeOrTheParentSays) {
  Chance chance(2);
  for (int i = 0; i < 500; ++i) {
    const Acl parent = chance.acl();
    const AclOf what = chance.below(2) == 0 ? AclOf::kFile : AclOf::kDirectory;
    const std::uint32_t mode = chance.below(01000);
    const auto got = inherit(parent, what, mode);
    if (!got) continue;
    ASSERT_EQ(got->mode & ~mode, 0u) << i;
    if (!got->acl) continue;
    ASSERT_EQ(mode_of(*got->acl), got->mode) << i;
    ASSERT_LE(got->acl->aces.size(), 4 * parent.aces.size() + 12) << i;
    if (what == AclOf::kDirectory) continue;
    for (const Ace& ace : got->acl->aces) ASSERT_EQ(ace.flags, 0u) << i;
  }
}

}  // namespace
}  // namespace symnas::fs
