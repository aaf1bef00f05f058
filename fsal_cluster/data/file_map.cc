#include "fsal_cluster/data/file_map.h"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "common/base/check.h"

namespace symnas::fs {
namespace {

auto after(std::vector<MapExtent>& extents, std::uint32_t block) {
  return std::upper_bound(extents.begin(), extents.end(), block,
                          [](std::uint32_t b, const MapExtent& e) { return b < e.first; });
}

}  // namespace

Status FileMap::parse(MapChunkState& chunk,
                      const google::protobuf::RepeatedPtrField<records::Extent>& in,
                      const std::string& what) const {
  std::uint64_t at = 0;
  for (const records::Extent& e : in) {
    const bool sane =
        e.blocks() > 0 && e.file_block() >= at && e.file_block() + e.blocks() <= kChunkBlocks &&
        e.volume_block() / group_blocks_ == (e.volume_block() + e.blocks() - 1) / group_blocks_;
    if (!sane) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: extent at file block {} has {} blocks at volume block {}", what,
                              e.file_block(), e.blocks(), e.volume_block()));
    }
    at = e.file_block() + e.blocks();
    MapExtent extent;
    extent.first = static_cast<std::uint32_t>(e.file_block());
    extent.blocks = e.blocks();
    extent.volume_block = e.volume_block();
    extent.recorded = e.blocks();
    extent.written = BlockBits::parse(e.written(), e.blocks());
    extent.whole = !extent.written.all();
    extent.committed = extent.written;
    extent.filling = BlockBits(e.blocks());
    chunk.extents.push_back(std::move(extent));
  }
  return {};
}

Status FileMap::load_inline(const records::Inode& inode) {
  clear();
  return parse(chunks_[0], inode.extents(), "inline map");
}

void FileMap::load_chunked(std::uint64_t chunks) {
  clear();
  chunks_.clear();
  absent_from_ = chunks;
}

Status FileMap::load_chunk(std::uint64_t index, const records::MapChunk& value, Revision revision) {
  if (loaded(index)) return {};
  MapChunkState chunk;
  SYMNAS_TRY(parse(chunk, value.extents(), fmt::format("map chunk {}", index)));
  chunk.revision = revision;
  chunks_.emplace(index, std::move(chunk));
  return {};
}

void FileMap::clear() {
  chunks_.clear();
  chunks_[0];
  absent_from_ = 1;
  unrecorded_written_ = 0;
  unrecorded_allocated_ = 0;
}

const MapExtent* FileMap::extent_at(std::uint64_t block) const {
  const auto chunk = chunks_.find(block / kChunkBlocks);
  if (chunk == chunks_.end()) return nullptr;
  const auto in_chunk = static_cast<std::uint32_t>(block % kChunkBlocks);
  const auto& extents = chunk->second.extents;
  auto it = std::upper_bound(extents.begin(), extents.end(), in_chunk,
                             [](std::uint32_t b, const MapExtent& e) { return b < e.first; });
  if (it == extents.begin()) return nullptr;
  --it;
  return in_chunk < it->end() ? &*it : nullptr;
}

FileMap::Piece FileMap::find(std::uint64_t block, std::uint64_t end) const {
  CHECK(block < end && loaded(block / kChunkBlocks), "map chunk not loaded");
  const std::uint64_t chunk_end = (block / kChunkBlocks + 1) * kChunkBlocks;
  const std::uint64_t stop = std::min(end, chunk_end);
  const MapExtent* extent = extent_at(block);
  if (extent == nullptr) return {State::kHole, block, 0, next_mapped(block, stop) - block};
  const auto i = static_cast<std::uint32_t>(block % kChunkBlocks) - extent->first;
  const bool written = extent->written.test(i);
  const std::uint64_t run = extent->written.next(i, !written) - i;
  return {written ? State::kWritten : State::kUnwritten, block, extent->volume_block + i,
          std::min(run, stop - block)};
}

std::uint64_t FileMap::next_mapped(std::uint64_t block, std::uint64_t end) const {
  while (block < end) {
    const std::uint64_t index = block / kChunkBlocks;
    const auto chunk = chunks_.find(index);
    if (chunk != chunks_.end()) {
      const auto in_chunk = static_cast<std::uint32_t>(block % kChunkBlocks);
      const auto& extents = chunk->second.extents;
      const auto it = std::partition_point(extents.begin(), extents.end(),
                                           [&](const MapExtent& e) { return e.end() <= in_chunk; });
      if (it != extents.end()) {
        return std::min(end, std::max(block, index * kChunkBlocks + it->first));
      }
    }
    block = (index + 1) * kChunkBlocks;
  }
  return end;
}

void FileMap::add(std::uint64_t file_block, BlockRun run, bool whole) {
  while (run.blocks > 0) {
    const std::uint64_t index = file_block / kChunkBlocks;
    const auto first = static_cast<std::uint32_t>(file_block % kChunkBlocks);
    const auto blocks =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(run.blocks, kChunkBlocks - first));
    CHECK(loaded(index), "growth in a chunk not loaded");
    auto& extents = chunks_[index].extents;
    const auto next = after(extents, first);
    CHECK(next == extents.end() || first + blocks <= next->first, "growth over an extent");
    MapExtent* previous = next == extents.begin() ? nullptr : &*std::prev(next);
    CHECK(previous == nullptr || previous->end() <= first, "growth over an extent");
    // What ALLOCATE reserved is counted by its extent: nothing is added to that.
    if (previous != nullptr && previous->end() == first && previous->whole == whole &&
        !previous->allocated && previous->volume_end() == run.start &&
        previous->volume_block / group_blocks_ == run.start / group_blocks_) {
      previous->blocks += blocks;
      previous->written.resize(previous->blocks);
      previous->committed.resize(previous->blocks);
      previous->filling.resize(previous->blocks);
    } else {
      MapExtent extent;
      extent.first = first;
      extent.blocks = blocks;
      extent.volume_block = run.start;
      extent.whole = whole;
      extent.written = extent.committed = extent.filling = BlockBits(blocks);
      extents.insert(next, std::move(extent));
    }
    file_block += blocks;
    run = {run.start + blocks, run.blocks - blocks};
  }
}

template <class Visit>
void FileMap::for_each_part(std::uint64_t block, std::uint64_t end, Visit visit) {
  while (block < end) {
    const auto chunk = chunks_.find(block / kChunkBlocks);
    CHECK(chunk != chunks_.end(), "blocks not mapped");
    const auto in_chunk = static_cast<std::uint32_t>(block % kChunkBlocks);
    const auto it = after(chunk->second.extents, in_chunk);
    CHECK(it != chunk->second.extents.begin(), "blocks not mapped");
    MapExtent& extent = *std::prev(it);
    CHECK(in_chunk < extent.end(), "blocks not mapped");
    const std::uint64_t n = std::min<std::uint64_t>(extent.end() - in_chunk, end - block);
    visit(chunk->second, extent, in_chunk - extent.first, static_cast<std::uint32_t>(n));
    block += n;
  }
}

void FileMap::begin_fill(std::uint64_t block, std::uint64_t end) {
  for_each_part(block, end, [](MapChunkState&, MapExtent& e, std::uint32_t i, std::uint32_t n) {
    e.filling.set(i, n, true);
  });
}

void FileMap::end_fill(std::uint64_t block, std::uint64_t end, Filled filled) {
  for_each_part(block, end,
                [&](MapChunkState& chunk, MapExtent& e, std::uint32_t i, std::uint32_t n) {
                  e.filling.set(i, n, false);
                  if (filled == Filled::kNo) return;
                  const std::uint32_t before = e.written.count();
                  e.written.set(i, n, true);
                  if (e.written.count() == before) return;
                  unrecorded_written_ += e.written.count() - before;
                  chunk.dirty = true;
                });
}

void FileMap::allocate(std::uint64_t file_block, BlockRun run) {
  add(file_block, run, true);
  for_each_part(file_block, file_block + run.blocks,
                [](MapChunkState& chunk, MapExtent& e, std::uint32_t, std::uint32_t) {
                  e.allocated = true;
                  chunk.dirty = true;
                });
  unrecorded_allocated_ += run.blocks;
}

bool FileMap::dirty() const { return unrecorded_written_ > 0 || unrecorded_allocated_ > 0; }

std::uint64_t FileMap::next_in_memory(std::uint64_t chunk) const {
  const auto it = chunks_.lower_bound(chunk);
  return it == chunks_.end() ? UINT64_MAX : it->first;
}

std::uint64_t FileMap::growth_of(std::uint64_t block, std::uint64_t end) const {
  std::uint64_t sum = 0;
  for (std::uint64_t at = block; at < end;) {
    const MapExtent* e = extent_at(at);
    CHECK(e != nullptr, "growth of a block without a place");
    const auto in_chunk = static_cast<std::uint32_t>(at % kChunkBlocks);
    const std::uint64_t extent_end = at + (e->end() - in_chunk);
    // The last block that is touched already, and so recorded with what lies before it.
    std::uint32_t touched = e->recorded;
    for (const BlockBits* bits : {&e->written, &e->filling}) {
      for (std::uint32_t b = bits->next(touched, true); b < e->blocks;) {
        touched = bits->next(b, false);
        b = bits->next(touched, true);
      }
    }
    std::uint32_t wanted =
        in_chunk - e->first + static_cast<std::uint32_t>(std::min(end, extent_end) - at);
    if (e->whole || e->allocated) {
      if (touched > e->recorded || e->allocated) touched = e->blocks;
      if (e->recorded < e->blocks) wanted = e->blocks;
    }
    if (wanted > touched) sum += wanted - touched;
    at = extent_end;
  }
  return sum;
}

// Whole units of a reservation that no write has touched do not become part of the record: the
// extent is split behind the touched ones.
void FileMap::split_untouched_units(MapChunkState& chunk) {
  for (std::size_t i = 0; i < chunk.extents.size(); ++i) {
    MapExtent& e = chunk.extents[i];
    if (e.whole) continue;
    std::uint32_t at = e.recorded;  // blocks below it are recorded or touched
    for (;;) {
      const std::uint32_t touched = std::min(e.written.next(at, true), e.filling.next(at, true));
      if (touched >= e.blocks) break;
      const std::uint32_t unit = (e.first + touched) / kUnitBlocks * kUnitBlocks;  // in the chunk
      const std::uint32_t cut = unit > e.first ? unit - e.first : 0;
      const bool gap = at == 0 && e.recorded == 0 ? cut > 0 : cut >= at + kUnitBlocks;
      if (gap && cut > at) {
        MapExtent rest;
        rest.first = e.first + cut;
        rest.blocks = e.blocks - cut;
        rest.volume_block = e.volume_block + cut;
        rest.written = e.written.split(cut);
        rest.committed = e.committed.split(cut);
        rest.filling = e.filling.split(cut);
        e.blocks = cut;
        chunk.extents.insert(chunk.extents.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             std::move(rest));
        break;
      }
      at = touched + 1;
    }
  }
}

void FileMap::plan_chunk(std::uint64_t index, MapChunkState& chunk, std::vector<MapStep>& steps) {
  split_untouched_units(chunk);
  struct Planned {
    std::uint32_t recorded;
    const BlockBits* bits;
  };
  std::vector<Planned> planned;
  planned.reserve(chunk.extents.size());
  for (const MapExtent& e : chunk.extents) planned.push_back({e.recorded, &e.committed});
  const auto put_chunk = [&](MapStep& step) {
    MapStep::ChunkValue put;
    put.chunk = index;
    for (std::size_t i = 0; i < chunk.extents.size(); ++i) {
      if (planned[i].recorded == 0) continue;
      auto* out = put.value.add_extents();
      out->set_file_block(chunk.extents[i].first);
      out->set_volume_block(chunk.extents[i].volume_block);
      out->set_blocks(planned[i].recorded);
      out->set_written(planned[i].bits->bytes(planned[i].recorded));
    }
    step.chunks.push_back(std::move(put));
  };
  bool pending = false;
  for (std::size_t i = 0; i < chunk.extents.size(); ++i) {
    const MapExtent& e = chunk.extents[i];
    if (e.written.count() == e.committed.count() && !e.allocated) continue;
    if (steps.back().reverse.size() >= kReverseMapPutsPerTxn) {
      if (pending) put_chunk(steps.back());
      steps.emplace_back();
    }
    MapStep& step = steps.back();
    std::uint32_t recorded = e.blocks;
    if (!e.whole) {
      std::uint32_t last = 0;
      for (std::uint32_t b = e.written.next(0, true); b < e.blocks;) {
        last = e.written.next(b, false);
        b = e.written.next(last, true);
      }
      recorded = std::max(e.recorded, last);
    }
    const std::uint64_t file_block = index * kChunkBlocks + e.first;
    if (recorded > e.recorded) {
      step.reverse.push_back({e.volume_block, file_block, e.recorded, recorded});
      step.used_blocks_delta += recorded - e.recorded;
    }
    step.marks.push_back({index, e.volume_block, recorded, e.written});
    planned[i] = {recorded, &e.written};
    step.covered_blocks = file_block + recorded;
    pending = true;
  }
  put_chunk(steps.back());
}

std::vector<MapStep> FileMap::plan_commit(First first) {
  std::vector<MapStep> steps(1);
  std::size_t bytes = 0;
  for (auto& [index, chunk] : chunks_) {
    if (!chunk.dirty && !(index == 0 && first == First::kAlways)) continue;
    if (bytes > kMapBytesPerTxn || steps.back().reverse.size() >= kReverseMapPutsPerTxn ||
        steps.back().chunks.size() >= kReverseMapPutsPerTxn) {
      steps.emplace_back();
      bytes = 0;
    }
    plan_chunk(index, chunk, steps);
    bytes += steps.back().chunks.back().value.ByteSizeLong();
  }
  std::uint64_t covered = 0;
  for (MapStep& step : steps) {
    covered = std::max(covered, step.covered_blocks);
    step.covered_blocks = covered;
  }
  return steps;
}

void FileMap::committed(const MapStep& step, Revision revision) {
  for (const MapStep::ChunkValue& put : step.chunks) {  // without extents there is no key
    chunks_.at(put.chunk).revision = put.value.extents_size() == 0 ? Revision{0} : revision;
  }
  for (const MapStep::Mark& mark : step.marks) {
    auto& extents = chunks_.at(mark.chunk).extents;
    const auto it = std::find_if(extents.begin(), extents.end(), [&](const MapExtent& e) {
      return e.volume_block == mark.volume_block;
    });
    CHECK(it != extents.end(), "a committed extent has vanished");
    const std::uint32_t before = it->committed.count();
    if (it->allocated) unrecorded_allocated_ -= mark.recorded - it->recorded;
    it->allocated = false;
    it->recorded = mark.recorded;
    it->committed = mark.committed;
    it->committed.resize(it->blocks);
    unrecorded_written_ -= it->committed.count() - before;
  }
  for (const MapStep::ChunkValue& put : step.chunks) {
    MapChunkState& chunk = chunks_.at(put.chunk);
    chunk.dirty = std::any_of(chunk.extents.begin(), chunk.extents.end(), [](const MapExtent& e) {
      return e.allocated || e.written.count() != e.committed.count();
    });
  }
}

std::size_t FileMap::extents_of_first_chunk() const {
  const auto chunk = chunks_.find(0);
  if (chunk == chunks_.end()) return 0;
  return static_cast<std::size_t>(std::count_if(
      chunk->second.extents.begin(), chunk->second.extents.end(),
      [](const MapExtent& e) { return e.recorded > 0 || e.allocated || e.written.any(); }));
}

std::uint64_t FileMap::reserved_blocks() const {
  std::uint64_t sum = 0;
  for (const auto& [index, chunk] : chunks_) {
    for (const MapExtent& e : chunk.extents) sum += e.blocks - e.recorded;
  }
  return sum;
}

}  // namespace symnas::fs
