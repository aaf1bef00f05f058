#include "fsal_cluster/quota/tree_admin.h"

#include <functional>
#include <utility>

#include "fsal_cluster/quota/tree_marker.h"
#include "tests/unit/fsal_cluster/quota/tree_world.h"

namespace symnas::fs {
namespace {

class TreeAdminTest : public testing::Test {
 protected:
  ErrorCode refused(const Handle& directory, Doing doing = Doing::kChange) {
    const auto made = add_tree(world.store(), world.fs(), directory.ino, "/a tree", doing);
    return made ? ErrorCode::kInternal : made.error().code;
  }
  void mark() {
    TreeMarker marker(world.session(), world.fs(), world.context().mount);
    ASSERT_TRUE(marker.turn(world.trees(), [] { return false; }));
  }
  TreeWorld world;
  const Handle root = world.root();
  const Subject of_first{SubjectKind::kTree, 1};
};

TEST_F(TreeAdminTest, WhatIsNoTree) {
  EXPECT_EQ(refused(root), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(world.create(root, "file")), ErrorCode::kInvalidArgument);
  const Handle gone = world.mkdir(root, "gone");
  ASSERT_TRUE(rmdir(world.context(), kRoot, root, "gone"));
  EXPECT_EQ(refused(gone), ErrorCode::kNotFound);
  ASSERT_TRUE(switch_quotas(world.store(), world.fs(), QuotaSwitch::kOff));
  EXPECT_EQ(refused(world.mkdir(root, "d")), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(world.trees().empty());
}

TEST_F(TreeAdminTest, NoneLiesInAnother) {
  const Handle upper = world.mkdir(root, "upper");
  const Handle tree = world.mkdir(upper, "tree");
  const Handle lower = world.mkdir(world.mkdir(tree, "between"), "lower");
  const std::uint32_t id = world.add(tree);
  EXPECT_EQ(refused(tree), ErrorCode::kAlreadyExists);
  EXPECT_EQ(refused(upper), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(lower), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(remove_tree(world.store(), world.fs(), id));
  EXPECT_EQ(world.add(lower), id + 1);
  EXPECT_EQ(refused(upper), ErrorCode::kInvalidArgument);
}

TEST_F(TreeAdminTest, ACheckMakesNothing) {
  const Handle tree = world.mkdir(root, "tree");
  EXPECT_EQ(add_tree(world.store(), world.fs(), tree.ino, "/tree", Doing::kCheck).value_or(0), 1U);
  EXPECT_TRUE(world.trees().empty());
  EXPECT_EQ(world.add(tree), 1U);
  EXPECT_TRUE(remove_tree(world.store(), world.fs(), 1, Doing::kCheck));
  EXPECT_EQ(world.trees().size(), 1U);
  EXPECT_FALSE(remove_tree(world.store(), world.fs(), 2, Doing::kCheck));
}

TEST_F(TreeAdminTest, AnUnknownOutcomeIsLookedUp) {
  const Handle tree = world.mkdir(root, "tree");
  world.fail_next_commit(kv::TxnFault::Kind::kReplyLost);
  EXPECT_EQ(add_tree(world.store(), world.fs(), tree.ino, "/tree").value_or(0), 1U);
  EXPECT_TRUE(world.faults_met());
  EXPECT_EQ(world.trees().size(), 1U);
  world.fail_next_commit(kv::TxnFault::Kind::kReplyLost);
  EXPECT_TRUE(remove_tree(world.store(), world.fs(), 1));
  EXPECT_TRUE(world.trees().empty());
  world.fail_next_commit(kv::TxnFault::Kind::kRequestLost);
  EXPECT_EQ(add_tree(world.store(), world.fs(), tree.ino, "/tree").value_or(0), 2U);
}

TEST_F(TreeAdminTest, FoundByItsDirectory) {
  const Handle tree = world.mkdir(root, "tree");
  const std::uint32_t id = world.add(tree);
  EXPECT_EQ(find_tree(world.store(), world.fs(), tree.ino, "/tree").value_or(0), id);
  const auto none = find_tree(world.store(), world.fs(), kRootIno, "/");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST_F(TreeAdminTest, NumbersAreNotUsedAgain) {
  const Handle tree = world.mkdir(root, "tree");
  const std::uint32_t id = world.add(tree);
  ASSERT_TRUE(remove_tree(world.store(), world.fs(), id));
  ASSERT_TRUE(switch_quotas(world.store(), world.fs(), QuotaSwitch::kOff));
  ASSERT_TRUE(switch_quotas(world.store(), world.fs(), QuotaSwitch::kOn));
  EXPECT_EQ(world.add(tree), id + 1);
}

TEST_F(TreeAdminTest, ALimitLivesAsLongAsItsTree) {
  const Handle tree = world.mkdir(root, "tree");
  LimitEdit edit;
  edit.inodes_hard = 10;
  EXPECT_EQ(code_of(set_limit(world.store(), world.fs(), of_first, edit)), ErrorCode::kNotFound);
  world.add(tree);
  ASSERT_TRUE(set_limit(world.store(), world.fs(), of_first, edit));
  const auto report = read_quotas(world.store(), world.fs());
  ASSERT_TRUE(report->rows.contains(of_first));
  EXPECT_EQ(report->rows.at(of_first).limit->inodes_hard(), 10U);
  ASSERT_TRUE(remove_tree(world.store(), world.fs(), 1));
  EXPECT_FALSE(world.exists(kv::keys::quota_limit(world.fs(), 3, 1)));
  EXPECT_FALSE(read_quotas(world.store(), world.fs())->rows.contains(of_first));
}

TEST_F(TreeAdminTest, TheLimitGoesWithTheDirectory) {
  const Handle tree = world.mkdir(root, "tree");
  world.add(tree);
  LimitEdit edit;
  edit.inodes_hard = 10;
  ASSERT_TRUE(set_limit(world.store(), world.fs(), of_first, edit));
  mark();
  world.session().forget();
  ASSERT_TRUE(rmdir(world.context(), kRoot, root, "tree"));
  EXPECT_TRUE(world.trees().empty());
  EXPECT_FALSE(world.exists(kv::keys::quota_limit(world.fs(), 3, 1)));
}

TEST_F(TreeAdminTest, ADirectoryThatIsReplacedTakesItsTreeAlong) {
  const Handle tree = world.mkdir(root, "tree");
  world.mkdir(root, "other");
  world.add(tree);
  mark();
  ASSERT_TRUE(rename(world.context(), kRoot, root, "other", root, "tree"));
  EXPECT_TRUE(world.trees().empty());
}

// A mount that has not seen the removal makes the number mean something that it does not.
TEST_F(TreeAdminTest, ATreeRemovedMeanwhileHandsNoNumberOn) {
  const Handle tree = world.mkdir(root, "tree");
  const std::uint32_t id = world.add(tree);
  mark();
  ASSERT_TRUE(remove_tree(world.store(), world.fs(), id));
  ASSERT_TRUE(world.session().barrier());
  const Handle file = world.create(tree, "file");
  EXPECT_EQ(world.number(file), 0U);
  EXPECT_TRUE(world.make_link(file, root, "out"));
}

}  // namespace
}  // namespace symnas::fs
