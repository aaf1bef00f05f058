// Whether directory trees with a quota are trees. It reads the keys, independent of the code that
// writes them.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"

namespace symnas::sim {

// Returns "" or the first thing that is wrong. At any moment: all that lies below the root of a
// READY tree has its number; what has the number of a tree lies below its root; no tree lies in
// another one. Files of `linked` may have names in several trees: they have any number.
std::string check_trees(const kv::MemServer& server, FsId fs,
                        const std::set<std::uint64_t>& linked);

}  // namespace symnas::sim
