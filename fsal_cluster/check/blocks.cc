#include "fsal_cluster/check/blocks.h"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {
namespace {

// One past the last written block of an extent; 0 = nothing is written.
std::uint32_t written_end(const records::Extent& extent) {
  const std::string& bits = extent.written();
  if (bits.empty()) return extent.blocks();
  for (std::size_t i = bits.size(); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(bits[i]);
    for (int bit = 7; byte != 0 && bit >= 0; --bit) {
      if ((byte >> bit & 1) != 0)
        return static_cast<std::uint32_t>(i * 8) + static_cast<std::uint32_t>(bit) + 1;
    }
  }
  return 0;
}

}  // namespace

Blocks::Blocks(const Context& context, InodeTable& inodes, const Orphans& orphans,
               Findings& findings, Summary& summary)
    : context_(context),
      inodes_(inodes),
      orphans_(orphans),
      findings_(findings),
      summary_(summary) {}

bool Blocks::on_volume(std::uint64_t block, std::uint64_t blocks) const {
  return blocks > 0 && block < context_.volume_blocks && blocks <= context_.volume_blocks - block;
}

void Blocks::take_inline(InodeRow& row, const records::Inode& inode) {
  Source source;
  source.ino = Ino{row.ino};
  source.generation = MapGeneration{inode.map_generation()};
  source.row = &row;
  take_extents(source, inode.extents());
}

Blocks::Use Blocks::use_of(const InodeRow& row, MapGeneration generation,
                           std::uint64_t first_block) {
  const Ino ino{row.ino};
  if (generation.value() == row.map_generation) {
    if (!row.chunked)
      findings_.add(Kind::kMap, ino, "its record says that there are no map chunks, there are",
                    {.fault = Fault::kChunksUnsaid});
    const auto trim = trims_.find(row.ino);
    return trim != trims_.end() && first_block >= trim->second ? Use::kDead : Use::kLive;
  }
  if (generation.value() > row.map_generation) {
    findings_.add(Kind::kMap, ino,
                  fmt::format("a map chunk is of map generation {}, the inode of {}",
                              generation.value(), row.map_generation),
                  {.fault = Fault::kGenerationAhead});
  } else if (!orphans_.explains_dead_map(ino, generation)) {
    findings_.add(
        Kind::kLostSpace, ino,
        fmt::format("map generation {} is dead, and no orphan record frees it", generation.value()),
        {.fault = Fault::kDeadMap, .value = generation.value()});
  }
  return Use::kDead;
}

void Blocks::take_chunk(Ino ino, MapGeneration generation, std::uint64_t chunk,
                        std::string_view value) {
  records::MapChunk map;
  if (!map.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    findings_.add(Kind::kRecord, ino, fmt::format("map chunk {} cannot be parsed", chunk),
                  {.fault = Fault::kUnreadableChunk, .value = chunk});
    return;
  }
  const std::uint64_t chunk_blocks = kChunkBytes / context_.filesystem.block_bytes();
  Source source;
  source.ino = ino;
  source.generation = generation;
  source.row = inodes_.find(ino);
  if (chunk >= kFileBytesMax / kChunkBytes) {
    findings_.add(Kind::kSize, ino, fmt::format("map chunk {} lies beyond every file", chunk),
                  {.fault = Fault::kExtent});
    return;
  }
  source.base = chunk * chunk_blocks;
  if (map.extents_size() == 0)
    findings_.add(Kind::kRecord, ino, fmt::format("map chunk {} is empty", chunk),
                  {.fault = Fault::kEmptyChunk, .value = chunk, .other = generation.value()});
  if (source.row == nullptr) {
    source.use = Use::kDead;
    if (!orphans_.explains_dead_map(ino, generation))
      findings_.add(
          Kind::kLostSpace, ino,
          fmt::format("map chunk {} of map generation {}, but the inode does not exist and "
                      "no orphan record frees it",
                      chunk, generation.value()),
          {.fault = Fault::kMapOfNothing, .value = generation.value()});
  } else if (source.row->readable()) {
    if (!source.row->is(FileType::kRegular))
      findings_.add(Kind::kMap, ino, "has a map chunk, but is no regular file",
                    {.fault = Fault::kExtent});
    source.use = use_of(*source.row, generation, source.base);
  }
  take_extents(source, map.extents());
}

bool Blocks::in_place(const Source& source, const records::Extent& extent, std::uint64_t at) {
  const std::uint64_t group_blocks = context_.filesystem.group_blocks();
  const std::uint64_t chunk_blocks = kChunkBytes / context_.filesystem.block_bytes();
  const auto wrong = [&](Kind kind, std::string_view what) {
    findings_.add(
        kind, source.ino,
        fmt::format("extent of {} blocks at file block {}, volume block {}: {}", extent.blocks(),
                    source.base + extent.file_block(), extent.volume_block(), what),
        {.fault = Fault::kExtent});
    return false;
  };
  if (!on_volume(extent.volume_block(), extent.blocks()))
    return wrong(Kind::kSize,
                 fmt::format("outside the volume, which has {} blocks", context_.volume_blocks));
  if (extent.file_block() > chunk_blocks || extent.blocks() > chunk_blocks - extent.file_block())
    return wrong(Kind::kMap, "crosses the end of its map chunk");
  if (extent.file_block() < at)
    return wrong(Kind::kMap, "overlaps the extent before it in the file");
  if (extent.volume_block() / group_blocks !=
      (extent.volume_block() + extent.blocks() - 1) / group_blocks)
    return wrong(Kind::kMap, "crosses the end of an allocation group");
  if (extent.written().size() > (extent.blocks() + 7) / 8 || written_end(extent) > extent.blocks())
    return wrong(Kind::kMap, "its bitmap of written blocks is longer than it is");
  return true;
}

void Blocks::check_size(const Source& source, const records::Extent& extent) {
  const std::uint64_t block_bytes = context_.filesystem.block_bytes();
  const std::uint64_t size = source.row->size_bytes;
  const std::uint64_t blocks = size / block_bytes + (size % block_bytes == 0 ? 0 : 1);
  const std::uint64_t begin = source.base + extent.file_block();
  // Blocks above a watermark do not count; the watermark may lie inside a chunk.
  const auto trim = trims_.find(source.ino.value());
  const std::uint64_t dead_from = trim == trims_.end() ? UINT64_MAX : trim->second;
  const std::uint64_t end = std::min(begin + written_end(extent), dead_from);
  if (begin >= dead_from || (begin < blocks && end <= blocks)) return;
  findings_.add(Kind::kSize, source.ino,
                fmt::format("{} bytes long, but blocks {} to {} of the file are mapped", size,
                            begin, begin + extent.blocks() - 1),
                {.fault = Fault::kMapBehindEnd});
}

void Blocks::take_extents(const Source& source,
                          const google::protobuf::RepeatedPtrField<records::Extent>& extents) {
  std::uint64_t at = 0;
  for (const records::Extent& extent : extents) {
    ++summary_.extents;
    const bool live = source.use == Use::kLive && source.row != nullptr;
    if (live) source.row->blocks_not_met -= extent.blocks();
    if (!in_place(source, extent, at)) continue;
    at = extent.file_block() + extent.blocks();
    if (live && source.row->readable()) check_size(source, extent);
    runs_.push_back({extent.volume_block(), source.base + extent.file_block(), source.ino.value(),
                     extent.blocks(), source.generation.value()});
  }
}

// --- the reverse map

void Blocks::begin_reverse() {
  reverse_begun_ = true;
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    return a.block != b.block ? a.block < b.block : a.ino < b.ino;
  });
  const Run* last = nullptr;  // the extent that reaches furthest
  for (const Run& run : runs_) {
    if (last != nullptr && run.block < last->end()) {
      findings_.add(
          Kind::kTwoOwners, Ino{run.ino},
          fmt::format("volume blocks {} to {} belong to it (file block {}) and to inode {} "
                      "(file block {})",
                      run.block, std::min(run.end(), last->end()) - 1, run.file_block, last->ino,
                      last->file_block + (run.block - last->block)),
          {.fault = Fault::kTwoOwners, .value = run.block, .other = last->ino});
    }
    if (last == nullptr || run.end() > last->end()) last = &run;
  }
}

void Blocks::unmatched(const Run& run) {
  findings_.add(
      Kind::kReverseMap, Ino{run.ino},
      fmt::format("file block {} lies at volume block {}, the reverse map has no entry there",
                  run.file_block, run.block),
      {.fault = Fault::kReverseMissing,
       .value = run.block,
       .other = run.file_block,
       .blocks = run.blocks});
}

void Blocks::lost(Ino ino, const records::ReverseMap& record, std::uint64_t block) {
  const std::string what =
      fmt::format("volume blocks {} to {} are marked as its file block {} (map generation {})",
                  block, block + record.blocks() - 1, record.file_block(), record.map_generation());
  const bool exists = inodes_.find(ino) != nullptr;
  findings_.add(Kind::kLostSpace, ino,
                what + (exists ? ", its map does not have them" : ", but it does not exist"),
                {.fault = Fault::kReverseLost, .value = block});
}

void Blocks::take_reverse(std::uint32_t group, std::uint64_t block, std::string_view value) {
  if (!reverse_begun_) begin_reverse();
  records::ReverseMap record;
  if (!record.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    findings_.add(Kind::kRecord, Ino{0},
                  fmt::format("the reverse-map entry of volume block {} cannot be parsed", block),
                  {.fault = Fault::kUnreadableReverse, .value = block});
    return;
  }
  const Ino ino{record.ino()};
  const std::uint64_t group_blocks = context_.filesystem.group_blocks();
  if (!on_volume(block, record.blocks())) {
    findings_.add(
        Kind::kSize, ino,
        fmt::format("reverse-map entry of {} blocks at volume block {}: outside the volume, "
                    "which has {} blocks",
                    record.blocks(), block, context_.volume_blocks),
        {.fault = Fault::kReverseMisplaced, .value = block, .other = group});
    return;
  }
  if (block / group_blocks != group || (block + record.blocks() - 1) / group_blocks != group) {
    findings_.add(Kind::kReverseMap, ino,
                  fmt::format("reverse-map entry of {} blocks at volume block {}: not in its "
                              "allocation group {}",
                              record.blocks(), block, group),
                  {.fault = Fault::kReverseMisplaced, .value = block, .other = group});
    return;
  }
  if (!groups_.contains(group) && ownerless_groups_.insert(group).second)
    findings_.add(Kind::kGroup, Ino{0},
                  fmt::format("allocation group {} has used blocks, but no owner record", group),
                  {.fault = Fault::kGroupMissing, .value = group});
  summary_.used_blocks += record.blocks();
  if (block < reverse_end_)
    findings_.add(
        Kind::kTwoOwners, ino,
        fmt::format("the reverse-map entry of volume block {} lies inside the one before it",
                    block),
        {.fault = Fault::kReverseOverlaps, .value = block});
  reverse_end_ = std::max(reverse_end_, block + record.blocks());

  for (; next_ < runs_.size() && runs_[next_].block < block; ++next_) unmatched(runs_[next_]);
  const Run* met = nullptr;
  for (; next_ < runs_.size() && runs_[next_].block == block; ++next_) {
    if (met == nullptr || runs_[next_].ino == record.ino()) met = &runs_[next_];
  }
  if (met == nullptr) {
    lost(ino, record, block);
  } else if (met->ino != record.ino() || met->blocks != record.blocks() ||
             met->file_block != record.file_block() ||
             met->map_generation != record.map_generation()) {
    findings_.add(
        Kind::kReverseMap, Ino{met->ino},
        fmt::format(
            "its map has {} blocks at volume block {} as file block {} of map generation {}, "
            "the reverse map has {} blocks, inode {}, file block {}, map generation {}",
            met->blocks, block, met->file_block, met->map_generation, record.blocks(), record.ino(),
            record.file_block(), record.map_generation()),
        {.fault = Fault::kReverseDiffers,
         .value = block,
         .other = met->file_block,
         .blocks = met->blocks});
  }
}

void Blocks::finish() {
  if (!reverse_begun_) begin_reverse();
  for (; next_ < runs_.size(); ++next_) unmatched(runs_[next_]);
  for (const InodeRow& row : inodes_.rows()) {
    if (!row.readable() || row.trimming || row.blocks_not_met == 0) continue;
    findings_.add(
        Kind::kMap, Ino{row.ino},
        fmt::format("its record counts {} blocks {} than its map has",
                    row.blocks_not_met > 0 ? row.blocks_not_met : -row.blocks_not_met,
                    row.blocks_not_met > 0 ? "more" : "less"),
        {.fault = Fault::kBlockCount, .value = static_cast<std::uint64_t>(row.blocks_not_met)});
  }
}

}  // namespace symnas::fs::check
