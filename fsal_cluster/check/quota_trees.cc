#include "fsal_cluster/check/quota_trees.h"

#include <string>

#include <fmt/core.h>

namespace symnas::fs::check {
namespace {

using Trees = std::map<std::uint32_t, records::QuotaTree>;

const char* const kWhatToDo = "; symnas quota tree rm and add count anew";

// The directory that has a name of the inode; nullptr: none is known.
const InodeRow* directory_of(InodeTable& inodes, const InodeRow& row) {
  if (row.is(FileType::kDirectory)) return inodes.find(Ino{row.parent});
  return row.name_row == InodeRow::kNoRow ? nullptr : &inodes.at(row.name_row);
}

// The number of a tree that was removed is none.
std::uint32_t tree_of(const Trees& trees, const InodeRow& row) {
  return trees.contains(row.tree) ? row.tree : 0;
}

void check_root(InodeTable& inodes, std::uint32_t id, const records::QuotaTree& tree,
                Findings& findings) {
  const InodeRow* root = inodes.find(Ino{tree.root()});
  const bool marked = tree.state() == records::QuotaTree::READY;
  // While nobody marks it is not even looked whether it is still there.
  if (!marked || (root != nullptr && root->is(FileType::kDirectory) && root->tree == id)) return;
  findings.add(
      Kind::kCounter, Ino{tree.root()},
      fmt::format("is the root of directory tree {} ({}), but {}{}", id, printable(tree.path()),
                  root == nullptr ? "does not exist" : "is no directory with its number",
                  kWhatToDo));
}

void check_row(InodeTable& inodes, const Trees& trees, const InodeRow& row, Findings& findings) {
  const InodeRow* directory = directory_of(inodes, row);
  if (!row.readable() || directory == nullptr || !directory->readable()) return;
  const std::uint32_t above = tree_of(trees, *directory);
  const std::uint32_t own = tree_of(trees, row);
  const bool is_directory = row.is(FileType::kDirectory);
  // A file with a name in another tree may be counted there, or may have been.
  const bool missing = above != 0 && trees.at(above).state() == records::QuotaTree::READY &&
                       own != above && (is_directory || row.tree == 0);
  if (missing)
    findings.add(
        Kind::kCounter, Ino{row.ino},
        fmt::format("lies in directory tree {}, but is not counted for it{}", above, kWhatToDo));
  if (is_directory && own != 0 && own != above && trees.at(own).root() != row.ino)
    findings.add(
        Kind::kCounter, Ino{row.ino},
        fmt::format("is counted for directory tree {}, but does not lie in it{}", own, kWhatToDo));
}

}  // namespace

void check_quota_trees(InodeTable& inodes, const Trees& trees, Findings& findings) {
  if (trees.empty()) return;
  for (const auto& [id, tree] : trees) check_root(inodes, id, tree, findings);
  for (const InodeRow& row : inodes.rows()) check_row(inodes, trees, row, findings);
}

}  // namespace symnas::fs::check
