#include "fsal_cluster/check/acl_rules.h"

#include <gtest/gtest.h>

#include "fsal_cluster/types/types.h"

namespace symnas::fs::check {
namespace {

records::Inode inode_of(FileType type, std::uint32_t mode) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(type));
  inode.set_mode(mode);
  return inode;
}

records::Ace& add(records::Inode& inode, records::Ace::Who who, std::uint32_t mask,
                  std::uint32_t flags = 0) {
  records::Ace& ace = *inode.mutable_acl()->add_aces();
  ace.set_who(who);
  ace.set_mask(mask);
  ace.set_flags(flags);
  return ace;
}

TEST(AclRulesTest, NoAclIsNoProblem) {
  EXPECT_EQ(acl_problem(inode_of(FileType::kSymlink, 0777)), std::nullopt);
}

TEST(AclRulesTest, TheModeIsInStep) {
  records::Inode inode = inode_of(FileType::kRegular, 04465);
  add(inode, records::Ace::USER, 0x6).set_id(5);  // write and append, for the group's bits
  add(inode, records::Ace::EVERYONE, 0x20).set_type(records::Ace::DENY);
  add(inode, records::Ace::EVERYONE, 0x21);
  EXPECT_EQ(acl_problem(inode), "has mode 465, its ACL says 464");
  inode.set_mode(04464);
  EXPECT_EQ(acl_problem(inode), std::nullopt);
}

TEST(AclRulesTest, EntriesForInheritanceDoNotCount) {
  records::Inode inode = inode_of(FileType::kDirectory, 0444);
  add(inode, records::Ace::EVERYONE, 0x1);
  add(inode, records::Ace::OWNER, 0x27, 0xb);
  EXPECT_EQ(acl_problem(inode), std::nullopt);
}

TEST(AclRulesTest, WhatNoOperationWrites) {
  const auto problem = [](FileType type, auto&& spoil) {
    records::Inode inode = inode_of(type, 0444);
    spoil(add(inode, records::Ace::EVERYONE, 0x1));
    return acl_problem(inode);
  };
  const std::string entry = "entry 1 of its ACL says what no operation writes";
  const auto file = [&](auto&& spoil) { return problem(FileType::kRegular, spoil); };
  EXPECT_EQ(file([](records::Ace&) {}), std::nullopt);
  EXPECT_EQ(file([](records::Ace& ace) { ace.set_flags(1); }), entry);
  EXPECT_EQ(file([](records::Ace& ace) { ace.set_mask(0); }), entry);
  EXPECT_EQ(file([](records::Ace& ace) { ace.set_mask(0x80000001); }), entry);
  EXPECT_EQ(file([](records::Ace& ace) { ace.set_id(7); }), entry);
  const auto directory = [&](auto&& spoil) { return problem(FileType::kDirectory, spoil); };
  EXPECT_EQ(directory([](records::Ace& ace) { ace.set_flags(8); }), entry);
  EXPECT_EQ(directory([](records::Ace& ace) { ace.set_flags(0x10); }), entry);
  EXPECT_EQ(problem(FileType::kSymlink, [](records::Ace&) {}), "a symlink that has an ACL");
}

TEST(AclRulesTest, Sizes) {
  records::Inode inode = inode_of(FileType::kRegular, 0444);
  inode.mutable_acl();
  EXPECT_EQ(acl_problem(inode), "has an ACL of 0 entries");
  for (int i = 0; i <= 1024; ++i) add(inode, records::Ace::EVERYONE, 0x1);
  EXPECT_EQ(acl_problem(inode), "has an ACL of 1025 entries");
}

}  // namespace
}  // namespace symnas::fs::check
