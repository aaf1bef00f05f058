// Checks whether the records of a filesystem agree with each other. It reads the keys, independent
// of the code that writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"

namespace symnas::sim {

// Returns "" or the first thing that is wrong. At any moment: no block has two owners, maps and
// reverse map agree, the numbers of used blocks are right, link counts are the numbers of names,
// the tree is a tree. kQuiet: and nothing is left to be swept.
enum class Moment { kAny, kQuiet };
std::string check_records(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                          Moment moment, std::size_t living_mounts = 1);
// The number of blocks in the reverse map.
std::uint64_t mapped_blocks(const kv::MemServer& server, FsId fs);

}  // namespace symnas::sim
