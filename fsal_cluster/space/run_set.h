// RunSet: a set of blocks, kept as disjoint runs. Any run may be added or removed, whatever part of
// it the set has already. Thread class: thread-compatible. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fsal_cluster/space/free_map.h"

namespace symnas::fs {

class RunSet {
 public:
  // Both cost O(log runs), and the runs that they join or cut.
  void add(BlockRun run);
  void remove(BlockRun run);
  // The parts of the set that lie in `range`, ascending.
  std::vector<BlockRun> within(BlockRun range) const;
  std::uint64_t blocks() const { return blocks_; }  // for tests: size of the set

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;  // start -> end
  std::uint64_t blocks_ = 0;
};

// The blocks of `range` that no run of `occupied` covers, ascending. The runs of `occupied` may
// overlap, in any order. O(n log n).
std::vector<BlockRun> gaps(BlockRun range, std::vector<BlockRun> occupied);

}  // namespace symnas::fs
