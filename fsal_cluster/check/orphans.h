// Orphans: the orphan records, and which dead parts of maps they account for. Thread class:
// thread-compatible.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/inode_table.h"

namespace symnas::fs::check {

class Orphans {
 public:
  Orphans(InodeTable& inodes, Findings& findings) : inodes_(inodes), findings_(findings) {}

  // REQUIRES: all inodes are known.
  void take(Ino ino, std::string_view value);
  // Whether a sweep will free this generation of the inode's map.
  bool explains_dead_map(Ino ino, MapGeneration generation) const;
  // Whether a mount holds the nameless inode open, or will find out that none does.
  bool is_open(Ino ino) const;
  // Whether a sweep will free the blocks of the file above a watermark.
  bool explains_trim(Ino ino) const { return of_.contains(ino.value()); }

 private:
  struct Entry {
    std::uint64_t dead_generations = 0;  // generations below this one are dead
    bool open = false;
  };
  InodeTable& inodes_;
  Findings& findings_;
  std::unordered_map<std::uint64_t, Entry> of_;
};

}  // namespace symnas::fs::check
