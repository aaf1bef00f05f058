// Xattrs: checks extended attributes: they belong to files and directories that are there, lie
// within the limits, and are as many as the inode's record counts. Thread class:
// thread-compatible. Memory: 16 bytes for each inode that has some.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/inode_table.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {

class Xattrs {
 public:
  Xattrs(InodeTable& inodes, Findings& findings) : inodes_(inodes), findings_(findings) {}

  void take_inode(Ino ino, const records::Inode& inode);
  // REQUIRES: all inodes are known; keys ascending.
  void take(Ino ino, std::string_view name, std::string_view value);
  void finish();

 private:
  struct Counts {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;  // of names and values
  };
  // Compares what was met of one inode with its record.
  void judge();

  InodeTable& inodes_;
  Findings& findings_;
  std::unordered_map<std::uint64_t, Counts> expected_;  // that were not met yet
  Ino at_;                                              // 0: no attribute was met yet
  Counts met_;                                          // of at_
};

}  // namespace symnas::fs::check
