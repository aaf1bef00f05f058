// Blocks: compares the reverse map, in both directions, with the blocks of the volume that extents
// of files own. Thread class: thread-compatible. Memory: 32 bytes per extent; the reverse map is
// not kept.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include <google/protobuf/repeated_field.h>

#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/inode_table.h"
#include "fsal_cluster/check/orphans.h"

namespace symnas::fs::check {

class Blocks {
 public:
  Blocks(const Context& context, InodeTable& inodes, const Orphans& orphans, Findings& findings,
         Summary& summary);

  // The map inside an inode record.
  void take_inline(InodeRow& row, const records::Inode& inode);
  void note_trim(Ino ino, std::uint64_t trim_block) { trims_.emplace(ino.value(), trim_block); }
  // REQUIRES: all inodes and orphans are known.
  void take_chunk(Ino ino, MapGeneration generation, std::uint64_t chunk, std::string_view value);
  void take_group(std::uint32_t group) { groups_.insert(group); }
  // Ascending by block. REQUIRES: all maps and groups are known.
  void take_reverse(std::uint32_t group, std::uint64_t block, std::string_view value);
  void finish();

 private:
  enum class Use : std::uint8_t { kLive, kDead };  // dead: a sweep frees it
  struct Run {
    std::uint64_t block = 0;
    std::uint64_t file_block = 0;
    std::uint64_t ino = 0;
    std::uint32_t blocks = 0;
    std::uint32_t map_generation = 0;
    std::uint64_t end() const { return block + blocks; }
  };
  // One map, before it is checked.
  struct Source {
    Ino ino;
    MapGeneration generation;
    std::uint64_t base = 0;   // file block of its first block
    InodeRow* row = nullptr;  // null: the inode is gone
    Use use = Use::kLive;
  };

  void take_extents(const Source& source,
                    const google::protobuf::RepeatedPtrField<records::Extent>& extents);
  bool in_place(const Source& source, const records::Extent& extent, std::uint64_t at);
  void check_size(const Source& source, const records::Extent& extent);
  Use use_of(const InodeRow& row, MapGeneration generation, std::uint64_t first_block);
  bool on_volume(std::uint64_t block, std::uint64_t blocks) const;
  void begin_reverse();
  void unmatched(const Run& run);
  void lost(Ino ino, const records::ReverseMap& record, std::uint64_t block);

  const Context& context_;
  InodeTable& inodes_;
  const Orphans& orphans_;
  Findings& findings_;
  Summary& summary_;
  std::vector<Run> runs_;
  std::unordered_map<std::uint64_t, std::uint64_t> trims_;
  std::set<std::uint32_t> groups_;
  std::set<std::uint32_t> ownerless_groups_;
  bool reverse_begun_ = false;
  std::size_t next_ = 0;           // index in runs_ of the next run to be met in the reverse map
  std::uint64_t reverse_end_ = 0;  // end of the entries so far
};

}  // namespace symnas::fs::check
