#include "fsal_cluster/access/access.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

const Credentials kOwner{10, 20, {}};
const Credentials kMember{11, 99, {98, 20}};
const Credentials kStranger{12, 13, {}};
const Credentials kSuper{0, 0, {}};

TEST(AccessTest, OneClassOfBitsDecides) {
  // The owner gets the owner's bits even where the group's would allow more (POSIX 1003.1, 4.7).
  EXPECT_FALSE(permits(kOwner, 10, 20, 0070, kMayRead));
  EXPECT_TRUE(permits(kMember, 10, 20, 0040, kMayRead));
  EXPECT_FALSE(permits(kMember, 10, 20, 0004, kMayRead));
  EXPECT_TRUE(permits(kStranger, 10, 20, 0004, kMayRead));
}

TEST(AccessTest, AllWantedBitsAreNeeded) {
  EXPECT_FALSE(permits(kOwner, 10, 20, 0500, kMayWrite | kMayExecute));
  EXPECT_TRUE(permits(kOwner, 10, 20, 0300, kMayWrite | kMayExecute));
}

TEST(AccessTest, RootPasses) { EXPECT_TRUE(permits(kSuper, 10, 20, 0, kMayRead | kMayWrite)); }

TEST(AccessTest, StickyDirectories) {
  records::Inode directory;
  directory.set_mode(01777);
  directory.set_uid(10);
  records::Inode target;
  target.set_uid(11);
  EXPECT_TRUE(check_delete(kOwner, directory, target));
  EXPECT_TRUE(check_delete(kMember, directory, target));
  EXPECT_TRUE(check_delete(kSuper, directory, target));
  const Status refused = check_delete(kStranger, directory, target);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotOwner);
  directory.set_mode(0777);
  EXPECT_TRUE(check_delete(kStranger, directory, target));
}

TEST(AccessTest, PrivilegeBits) {
  EXPECT_EQ(without_privilege_bits(06755), 0755u);
  EXPECT_EQ(without_privilege_bits(06745), 02745u);
  EXPECT_EQ(without_privilege_bits(01777), 01777u);
}

}  // namespace
}  // namespace symnas::fs
