// The part of FileMap that frees blocks in the middle of a file (DEALLOCATE).
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "fsal_cluster/data/file_map.h"

namespace symnas::fs {
namespace {

void keep(records::MapChunk& value, const MapExtent& e, std::uint32_t from, std::uint32_t to) {
  if (from == to) return;
  BlockBits bits = e.committed;
  if (from > 0) bits = bits.split(from);
  auto* kept = value.add_extents();
  kept->set_file_block(e.first + from);
  kept->set_volume_block(e.volume_block + from);
  kept->set_blocks(to - from);
  kept->set_written(bits.bytes(to - from));
}

}  // namespace

FileMap::Cut FileMap::plan_punch(std::uint64_t block, std::uint64_t end,
                                 std::size_t changes_max) const {
  Cut out;
  out.upto = end;
  for (auto it = chunks_.lower_bound(block / kChunkBlocks);
       it != chunks_.end() && it->first * kChunkBlocks < out.upto; ++it) {
    const std::uint64_t base = it->first * kChunkBlocks;
    MapStep::ChunkValue put;
    put.chunk = it->first;
    bool changed = false;
    for (const MapExtent& e : it->second.extents) {
      CHECK(e.recorded == e.blocks, "punch into a map with reservations");
      const std::uint64_t at = base + e.first;
      const std::uint64_t from = std::max(block, at);
      const std::uint64_t to = std::min(out.upto, at + e.blocks);
      if (from >= to) {
        keep(put.value, e, 0, e.blocks);
        continue;
      }
      changed = true;
      const auto left = static_cast<std::uint32_t>(from - at);
      const auto right = static_cast<std::uint32_t>(to - at);
      keep(put.value, e, 0, left);
      keep(put.value, e, right, e.blocks);
      out.reverse.push_back({e.volume_block, at, e.blocks, left});
      if (right < e.blocks)
        out.reverse.push_back({e.volume_block + right, to, e.blocks - right, e.blocks - right});
      out.freed.push_back({e.volume_block + left, right - left});
      out.used_blocks_delta -= right - left;
      if (out.changes() >= changes_max) out.upto = to;
    }
    if (changed) out.chunks.push_back(std::move(put));
  }
  return out;
}

void FileMap::punch(const Cut& plan, Revision revision) {
  for (const MapStep::ChunkValue& put : plan.chunks) {
    MapChunkState chunk;
    CHECK(parse(chunk, put.value.extents(), "punched map").has_value());
    chunk.revision = put.value.extents_size() == 0 ? Revision{0} : revision;
    chunks_.at(put.chunk) = std::move(chunk);
  }
}

}  // namespace symnas::fs
