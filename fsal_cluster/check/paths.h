// Paths: from inodes up to the root, for messages. Blocks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "fsal_cluster/check/checker.h"
#include "fsal_cluster/check/view.h"

namespace symnas::fs::check {

// One absolute path for each inode, as far as names lead to the root; an inode without one is left
// out. Looks up names level by level, kPathKeysMax at a time. Errors: as View::get.
Result<std::map<std::uint64_t, std::string>> paths_of(View& view, Checker& checker,
                                                      const std::vector<Ino>& inos);

}  // namespace symnas::fs::check
