// Placement: decides which space to ask for when a write meets a hole. Pure functions. Rules: a
// small file gets exactly what it needs, growing in place. Sequential growth is contiguous, with as
// much space reserved ahead as has been written. Holes inside large files are filled by whole 1 MiB
// units. Extents of large files begin where file block and volume block are equal modulo 64 KiB.
#pragma once

#include <cstdint>
#include <optional>

#include "fsal_cluster/data/file_map.h"
#include "fsal_cluster/space/free_map.h"

namespace symnas::fs {

// What is known of how a file grows.
struct GrowthState {
  std::uint64_t size_bytes = 0;                   // now
  std::uint64_t tail_end_block = 0;               // end of the last sequential placement; 0 = none
  std::uint64_t streak_blocks = 0;                // placed sequentially so far
  std::uint64_t reserve_max = kReserveBlocksMax;  // less when the volume is nearly full
};

struct Placement {
  std::uint64_t file_block = 0;
  SpaceWish space;
  bool whole = false;       // record all of it at once (sparse unit)
  bool sequential = false;  // counts for the streak
};

// The placement for the first hole of [block, end); nullopt when all of it is mapped. The space
// that is given may be shorter than the placement: ask again. REQUIRES: block < end; the chunks of
// [block, end) and of the file's last block are loaded.
std::optional<Placement> next_placement(const FileMap& map, const GrowthState& growth,
                                        std::uint64_t block, std::uint64_t end);

// The wish for `blocks` blocks at the hole that begins at `block`: for ALLOCATE, which takes
// exactly what it was asked for. REQUIRES: as for next_placement().
SpaceWish wish_at(const FileMap& map, std::uint64_t block, std::uint64_t blocks);

}  // namespace symnas::fs
