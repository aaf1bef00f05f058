// The part of FileMap that gives blocks back: reservations, truncation.
#include <algorithm>

#include "common/base/check.h"
#include "fsal_cluster/data/file_map.h"

namespace symnas::fs {

bool FileMap::idle() const {
  if (dirty()) return false;
  for (const auto& [index, chunk] : chunks_) {
    for (const MapExtent& e : chunk.extents) {
      if (e.filling.any()) return false;
    }
  }
  return true;
}

std::vector<BlockRun> FileMap::unrecorded() const {
  std::vector<BlockRun> runs;
  for (const auto& [index, chunk] : chunks_) {
    for (const MapExtent& e : chunk.extents) {
      CHECK(!e.filling.any(), "blocks given back under a write");
      if (e.recorded < e.blocks)
        runs.push_back({e.volume_block + e.recorded, e.blocks - e.recorded});
    }
  }
  return runs;
}

std::vector<BlockRun> FileMap::drop_reservations() {
  std::vector<BlockRun> runs;
  for (auto& [index, chunk] : chunks_) {
    for (MapExtent& e : chunk.extents) {
      CHECK(!e.filling.any() && e.written.count() == e.committed.count(),
            "reservation dropped under a write");
      if (e.recorded == e.blocks) continue;
      runs.push_back({e.volume_block + e.recorded, e.blocks - e.recorded});
      if (e.allocated) unrecorded_allocated_ -= e.blocks - e.recorded;
      e.allocated = false;
      e.blocks = e.recorded;
      e.written.resize(e.recorded);
      e.committed.resize(e.recorded);
      e.filling.resize(e.recorded);
    }
    std::erase_if(chunk.extents, [](const MapExtent& e) { return e.blocks == 0; });
    chunk.dirty = false;
  }
  return runs;
}

FileMap::Cut FileMap::plan_cut(std::uint64_t block, std::uint64_t last_chunk) const {
  Cut out;
  for (auto it = chunks_.lower_bound(block / kChunkBlocks);
       it != chunks_.end() && it->first <= last_chunk; ++it) {
    const std::uint64_t base = it->first * kChunkBlocks;
    MapStep::ChunkValue put;
    put.chunk = it->first;
    bool changed = false;
    for (const MapExtent& e : it->second.extents) {
      CHECK(e.recorded == e.blocks, "cut of a map with reservations");
      const std::uint64_t at = base + e.first;
      const auto keep = static_cast<std::uint32_t>(
          block <= at ? 0 : std::min<std::uint64_t>(e.blocks, block - at));
      if (keep > 0) {
        auto* kept = put.value.add_extents();
        kept->set_file_block(e.first);
        kept->set_volume_block(e.volume_block);
        kept->set_blocks(keep);
        kept->set_written(e.committed.bytes(keep));
      }
      if (keep == e.blocks) continue;
      changed = true;
      out.reverse.push_back({e.volume_block, at, e.blocks, keep});
      out.freed.push_back({e.volume_block + keep, e.blocks - keep});
      out.used_blocks_delta -= e.blocks - keep;
    }
    if (changed) out.chunks.push_back(std::move(put));
  }
  return out;
}

void FileMap::cut(std::uint64_t block, const Cut& plan, Revision revision) {
  const std::uint64_t own = block / kChunkBlocks;
  chunks_.erase(chunks_.upper_bound(own), chunks_.end());
  absent_from_ = std::min(absent_from_, own + 1);
  const auto it = chunks_.find(own);
  if (it == chunks_.end()) return;
  const auto in_chunk = static_cast<std::uint32_t>(block % kChunkBlocks);
  for (MapExtent& e : it->second.extents) {
    const std::uint32_t keep = in_chunk <= e.first ? 0 : std::min(e.blocks, in_chunk - e.first);
    if (keep == e.blocks) continue;
    e.blocks = e.recorded = keep;
    e.written.resize(keep);
    e.committed.resize(keep);
    e.filling.resize(keep);
    if (e.written.all()) e.whole = false;
  }
  std::erase_if(it->second.extents, [](const MapExtent& e) { return e.blocks == 0; });
  for (const MapStep::ChunkValue& put : plan.chunks) {
    if (put.chunk != own) continue;
    it->second.revision = put.value.extents_size() == 0 ? Revision{0} : revision;
  }
}

void FileMap::swept(std::uint64_t chunk, Revision revision) {
  const auto it = chunks_.find(chunk);
  if (it != chunks_.end()) it->second.revision = revision;
}

}  // namespace symnas::fs
