#include "fsal_cluster/check/quota_trees.h"

#include <gtest/gtest.h>

namespace symnas::fs::check {
namespace {

class QuotaTreesTest : public testing::Test {
 protected:
  // Ascending numbers; a file's name is in `directory`.
  void add(std::uint64_t ino, FileType type, std::uint64_t directory, std::uint32_t tree) {
    InodeRow& row = inodes.add(Ino{ino});
    row.type = static_cast<std::uint8_t>(type);
    row.tree = tree;
    if (type == FileType::kDirectory) {
      row.parent = directory;
    } else {
      row.name_row = inodes.index_of(*inodes.find(Ino{directory}));
    }
  }
  void add_directory(std::uint64_t ino, std::uint64_t parent, std::uint32_t tree) {
    add(ino, FileType::kDirectory, parent, tree);
  }
  void add_file(std::uint64_t ino, std::uint64_t directory, std::uint32_t tree) {
    add(ino, FileType::kRegular, directory, tree);
  }
  void add_tree(std::uint32_t id, std::uint64_t root, records::QuotaTree::State state) {
    trees[id].set_root(root);
    trees[id].set_state(state);
    trees[id].set_path("/t");
  }
  std::uint64_t found(const std::string& text = "") {
    check_quota_trees(inodes, trees, findings);
    for (const Finding& one : findings.kept())
      EXPECT_NE(one.text.find(text), std::string::npos) << one.text;
    return findings.total();
  }
  InodeTable inodes;
  std::map<std::uint32_t, records::QuotaTree> trees;
  Findings findings;
};

TEST_F(QuotaTreesTest, AMarkedTreeHasItsNumberOnAll) {
  add_directory(2, 2, 0);
  add_directory(17, 2, 1);
  add_directory(18, 17, 1);
  add_file(19, 18, 1);
  add_file(20, 2, 0);
  add_tree(1, 17, records::QuotaTree::READY);
  EXPECT_EQ(found(), 0U);
}

TEST_F(QuotaTreesTest, WhatIsPassedByIsFound) {
  add_directory(2, 2, 0);
  add_directory(17, 2, 1);
  add_directory(18, 17, 0);
  add_file(19, 17, 0);
  add_tree(1, 17, records::QuotaTree::READY);
  EXPECT_EQ(found("lies in directory tree 1, but is not counted"), 2U);
}

TEST_F(QuotaTreesTest, NothingIsMissingWhileATreeIsMarked) {
  add_directory(2, 2, 0);
  add_directory(17, 2, 1);
  add_directory(18, 17, 0);
  add_tree(1, 17, records::QuotaTree::MARKING);
  add_tree(2, 99, records::QuotaTree::MARKING);
  EXPECT_EQ(found(), 0U);
}

TEST_F(QuotaTreesTest, ADirectoryOutsideWithTheNumberIsFound) {
  add_directory(2, 2, 0);
  add_directory(17, 2, 1);
  add_directory(18, 2, 1);
  add_tree(1, 17, records::QuotaTree::READY);
  EXPECT_EQ(found("counted for directory tree 1, but does not lie in it"), 1U);
}

TEST_F(QuotaTreesTest, ARootThatIsGoneIsFound) {
  add_directory(2, 2, 0);
  add_tree(1, 17, records::QuotaTree::READY);
  EXPECT_EQ(found("does not exist"), 1U);
}

TEST_F(QuotaTreesTest, TheNumberOfARemovedTreeMeansNothing) {
  add_directory(2, 2, 0);
  add_directory(17, 2, 1);
  add_file(18, 17, 1);
  add_directory(19, 2, 1);
  EXPECT_EQ(found(), 0U);
}

TEST_F(QuotaTreesTest, AFileWithNamesInTwoTreesIsCountedInOne) {
  add_directory(2, 2, 0);
  add_directory(17, 2, 1);
  add_directory(18, 2, 2);
  add_file(19, 17, 2);
  add_tree(1, 17, records::QuotaTree::READY);
  add_tree(2, 18, records::QuotaTree::READY);
  EXPECT_EQ(found(), 0U);
}

}  // namespace
}  // namespace symnas::fs::check
