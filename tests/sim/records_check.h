// Whether the records of a filesystem agree with each other. Independent of the code that writes
// them: it reads the keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"

namespace symnas::sim {

// At any moment: no block with two owners, maps and reverse map agree, used blocks are right, link
// counts are the names there are, the tree is a tree. kQuiet: nothing is left to be swept either.
// Empty: fine; else the first thing that is wrong.
enum class Moment { kAny, kQuiet };
std::string check_records(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                          Moment moment, std::size_t living_mounts = 1);
// Blocks that the reverse map names.
std::uint64_t mapped_blocks(const kv::MemServer& server, FsId fs);

}  // namespace symnas::sim
