// UsedBlocks: what the reverse map says is used. Blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/session.h"
#include "fsal_cluster/space/free_map.h"

namespace symnas::fs {

struct UsedBlocks {
  std::vector<BlockRun> recorded;
  // From where a record begins that cannot be read, or has a length that cannot be, to the next
  // record or the group's end: nobody knows how much of it is free.
  std::vector<BlockRun> unreadable;
};

// Reads the reverse map of one group, or of all. A key that is too short, or of another group, has
// no block. Errors: as Session::range.
Result<UsedBlocks> read_used_blocks(kv::Session& session, FsId fs,
                                    std::optional<std::uint32_t> group, std::uint64_t group_blocks);

}  // namespace symnas::fs
