// Names: checks directory entries; and with them, that all directories make one tree and that every
// link count is right. Thread class: thread-compatible. Memory: none of its own; results are in the
// table of inodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/inode_table.h"
#include "fsal_cluster/check/orphans.h"
#include "fsal_cluster/schema/name_hash.h"

namespace symnas::fs::check {

class Names {
 public:
  Names(InodeTable& inodes, const Orphans& orphans, std::optional<NameHasher> hasher,
        Findings& findings, Summary& summary);

  // REQUIRES: all inodes and orphans are known.
  void take_bucket(Ino directory, std::uint64_t hash, std::string_view value);
  void finish();

 private:
  void check_place(Ino directory, std::uint64_t hash, const records::DirentBucket& bucket,
                   int index);
  void take_entry(const InodeRow* directory, Ino directory_ino, std::uint64_t hash,
                  const records::Dirent& entry);
  void check_root();
  void check_links(const InodeRow& row);
  void walk_up(std::uint32_t index);

  InodeTable& inodes_;
  const Orphans& orphans_;
  const std::optional<NameHasher> hasher_;
  Findings& findings_;
  Summary& summary_;
  std::vector<std::uint32_t> way_;      // directories of the present walk
  std::vector<std::uint32_t> walk_of_;  // by row: the walk that met it; 0 = none
};

}  // namespace symnas::fs::check
