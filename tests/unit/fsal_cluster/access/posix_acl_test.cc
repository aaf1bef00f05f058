#include "fsal_cluster/access/posix_acl.h"

#include <gtest/gtest.h>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/access/acl.h"
#include "tests/unit/fsal_cluster/access/random_acl.h"

namespace symnas::fs {
namespace {

// POSIX 1003.1e draft 17, 23.1.5: one class decides; of the group class one entry that has the
// right.
bool posix_permits(const PosixAcl& acl, const Credentials& who, const FileOwner& owner,
                   std::uint32_t right) {
  std::uint32_t mask = 7;
  for (const PosixEntry& entry : acl)
    if (entry.tag == PosixTag::kMask) mask = entry.rights;
  for (const PosixEntry& entry : acl)
    if (entry.tag == PosixTag::kUserObject && who.uid == owner.uid)
      return (entry.rights & right) != 0;
  for (const PosixEntry& entry : acl)
    if (entry.tag == PosixTag::kUser && who.uid == entry.id)
      return (entry.rights & mask & right) != 0;
  bool in_class = false;
  for (const PosixEntry& entry : acl) {
    const bool matches = (entry.tag == PosixTag::kGroupObject && in_group(who, owner.gid)) ||
                         (entry.tag == PosixTag::kGroup && in_group(who, entry.id));
    in_class |= matches;
    if (matches && (entry.rights & mask & right) != 0) return true;
  }
  if (in_class) return false;
  for (const PosixEntry& entry : acl)
    if (entry.tag == PosixTag::kOther) return (entry.rights & right) != 0;
  return false;
}

bool acl_permits(const Acl& acl, const Credentials& who, std::uint32_t right, AclOf what) {
  const std::uint32_t mask = mask_of_rights(right, what);
  return (evaluate(acl, who, kFile).allowed & mask) == mask;
}

TEST(PosixAclTest, WhatIsNoAcl) {
  const PosixEntry user{PosixTag::kUserObject, 0, 7};
  const PosixEntry group{PosixTag::kGroupObject, 0, 7};
  const PosixEntry other{PosixTag::kOther, 0, 7};
  const PosixEntry mask{PosixTag::kMask, 0, 7};
  const PosixEntry named{PosixTag::kUser, 5, 7};
  EXPECT_TRUE(check_posix_acl({user, group, other}));
  EXPECT_TRUE(check_posix_acl({other, mask, named, user, group}));
  EXPECT_FALSE(check_posix_acl({}));
  EXPECT_FALSE(check_posix_acl({user, group}));
  EXPECT_FALSE(check_posix_acl({user, user, group, other}));
  EXPECT_FALSE(check_posix_acl({user, group, other, named}));
  EXPECT_FALSE(check_posix_acl({user, group, other, mask, named, named}));
  EXPECT_FALSE(check_posix_acl({user, group, other, mask, mask}));
  EXPECT_FALSE(check_posix_acl({user, group, {PosixTag::kOther, 0, 8}}));
  EXPECT_FALSE(check_posix_acl({user, group, other, {static_cast<PosixTag>(3), 0, 7}}));
  EXPECT_FALSE(check_posix_acl({user, group, other, mask, {PosixTag::kUser, UINT32_MAX, 7}}));
  PosixAcl large{user, group, other, mask};
  for (std::uint32_t id = 0; id < kAcesMax; ++id) large.push_back({PosixTag::kUser, id, 7});
  const Status status = check_posix_acl(large);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kTooLarge);
}

// The mapping is exact for each right by itself.
TEST(PosixAclTest, AnswersAreThoseOfPosix) {
  Chance chance(3);
  for (int i = 0; i < 500; ++i) {
    const PosixAcl posix = chance.posix();
    ASSERT_TRUE(check_posix_acl(posix));
    const AclOf what = chance.below(2) == 0 ? AclOf::kFile : AclOf::kDirectory;
    const Acl acl = acl_of_posix(posix, what);
    for (int n = 0; n < 10; ++n) {
      const Credentials who = chance.caller();
      for (const std::uint32_t right : {1u, 2u, 4u})
        ASSERT_EQ(acl_permits(acl, who, right, what), posix_permits(posix, who, kFile, right))
            << i << " uid " << who.uid << " right " << right;
    }
  }
}

// What was set is shown again, as the mask leaves it, and so no second pass changes anything.
TEST(PosixAclTest, ThereAndBack) {
  Chance chance(4);
  for (int i = 0; i < 500; ++i) {
    const PosixAcl posix = chance.posix();
    const AclOf what = chance.below(2) == 0 ? AclOf::kFile : AclOf::kDirectory;
    const Acl acl = acl_of_posix(posix, what);
    const PosixAcl shown = posix_of_acl(acl, what);
    ASSERT_TRUE(check_posix_acl(shown)) << i;
    ASSERT_EQ(acl_of_posix(shown, what), acl) << i;
    std::uint32_t mask = 7;
    std::size_t names = 0;
    for (const PosixEntry& entry : posix) {
      if (entry.tag == PosixTag::kMask) mask = entry.rights;
      if (entry.tag == PosixTag::kUser || entry.tag == PosixTag::kGroup) ++names;
    }
    ASSERT_EQ(shown.size(), names + (names == 0 ? 3u : 4u));
    for (const PosixEntry& entry : posix) {
      PosixEntry masked = entry;
      if (entry.tag == PosixTag::kMask) continue;
      if (entry.tag != PosixTag::kUserObject && entry.tag != PosixTag::kOther)
        masked.rights &= mask;
      ASSERT_NE(std::find(shown.begin(), shown.end(), masked), shown.end()) << i;
    }
    // The mode's group bits are the mask that is shown.
    for (const PosixEntry& entry : shown) {
      if (entry.tag != PosixTag::kMask) continue;
      ASSERT_EQ(entry.rights, mode_of(acl) >> 3 & 7) << i;
    }
  }
}

// Of any NFSv4 ACL the POSIX view shows no more than the ACL allows, to nobody.
TEST(PosixAclTest, NeverShowsMore) {
  Chance chance(5);
  for (int i = 0; i < 500; ++i) {
    const Acl acl = chance.acl();
    const AclOf what = chance.below(2) == 0 ? AclOf::kFile : AclOf::kDirectory;
    const PosixAcl shown = posix_of_acl(acl, what);
    ASSERT_TRUE(check_posix_acl(shown)) << i;
    for (int n = 0; n < 10; ++n) {
      const Credentials who = chance.caller();
      for (const std::uint32_t right : {1u, 2u, 4u}) {
        if (!posix_permits(shown, who, kFile, right)) continue;
        ASSERT_TRUE(acl_permits(acl, who, right, AclOf::kFile))
            << i << " uid " << who.uid << " right " << right;
      }
    }
    // Nor does setting it again.
    for (int n = 0; n < 10; ++n) {
      const Credentials who = chance.caller();
      const Acl set = acl_of_posix(shown, what);
      constexpr std::uint32_t kRights = kAceReadData | kAceWriteData | kAceAppendData | kAceExecute;
      ASSERT_EQ(evaluate(set, who, kFile).allowed & ~evaluate(acl, who, kFile).allowed & kRights,
                0u)
          << i;
    }
  }
}

TEST(PosixAclTest, DefaultAcl) {
  EXPECT_TRUE(inherited_posix_of_acl(acl_of_mode(0755, AclOf::kDirectory)).empty());
  Chance chance(6);
  for (int i = 0; i < 500; ++i) {
    const PosixAcl posix = chance.posix();
    const Acl acl = inheritable_of_posix(posix);
    ASSERT_EQ(inherited_posix_of_acl(acl),
              posix_of_acl(acl_of_posix(posix, AclOf::kDirectory), AclOf::kDirectory));
    for (const Ace& ace : acl.aces) ASSERT_FALSE(ace.is_effective());
  }
}

TEST(PosixAclTest, WriteOfADirectoryNeedsDeletion) {
  const Acl acl{{{AceType::kDeny, AceWho::kEveryone, 0, 0, kAceDeleteChild},
                 {AceType::kAllow, AceWho::kEveryone, 0, 0, kAceWriteData | kAceAppendData}}};
  EXPECT_EQ(posix_of_acl(acl, AclOf::kDirectory).back().rights, 0u);
  EXPECT_EQ(posix_of_acl(acl, AclOf::kFile).back().rights, 2u);
}

}  // namespace
}  // namespace symnas::fs
