#include "fsal_cluster/quota/tree_marker.h"

#include <memory>
#include <vector>

#include "fsal_cluster/quota/limits.h"
#include "tests/unit/fsal_cluster/quota/tree_world.h"

namespace symnas::fs {
namespace {

// /tree has a and b; a has x, which has deep, and so on: enough steps to be interrupted at.
struct Filled : TreeWorld {
  Handle outside = mkdir(root(), "outside");
  Handle tree = mkdir(root(), "tree");
  Handle a = mkdir(tree, "a");
  Handle b = mkdir(tree, "b");
  Handle x = mkdir(a, "x");
  Handle y = mkdir(b, "y");
  Handle in_x = create(x, "deep");
  Handle in_y = create(y, "deep");
  Handle in_a = create(a, "file");
  Handle in_b = create(b, "file");
  std::uint32_t id = add(tree);
  TreeMarker marker{session(), fs(), context().mount};

  Status steps(int count) {
    return marker.turn(trees(), [count]() mutable { return count-- == 0; });
  }
  bool finish() {
    for (int turns = 0; turns < 100; ++turns) {
      EXPECT_TRUE(steps(-1));
      if (trees().contains(id) && trees()[id].state() == records::QuotaTree::READY) return true;
    }
    return false;
  }
  // Empty: all have the number of the tree.
  std::string unmarked(const std::vector<Handle>& of) {
    std::string out;
    for (const Handle& handle : of) {
      if (number(handle) != id) out += std::to_string(handle.ino.value()) + " ";
    }
    return out;
  }
  std::vector<Handle> all() const { return {tree, a, b, x, y, in_x, in_y, in_a, in_b}; }
};
// More than a whole pass has.
constexpr int kStepsMax = 12;

TEST(TreeMarkerTest, AllBelowGetsTheNumber) {
  Filled world;
  ASSERT_TRUE(world.finish());
  EXPECT_EQ(world.unmarked(world.all()), "");
  EXPECT_EQ(world.number(world.outside), 0U);
  EXPECT_EQ(world.trees()[world.id].marker(), 0U);
}

TEST(TreeMarkerTest, ADirectoryThatMovesInTheTreeIsNotMissed) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    for (const bool back : {false, true}) {
      Filled world;
      ASSERT_TRUE(world.steps(steps));
      const auto moved =
          back ? world.move(world.b, "y", world.a) : world.move(world.a, "x", world.b);
      EXPECT_TRUE(moved) << moved.error().message;
      const auto file =
          back ? world.move(world.b, "file", world.x) : world.move(world.a, "file", world.y);
      EXPECT_TRUE(file) << file.error().message;
      const Handle made = world.create(back ? world.y : world.x, "made meanwhile");
      ASSERT_TRUE(world.finish());
      EXPECT_EQ(world.unmarked(world.all()), "");
      EXPECT_EQ(world.unmarked({made}), "");
    }
  }
}

// The list is for this: another marker has marked it, and this one does not find it any more.
TEST(TreeMarkerTest, ADirectoryThatMovesIsNotMissedAfterATakeOver) {
  for (int before = 1; before < kStepsMax; ++before) {
    for (int steps = 1; steps < kStepsMax; ++steps) {
      SCOPED_TRACE(std::to_string(before) + " " + std::to_string(steps));
      Filled world;
      ASSERT_TRUE(world.steps(before));
      TreeMarker second(world.session(), world.fs(), MountId{99});
      ASSERT_TRUE(second.turn(world.trees(), [steps]() mutable { return steps-- == 0; }));
      EXPECT_TRUE(world.move(world.a, "x", world.b));
      EXPECT_TRUE(world.move(world.b, "y", world.a));
      // The first one goes on as if nothing had happened, and gives up.
      if (world.trees()[world.id].marker() == 99) {
        ASSERT_TRUE(world.steps(2));
      }
      ASSERT_TRUE(world.finish());
      EXPECT_EQ(world.unmarked(world.all()), "");
    }
  }
}

TEST(TreeMarkerTest, NoDirectoryLeavesOrEntersATreeThatIsMarked) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    Filled world;
    const Handle child = world.mkdir(world.outside, "child");
    ASSERT_TRUE(world.steps(steps));
    EXPECT_EQ(code_of(world.move(world.a, "x", world.outside)), ErrorCode::kCrossDevice);
    EXPECT_EQ(code_of(world.move(world.outside, "child", world.b)), ErrorCode::kCrossDevice);
    EXPECT_TRUE(world.move(world.root(), "tree", world.outside));
    ASSERT_TRUE(world.finish());
    EXPECT_EQ(world.unmarked(world.all()), "");
    EXPECT_EQ(world.number(child), 0U);
  }
}

TEST(TreeMarkerTest, TreesDoNotComeToLieInEachOther) {
  for (int steps = 0; steps < 2 * kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    Filled world;
    const Handle other = world.mkdir(world.outside, "other");
    const Handle in_other = world.create(other, "file");
    const std::uint32_t second = world.add(other);
    ASSERT_TRUE(world.steps(steps));
    EXPECT_EQ(code_of(world.move(world.outside, "other", world.x)), ErrorCode::kCrossDevice);
    EXPECT_EQ(code_of(world.move(world.root(), "outside", world.x)), ErrorCode::kCrossDevice);
    ASSERT_TRUE(world.finish());
    ASSERT_TRUE(world.finish());
    EXPECT_EQ(world.unmarked(world.all()), "");
    EXPECT_EQ(world.number(in_other), second);
  }
}

// Decided before the tree was made, sent after it.
TEST(TreeMarkerTest, AMoveThatKnowsNothingOfTheTreeIsDecidedAnew) {
  TreeWorld world;
  const Handle tree = world.mkdir(world.root(), "tree");
  const Handle outside = world.mkdir(world.root(), "outside");
  const Handle child = world.mkdir(outside, "child");
  world.session().interrupt([&] { world.add(tree); });
  EXPECT_EQ(code_of(world.move(outside, "child", tree)), ErrorCode::kCrossDevice);
  EXPECT_EQ(world.number(child), 0U);
}

TEST(TreeMarkerTest, LinksWithinATreeThatIsMarked) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    Filled world;
    const Handle foreign = world.create(world.outside, "file");
    ASSERT_TRUE(world.steps(steps));
    const auto one = world.make_link(world.in_x, world.b, "one");
    EXPECT_TRUE(one) << one.error().message;
    const auto two = world.make_link(world.in_b, world.x, "two");
    EXPECT_TRUE(two) << two.error().message;
    if (world.number(world.in_a) == world.id) {
      EXPECT_EQ(code_of(world.make_link(world.in_a, world.outside, "out")),
                ErrorCode::kCrossDevice);
    }
    ASSERT_TRUE(world.finish());
    EXPECT_EQ(world.unmarked(world.all()), "");
    EXPECT_EQ(code_of(world.make_link(foreign, world.x, "in")), ErrorCode::kCrossDevice);
    EXPECT_EQ(code_of(world.make_link(world.in_x, world.outside, "out")), ErrorCode::kCrossDevice);
    EXPECT_EQ(code_of(world.make_link(world.x, world.outside, "out")), ErrorCode::kIsDirectory);
  }
}

TEST(TreeMarkerTest, ManyRenamedDirectoriesAreNotRefused) {
  Filled world;
  std::vector<Handle> made;
  for (int i = 0; i < kTreeMovedMax + 20; ++i) {
    made.push_back(world.mkdir(world.a, "d" + std::to_string(i)));
    made.push_back(world.create(made.back(), "file"));
  }
  ASSERT_TRUE(world.steps(3));
  // As while usage is not counted: nobody marks.
  for (int i = 0; i < kTreeMovedMax + 20; ++i)
    ASSERT_TRUE(world.move(world.a, "d" + std::to_string(i), world.b)) << i;
  EXPECT_EQ(world.trees()[world.id].marker(), 0U);
  ASSERT_TRUE(world.finish());
  EXPECT_EQ(world.unmarked(world.all()), "");
  EXPECT_EQ(world.unmarked(made), "");
}

TEST(TreeMarkerTest, EachTurnTakesUpWhatWasRenamed) {
  Filled world;
  ASSERT_TRUE(world.steps(3));
  ASSERT_TRUE(world.move(world.a, "x", world.b));
  if (world.trees()[world.id].moved_size() == 0) GTEST_FAIL() << "not on the list";
  ASSERT_TRUE(world.steps(0));
  EXPECT_EQ(world.trees()[world.id].moved_size(), 0);
  ASSERT_TRUE(world.finish());
  EXPECT_EQ(world.unmarked(world.all()), "");
}

TEST(TreeMarkerTest, WhatOthersChangeMeanwhileKeepsTheirChange) {
  Filled world;
  ASSERT_TRUE(world.steps(1));
  world.session().interrupt([&] { world.chmod(world.a, 0711); });
  ASSERT_TRUE(world.finish());
  EXPECT_EQ(world.inode(world.a).mode(), 0711U);
  EXPECT_EQ(world.unmarked(world.all()), "");
}

TEST(TreeMarkerTest, ManyTreesAreOneWork) {
  Filled world;
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(world.add(world.mkdir(world.outside, std::to_string(i))));
  int turns = 0;
  do {
    ASSERT_TRUE(world.steps(-1));
    ++turns;
  } while (world.marker.is_busy());
  EXPECT_GT(turns, 1);
  for (const std::uint32_t id : ids)
    EXPECT_EQ(world.trees()[id].state(), records::QuotaTree::READY);
}

TEST(TreeMarkerTest, ARemovedTreeIsLeftAlone) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    Filled world;
    ASSERT_TRUE(world.steps(steps));
    ASSERT_TRUE(remove_tree(world.store(), world.fs(), world.id));
    ASSERT_TRUE(world.session().barrier());
    ASSERT_TRUE(world.steps(-1));
    EXPECT_FALSE(world.marker.is_busy());
    // It may be a tree again, and parts of it another one.
    const std::uint32_t next = world.add(world.a);
    EXPECT_EQ(next, world.id + 1);
    world.id = next;
    EXPECT_EQ(code_of(world.move(world.b, "y", world.a)), ErrorCode::kCrossDevice);
    ASSERT_TRUE(world.finish());
    EXPECT_EQ(world.unmarked({world.a, world.x, world.in_x, world.in_a}), "");
    EXPECT_NE(world.number(world.b), next);
  }
}

TEST(TreeMarkerTest, ATreeWhoseDirectoryIsGoneGoes) {
  TreeWorld world;
  const Handle tree = world.mkdir(world.root(), "tree");
  world.add(tree);
  ASSERT_TRUE(rmdir(world.context(), kRoot, world.root(), "tree"));  // it has no number yet
  EXPECT_EQ(world.trees().size(), 1U);
  TreeMarker marker(world.session(), world.fs(), world.context().mount);
  ASSERT_TRUE(marker.turn(world.trees(), [] { return false; }));
  EXPECT_TRUE(world.trees().empty());
}

TEST(TreeMarkerTest, AnUnreadableDirectoryEndsNoTree) {
  TreeWorld world;
  const Handle tree = world.mkdir(world.root(), "tree");
  const std::uint32_t id = world.add(tree);
  kv::Txn txn;
  txn.success = {kv::put(kv::keys::inode(world.fs(), tree.ino), "\xff\xff")};
  ASSERT_TRUE(kv::txn_blocking(world.store(), txn, 1000));
  TreeMarker marker(world.session(), world.fs(), world.context().mount);
  EXPECT_EQ(code_of(marker.turn(world.trees(), [] { return false; })), ErrorCode::kCorrupt);
  EXPECT_TRUE(world.trees().contains(id));
}

}  // namespace
}  // namespace symnas::fs
