// Directory trees with a quota through mounts.
#include "tests/unit/fsal_cluster/mount/mount_usage_world.h"

namespace symnas::fs {
namespace {

class MountTreeTest : public MountUsageTest {
 protected:
  bool becomes_ready(std::uint32_t id) {
    return eventually([&] {
      clock.jump_ns(1'000'000'000);
      return is_ready(id);
    });
  }
  bool is_ready(std::uint32_t id) {
    const QuotaReport now = report();
    return now.trees.contains(id) && now.trees.at(id).state() == records::QuotaTree::READY;
  }
  Handle mkdir(const Handle& in, const std::string& name) {
    const auto made = first->mkdir(kRoot, in, name, {});
    EXPECT_TRUE(made);
    return made ? made->attributes.handle : Handle{};
  }
  std::uint32_t tree(const Handle& directory) {
    const auto made = add_tree(*formatted.store, formatted.fs, directory.ino, "/tree");
    EXPECT_TRUE(made);
    return made.value_or(0);
  }
  static Subject of(std::uint32_t id) { return {SubjectKind::kTree, id}; }
};

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

TEST_F(MountTreeTest, WhatIsWrittenWhileItIsMarkedIsCounted) {
  first = open(1);
  turn_on();
  const Handle dir = mkdir(root(), "tree");
  const auto file = create(*first, kRoot, dir, "file");
  ASSERT_TRUE(write(*first, *file, 0, 8 * 4096));  // in memory
  const std::uint32_t id = tree(dir);
  ASSERT_TRUE(becomes_ready(id));
  ASSERT_TRUE(write(*first, *file, 8 * 4096, 4 * 4096));
  ASSERT_TRUE(commit(*first, *file));
  EXPECT_EQ(used(of(id)), (Usage{12, 2}));
  SetAttributes less;
  less.size_bytes = 4096;
  less.uid = ann.uid;
  ASSERT_TRUE(first->setattr(kRoot, *file, less));
  EXPECT_EQ(used(of(id)), (Usage{1, 2}));
  expect_exact();
}

TEST_F(MountTreeTest, AnotherMountMarksOnWhenTheFirstOneHasClosed) {
  first = open(1);
  const auto second = open(2);
  turn_on();
  const Handle dir = mkdir(root(), "tree");
  Handle at = dir;
  for (int i = 0; i < 12; ++i) {
    at = mkdir(at, "d");
    for (int j = 0; j < 10; ++j) ASSERT_TRUE(create(*first, kRoot, at, std::to_string(j)));
  }
  const std::uint32_t id = tree(dir);
  ASSERT_TRUE(first->close());
  ASSERT_TRUE(becomes_ready(id));
  EXPECT_EQ(used(of(id)).inodes, 1 + 12 * 11);
  const auto made = create(*second, kRoot, at, "more");
  ASSERT_TRUE(made);
  EXPECT_EQ(used(of(id)).inodes, 2 + 12 * 11);
  expect_exact();
}

TEST_F(MountTreeTest, LimitsHoldWhenAllIsMarked) {
  first = open(1);
  turn_on();
  const Handle dir = mkdir(root(), "tree");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(create(*first, kRoot, dir, std::to_string(i)));
  const std::uint32_t id = tree(dir);
  limit(of(id), {.inodes_hard = 2, .inodes_soft = 1});
  ASSERT_TRUE(becomes_ready(id));
  const auto refused = create(*first, kRoot, dir, "more");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kQuotaExceeded);
  // Its grace runs.
  EXPECT_TRUE(eventually([&] {
    clock.jump_ns(1'000'000'000);
    return report().rows.at(of(id)).grace.inodes_since_ns() > 0;
  }));
  ASSERT_TRUE(remove_tree(*formatted.store, formatted.fs, id));
  EXPECT_TRUE(eventually([&] { return create(*first, kRoot, dir, "more").has_value(); }));
  for (int i = 0; i < 3; ++i) clock.jump_ns(1'000'000'000);
  EXPECT_FALSE(report().rows.contains(of(id)));
}

TEST_F(MountTreeTest, OneMadeBeforeAllIsCountedIsMarkedAfterwards) {
  first = open(1);
  const Handle dir = mkdir(root(), "tree");
  ASSERT_TRUE(create(*first, kRoot, dir, "file"));
  ASSERT_TRUE(switch_quotas(*formatted.store, formatted.fs, QuotaSwitch::kOn));
  const std::uint32_t id = tree(dir);
  ASSERT_TRUE(becomes_ready(id));
  EXPECT_EQ(used(of(id)), (Usage{0, 2}));
  // Counted anew, it is the same tree.
  ASSERT_TRUE(switch_quotas(*formatted.store, formatted.fs, QuotaSwitch::kOff));
  ASSERT_TRUE(create(*first, kRoot, dir, "not counted"));
  turn_on();
  EXPECT_TRUE(is_ready(id));
  EXPECT_EQ(used(of(id)), (Usage{0, 3}));
  expect_exact();
}

TEST_F(MountTreeTest, ARemovedOpenFileIsCountedUntilItIsClosed) {
  first = open(1);
  turn_on();
  const Handle dir = mkdir(root(), "tree");
  const auto file = create(*first, kRoot, dir, "file");
  const std::uint32_t id = tree(dir);
  ASSERT_TRUE(becomes_ready(id));
  first->opened(*file);
  ASSERT_TRUE(write(*first, *file, 0, 4096, WriteStability::kFileSync));
  ASSERT_TRUE(first->unlink(kRoot, dir, "file"));
  EXPECT_EQ(used(of(id)), (Usage{1, 2}));
  first->closed(*file);
  EXPECT_TRUE(eventually([&] {
    clock.jump_ns(1'000'000'000);
    return used(of(id)) == Usage{0, 1};
  }));
  expect_exact();
}

}  // namespace
}  // namespace symnas::fs
