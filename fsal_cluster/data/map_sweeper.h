// MapSweeper: frees dead maps: those of removed files, old map generations, and what lies above a
// watermark (a large truncate leaves one).
//
// Thread class: thread-safe. All but wait_for_trim() and sweep_in_background() block, and run on
// background threads; no mutex is held meanwhile.
// Invariants: a map key goes together with the reverse-map keys of its extents, in one transaction
// that compares that key, what says that it is dead, and the reverse-map keys; the blocks are free
// from then on (INV-6). What the reverse map gives to another file stays that file's.
// Two sweeps of one file may run at once, on any mounts.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_table.h"

namespace symnas::fs {

class MapSweeper {
 public:
  MapSweeper(DataContext& context, FileTable& table) : context_(context), table_(table) {}

  // As FileData::sweep_orphan().
  Status sweep_orphan(Ino ino, const records::Orphan& orphan);
  // The same, on a background thread; what fails kSweepRetriesMax times is left to the next mount.
  // The caller gives 0 as `attempt`.
  void sweep_in_background(Ino ino, records::Orphan orphan, int attempt);
  // Waits for the sweep if bytes below `end` are in a chunk that the sweep changes: the key of the
  // watermark's chunk holds extents that memory does not have.
  Task<Status> wait_for_trim(FileState& f, std::uint64_t end);
  // Whether a sweep in the background will free more.
  bool pending() const { return sweeps_.load() > 0; }

 private:
  Status sweep_map_keys(kv::KeyRange range, const std::optional<kv::Compare>& guard);
  Status sweep_chunk(const kv::KeyValue& chunk, const std::optional<kv::Compare>& guard);
  Result<bool> still_holds(const kv::Compare& chunk, const std::optional<kv::Compare>& guard);
  Status sweep_above(Ino ino, const records::Inode& inode, const kv::Compare& guard);
  Status finish_trim(Ino ino);
  Result<bool> forget_watermark(Ino ino);
  Result<std::uint64_t> count_used_blocks(Ino ino, MapGeneration generation);
  Status erase_orphan(Ino ino, std::uint32_t map_generation);

  DataContext& context_;
  FileTable& table_;
  std::atomic<int> sweeps_{0};  // in the background
};

}  // namespace symnas::fs
