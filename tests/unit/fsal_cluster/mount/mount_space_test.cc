// What statfs shows of a filesystem and of a directory tree with limits.
#include "tests/unit/fsal_cluster/mount/mount_usage_world.h"

namespace symnas::fs {
namespace {

using MountSpaceTest = MountUsageTest;

TEST_F(MountSpaceTest, StatfsShowsWhatTheLimitLeaves) {
  first = open(1);
  turn_on();
  const Handle tree = first->mkdir(kRoot, root(), "tree", {})->attributes.handle;
  const Handle below = first->mkdir(kRoot, tree, "below", {})->attributes.handle;
  const auto id = add_tree(*formatted.store, formatted.fs, tree.ino, "/tree");
  ASSERT_TRUE(id);
  ASSERT_TRUE(eventually([&] {
    clock.jump_ns(1'000'000'000);
    return report().trees.at(*id).state() == records::QuotaTree::READY;
  }));
  const SpaceUse whole = *first->statfs(root());
  limit({SubjectKind::kTree, *id}, {.bytes_hard = 8 * kMiB, .inodes_hard = 10});
  ASSERT_TRUE(eventually([&] { return first->statfs(tree)->total_bytes == 8 * kMiB; }));
  const auto file = create(*first, kRoot, below, "file");
  ASSERT_TRUE(write(*first, *file, 0, kMiB, WriteStability::kFileSync));
  const SpaceUse inside = *first->statfs(below);
  EXPECT_EQ(inside.total_bytes, 8 * kMiB);
  EXPECT_EQ(inside.free_bytes, 7 * kMiB);
  EXPECT_EQ(inside.total_files, 10U);
  EXPECT_EQ(inside.free_files, 7U);
  EXPECT_EQ(first->statfs(root())->total_bytes, whole.total_bytes);
  EXPECT_EQ(first->statfs(std::nullopt)->total_bytes, whole.total_bytes);
  // A limit of all users holds in a tree, too.
  limit({SubjectKind::kFilesystem, 0}, {.bytes_hard = 4 * kMiB});
  ASSERT_TRUE(eventually([&] { return first->statfs(root())->total_bytes == 4 * kMiB; }));
  EXPECT_EQ(first->statfs(below)->total_bytes, 4 * kMiB);
  EXPECT_EQ(first->statfs(below)->free_bytes, 3 * kMiB);
  ASSERT_TRUE(remove_tree(*formatted.store, formatted.fs, *id));
  ASSERT_TRUE(eventually([&] { return first->statfs(below)->total_files > 10; }));
  EXPECT_EQ(code(first->statfs(Handle{formatted.fs, Ino{99999}, Generation{1}})),
            ErrorCode::kStale);
}

}  // namespace
}  // namespace symnas::fs
