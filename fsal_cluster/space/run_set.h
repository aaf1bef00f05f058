// RunSet: a set of blocks as disjoint runs, any run of which may be added or removed whatever is in
// it already. Thread class: thread-compatible. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fsal_cluster/space/free_map.h"

namespace symnas::fs {

class RunSet {
 public:
  // Both O(log runs) and what they join or cut.
  void add(BlockRun run);
  void remove(BlockRun run);
  // What of it lies in `range`, ascending.
  std::vector<BlockRun> within(BlockRun range) const;
  std::uint64_t blocks() const { return blocks_; }

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;  // start -> end
  std::uint64_t blocks_ = 0;
};

// The blocks of `range` that none of `occupied` covers (which may overlap, in any order),
// ascending. O(n log n).
std::vector<BlockRun> gaps(BlockRun range, std::vector<BlockRun> occupied);

}  // namespace symnas::fs
