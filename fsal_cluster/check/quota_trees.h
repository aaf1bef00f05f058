// Whether directory trees with a quota hold what lies in them: all of a tree that is marked has its
// number, and no directory elsewhere does. Thread-safe: a pure function.
#pragma once

#include <cstdint>
#include <map>

#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/inode_table.h"
#include "fsal_cluster/quota/records.pb.h"

namespace symnas::fs::check {

// REQUIRES: all names are known (name_row).
void check_quota_trees(InodeTable& inodes, const std::map<std::uint32_t, records::QuotaTree>& trees,
                       Findings& findings);

}  // namespace symnas::fs::check
