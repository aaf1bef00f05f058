// Directory trees with a quota through mounts.
#include "tests/unit/fsal_cluster/mount/mount_usage_world.h"

namespace symnas::fs {
namespace {

using MountTreeTest = MountUsageTest;

TEST_F(MountTreeTest, AFilledDirectoryBecomesATree) {
  first = open(1);
  turn_on();
  const auto made = first->mkdir(kRoot, root(), "tree", {});
  const auto below = first->mkdir(kRoot, made->attributes.handle, "below", {});
  const Handle tree = made->attributes.handle;
  ASSERT_TRUE(create(*first, kRoot, below->attributes.handle, "deep"));
  const auto other = first->mkdir(kRoot, root(), "other", {});
  const auto id = add_tree(*formatted.store, formatted.fs, tree.ino, "/tree");
  ASSERT_TRUE(id) << id.error().message;
  const Subject subject{SubjectKind::kTree, *id};
  ASSERT_TRUE(eventually([&] {
    clock.jump_ns(1'000'000'000);
    return report().trees.at(*id).state() == records::QuotaTree::READY;
  }));
  EXPECT_EQ(used(subject).inodes, 3);
  // What is made in it is counted; root is limited, too.
  limit(subject, {.inodes_hard = 4});
  ASSERT_TRUE(create(*first, kRoot, below->attributes.handle, "more"));
  const auto refused = create(*first, kRoot, tree, "too many");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kQuotaExceeded);
  const auto moved =
      first->rename(kRoot, below->attributes.handle, "more", other->attributes.handle, "more");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kCrossDevice);
  EXPECT_TRUE(first->rename(kRoot, below->attributes.handle, "more", tree, "more"));
  const auto nested = add_tree(*formatted.store, formatted.fs, below->attributes.handle.ino, "/n");
  ASSERT_FALSE(nested);
  EXPECT_EQ(nested.error().code, ErrorCode::kInvalidArgument);
  // Without its record the number means nothing.
  ASSERT_TRUE(remove_tree(*formatted.store, formatted.fs, *id));
  EXPECT_TRUE(first->rename(kRoot, tree, "more", other->attributes.handle, "more"));
  ASSERT_TRUE(create(*first, kRoot, tree, "free"));
  expect_exact();
}

TEST_F(MountTreeTest, ATreeGoesWithItsDirectory) {
  first = open(1);
  turn_on();
  const auto made = first->mkdir(kRoot, root(), "tree", {});
  const auto id = add_tree(*formatted.store, formatted.fs, made->attributes.handle.ino, "/tree");
  ASSERT_TRUE(id);
  ASSERT_TRUE(eventually([&] {
    clock.jump_ns(1'000'000'000);
    return report().trees.at(*id).state() == records::QuotaTree::READY;
  }));
  ASSERT_TRUE(first->rmdir(kRoot, root(), "tree"));
  EXPECT_TRUE(report().trees.empty());
  const auto again = first->mkdir(kRoot, root(), "tree", {});
  EXPECT_EQ(*add_tree(*formatted.store, formatted.fs, again->attributes.handle.ino, "/tree"),
            *id + 1);
}

}  // namespace
}  // namespace symnas::fs
