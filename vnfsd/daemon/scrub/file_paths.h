// Paths of some inodes of a filesystem, for messages. Blocks: reads all its names once.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/base/result.h"
#include "common/kv/store.h"

namespace symnas::vnfsd::daemon {

// One path for each inode, where names lead to the root. Memory: the names of directories. Errors:
// as fs::check::View::open and read.
Result<std::map<std::uint64_t, std::string>> find_paths(kv::Store& store,
                                                        const std::string& filesystem,
                                                        const std::set<std::uint64_t>& inos);

}  // namespace symnas::vnfsd::daemon
