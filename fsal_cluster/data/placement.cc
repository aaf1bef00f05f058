#include "fsal_cluster/data/placement.h"

#include <algorithm>

namespace symnas::fs {
namespace {

std::uint64_t blocks_of(std::uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

// Where growth in place would continue: behind the volume block of the block before `block`.
std::optional<std::uint64_t> goal_of(const FileMap& map, std::uint64_t block) {
  if (block == 0 || !map.loaded((block - 1) / kChunkBlocks)) return std::nullopt;
  const FileMap::Piece before = map.find(block - 1, block);
  if (before.state == FileMap::State::kHole) return std::nullopt;
  return before.volume_block + 1;
}

void place(const FileMap& map, Placement& placement, bool aligned) {
  SpaceWish& wish = placement.space;
  wish.goal = goal_of(map, placement.file_block);
  if (!aligned) return;
  wish.align = kAlignBlocks;
  wish.residue = static_cast<std::uint32_t>(placement.file_block % kAlignBlocks);
  if (wish.goal && *wish.goal % kAlignBlocks != wish.residue) wish.goal.reset();
}

Placement unit(const FileMap& map, std::uint64_t hole, std::uint64_t block, std::uint64_t end) {
  const std::uint64_t unit_begin = hole / kUnitBlocks * kUnitBlocks;
  std::uint64_t from = hole;
  while (from > unit_begin && map.find(from - 1, from).state == FileMap::State::kHole) --from;
  const std::uint64_t to = map.next_mapped(hole, unit_begin + kUnitBlocks);
  Placement out;
  out.file_block = from;
  out.space.blocks = to - from;
  out.whole = from < block || to > end;
  place(map, out, true);
  return out;
}

}  // namespace

SpaceWish wish_at(const FileMap& map, std::uint64_t block, std::uint64_t blocks) {
  Placement placement;
  placement.file_block = block;
  placement.space.blocks = blocks;
  place(map, placement, block + blocks > kAlignBlocks);
  return placement.space;
}

std::optional<Placement> next_placement(const FileMap& map, const GrowthState& growth,
                                        std::uint64_t block, std::uint64_t end) {
  std::uint64_t hole = block;
  while (hole < end) {
    const FileMap::Piece piece = map.find(hole, end);
    if (piece.state == FileMap::State::kHole) break;
    hole += piece.blocks;
  }
  if (hole >= end) return std::nullopt;
  const std::uint64_t eof = blocks_of(growth.size_bytes);
  const bool small = std::max(eof, end) * kBlockBytes <= kInlineBytesMax;
  const std::uint64_t hole_end = map.next_mapped(hole, end);
  Placement out;
  out.file_block = hole;
  if (hole < eof && !small) return unit(map, hole, block, end);
  if (hole >= eof) {
    const std::uint64_t from = std::max(eof, growth.tail_end_block);
    if (hole > from && !small) {
      const bool near = hole - from <= kGapPerWrite * (end - block);
      if (!near || map.next_mapped(from, hole) < hole) return unit(map, hole, block, end);
      out.file_block = from;
    }
    out.sequential = true;
  }
  out.space.blocks = hole_end - out.file_block;
  if (out.sequential && hole_end == end && growth.streak_blocks > 0 && growth.reserve_max > 0) {
    const std::uint64_t most = std::min(growth.reserve_max, kReserveBlocksMax);
    const std::uint64_t ahead = std::min(most, std::max(kReserveBlocksMin, growth.streak_blocks));
    out.space.blocks = map.next_mapped(end, end + ahead) - out.file_block;
  }
  place(map, out, (out.file_block + out.space.blocks) > kAlignBlocks);
  return out;
}

}  // namespace symnas::fs
