#include "fsal_cluster/access/acl_mode.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/access/acl.h"
#include "tests/unit/fsal_cluster/access/random_acl.h"

namespace symnas::fs {
namespace {

constexpr std::uint32_t kWrite = kAceWriteData | kAceAppendData;
constexpr std::uint32_t kRights = kAceReadData | kWrite | kAceExecute;

Ace allow(AceWho who, std::uint32_t id, std::uint32_t mask) {
  return {AceType::kAllow, who, id, 0, mask};
}
Ace deny(AceWho who, std::uint32_t id, std::uint32_t mask) {
  return {AceType::kDeny, who, id, 0, mask};
}

TEST(AclModeTest, ModeOfAcl) {
  // RFC 8881 6.3.2: EVERYONE@ counts for the owner and for the group, too.
  EXPECT_EQ(
      mode_of({{allow(AceWho::kOwner, 0, kWrite), allow(AceWho::kEveryone, 0, kAceReadData)}}),
      0644u);
  EXPECT_EQ(mode_of({{deny(AceWho::kOwningGroup, 0, kAceReadData),
                      allow(AceWho::kEveryone, 0, kAceReadData)}}),
            0404u);
  // Write needs both bits.
  EXPECT_EQ(mode_of({{allow(AceWho::kEveryone, 0, kAceWriteData)}}), 0u);
  // The group's bits have those of named users and groups.
  EXPECT_EQ(
      mode_of({{allow(AceWho::kUser, 5, kWrite), allow(AceWho::kOwningGroup, 0, kAceReadData)}}),
      0060u);
}

TEST(AclModeTest, EveryModeHasAnAclThatSaysNoMore) {
  for (std::uint32_t mode = 0; mode <= kPermissionBits; ++mode) {
    for (const AclOf what : {AclOf::kFile, AclOf::kDirectory}) {
      const Acl acl = acl_of_mode(mode, what);
      ASSERT_EQ(mode_of(acl), mode);
      ASSERT_EQ(only_mode(acl, what), mode) << std::oct << mode;
    }
  }
}

TEST(AclModeTest, WhatSaysMoreThanAMode) {
  const auto file = [](Acl acl) { return only_mode(acl, AclOf::kFile); };
  EXPECT_EQ(file({}), 0u);
  EXPECT_EQ(file({{allow(AceWho::kUser, 5, kAceReadData)}}), std::nullopt);
  // An owner in the group would have what the group has.
  EXPECT_EQ(file({{allow(AceWho::kOwningGroup, 0, kWrite | kAceReadAcl),
                   allow(AceWho::kEveryone, 0, kAceReadAcl)}}),
            std::nullopt);
  Acl acl = acl_of_mode(0640, AclOf::kFile);
  acl.aces.push_back(allow(AceWho::kEveryone, 0, kAceDelete));
  EXPECT_EQ(file(acl), std::nullopt);
  acl = acl_of_mode(0640, AclOf::kFile);
  acl.aces.front().flags = kAceFileInherit;
  EXPECT_EQ(file(acl), std::nullopt);
  acl = acl_of_mode(0640, AclOf::kFile);
  acl.aces.insert(acl.aces.begin(), deny(AceWho::kEveryone, 0, kAceReadAcl));
  EXPECT_EQ(file(acl), std::nullopt);
}

TEST(AclModeTest, SixEntriesAsGaneshaShowsAMode) {
  // It denies to each what it does not allow, and lets the owner write the owner.
  const std::uint32_t seen = kAceReadAttributes | kAceReadAcl;
  const Acl shown{{deny(AceWho::kOwner, 0, kAceExecute),
                   allow(AceWho::kOwner, 0, kAceReadData | kWrite | seen | kAceWriteOwner),
                   deny(AceWho::kOwningGroup, 0, kWrite | kAceExecute),
                   allow(AceWho::kOwningGroup, 0, kAceReadData | seen),
                   deny(AceWho::kEveryone, 0, kRights), allow(AceWho::kEveryone, 0, seen)}};
  EXPECT_EQ(only_mode(shown, AclOf::kFile), 0640u);
}

TEST(AclModeTest, ChmodKeepsNamesWithinTheGroupsBits) {
  const Acl acl{{allow(AceWho::kOwner, 0, kAceReadData | kWrite), allow(AceWho::kUser, 5, kRights),
                 allow(AceWho::kOwningGroup, 0, kAceReadData)}};
  const Acl after = with_mode(acl, 0640, AclOf::kFile);
  EXPECT_EQ(evaluate(after, AclName{AceWho::kUser, 5}).allowed & kRights, kAceReadData);
  EXPECT_EQ(evaluate(after, AclName{AceWho::kOwningGroup, 0}).allowed & kRights, kAceReadData);
}

TEST(AclModeTest, ChmodToTheSameModeGivesTheGroupNothing) {
  const Acl acl{{allow(AceWho::kOwner, 0, kRights), allow(AceWho::kUser, 5, kRights),
                 allow(AceWho::kOwningGroup, 0, kAceReadData)}};
  const Acl after = with_mode(acl, mode_of(acl), AclOf::kFile);
  EXPECT_EQ(evaluate(after, AclName{AceWho::kOwningGroup, 0}).allowed & kRights, kAceReadData);
  EXPECT_EQ(evaluate(after, AclName{AceWho::kUser, 5}).allowed & kRights, kRights);
}

TEST(AclModeTest, ChmodLeavesInheritanceAsItIs) {
  Ace both = allow(AceWho::kUser, 5, kRights);
  both.flags = kAceFileInherit | kAceDirInherit;
  const Acl after = with_mode({{both}}, 0700, AclOf::kDirectory);
  both.flags |= kAceInheritOnly;
  EXPECT_EQ(after.aces.back(), both);
  EXPECT_EQ(evaluate(after, AclName{AceWho::kUser, 5}).allowed & kRights, 0u);
}

// RFC 8881 6.4.1.1, for ACLs by chance: the mode is as set, names have no more than the group's
// bits, nobody but those that the mode speaks of gains anything, and the ACL does not grow for
// ever.
TEST(AclModeTest, ADenialOfDeleteIsMoreThanAMode) {
  Acl acl = acl_of_mode(0644, AclOf::kFile);
  EXPECT_EQ(only_mode(acl, AclOf::kFile), 0644u);
  acl.aces.insert(acl.aces.begin(), deny(AceWho::kEveryone, 0, kAceDelete));
  EXPECT_FALSE(only_mode(acl, AclOf::kFile));
}

TEST(AclModeTest, WhatTheOwningGroupGetsANamedUserInItDoesNot) {
  const Acl acl{{allow(AceWho::kOwner, 0, kAceReadData | kWrite),
                 deny(AceWho::kUser, 2, kAceReadData),
                 allow(AceWho::kOwningGroup, 0, kAceReadData)}};
  const Acl after = with_mode(acl, 0660, AclOf::kFile);
  EXPECT_EQ(mode_of(after), 0660u);
  EXPECT_EQ(evaluate(after, Credentials{2, kFile.gid, {}}, kFile).allowed & kRights, 0u);
  EXPECT_EQ(evaluate(after, Credentials{3, kFile.gid, {}}, kFile).allowed & kRights,
            kAceReadData | kWrite);
}

TEST(AclModeTest, ChmodOfAnyAcl) {
  Chance chance(1);
  for (int i = 0; i < 500; ++i) {
    const Acl acl = chance.acl();
    const AclOf what = chance.below(2) == 0 ? AclOf::kFile : AclOf::kDirectory;
    const std::uint32_t mode = chance.below(01000);
    const Acl after = with_mode(acl, mode, what);
    ASSERT_EQ(mode_of(after), mode) << i;
    ASSERT_EQ(mode_of(with_mode(after, mode, what)), mode);
    const std::uint32_t of_group = mask_of_rights(mode >> 3 & 7, what);
    for (const AclName& name : named(after))
      ASSERT_EQ(evaluate(after, name).allowed & kRights & ~of_group, 0u) << i;
    const std::uint32_t gained_by_group =
        mask_of_rights((mode >> 3 & 7) & ~(mode_of(acl) >> 3 & 7), what);
    for (int n = 0; n < 8; ++n) {
      const Credentials who = chance.caller();
      if (who.uid == kFile.uid) continue;
      std::uint32_t may = evaluate(acl, who, kFile).allowed | mask_of_rights(mode & 7, what);
      const std::vector<AclName> names = named(acl);
      const bool is_named =
          std::find(names.begin(), names.end(), AclName{AceWho::kUser, who.uid}) != names.end();
      if (in_group(who, kFile.gid) && !is_named) may |= gained_by_group;
      ASSERT_EQ(evaluate(after, who, kFile).allowed & ~may & kRights, 0u) << i;
    }
    Acl again = after;
    for (int n = 0; n < 5; ++n) again = with_mode(again, chance.below(01000), what);
    ASSERT_LE(again.aces.size(), 3 * acl.aces.size() + 12) << i;
  }
}

}  // namespace
}  // namespace symnas::fs
