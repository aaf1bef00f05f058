// ReverseFrees: what transactions take out of the reverse map when a file's map gives up extents.
// Each entry is compared as a whole: in a damaged filesystem the blocks may be another file's by
// now, which must not lose them. What is not the file's leaves its map, and nothing is freed.
//
// Thread class: thread-compatible. Used for one map (inode and generation).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_map.h"

namespace symnas::fs {

class ReverseFrees {
 public:
  // `context` outlives it.
  ReverseFrees(const DataContext& context, Ino ino, MapGeneration generation)
      : context_(context), ino_(ino), generation_(generation) {}

  // Adds the compares and the writes of these changes, but for entries that look() has found to be
  // another's. Returns what of `freed`, the blocks that the changes free, is freed by them.
  // REQUIRES: no change grows an entry.
  std::vector<BlockRun> add(const std::vector<ReverseChange>& changes,
                            const std::vector<BlockRun>& freed, kv::Mutation& mutation) const;
  // To be called when a transaction with these changes has met a conflict: reads their entries.
  // True: some are not the file's, which is new; the transaction is to be built again. It proves
  // nothing before that one succeeds: the map may have been changed since it was read. Blocks: one
  // read each.
  Result<bool> look(const std::vector<ReverseChange>& changes);
  // The same for an operation that must not block.
  Task<Result<bool>> look_async(const std::vector<ReverseChange>& changes);
  // To be called when a transaction with these changes has succeeded: logs which it has left.
  void log_left(const std::vector<ReverseChange>& changes) const;

 private:
  std::string value(const ReverseChange& change, std::uint32_t blocks) const;
  bool is_anothers(std::uint64_t volume_block) const;

  const DataContext& context_;
  const Ino ino_;
  const MapGeneration generation_;
  std::map<std::uint64_t, std::uint32_t> anothers_;  // first block -> blocks of the extent
};

}  // namespace symnas::fs
