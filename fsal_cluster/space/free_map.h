// FreeMap: the free blocks of one allocation group. Thread class: thread-compatible. Pure.
// Invariants: runs are disjoint, never adjacent (they are joined) and inside the group; a block is
// added only while it is used and taken only while it is free (both CHECKed: a violation would be
// two owners of one block).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace symnas::fs {

// Consecutive allocation blocks (4 KiB) of the volume.
struct BlockRun {
  std::uint64_t start = 0;
  std::uint64_t blocks = 0;
  std::uint64_t end() const { return start + blocks; }
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

// The wish of an allocation: how much, and where.
struct SpaceWish {
  std::uint64_t blocks = 1;           // at most; fewer may be given
  std::optional<std::uint64_t> goal;  // try this block first: growth in place
  std::uint32_t align = 1;            // start = residue modulo align, when there is such a run
  std::uint32_t residue = 0;          // < align
};

class FreeMap {
 public:
  // All of `group` is used.
  explicit FreeMap(BlockRun group) : group_(group) {}
  // All of `group` is free, except `used`. The runs of `used` may touch and overlap (as a range of
  // the reverse map has them).
  static FreeMap without(BlockRun group, const std::vector<BlockRun>& used);

  void add(BlockRun run);
  void take(BlockRun run);
  bool is_free(BlockRun run) const;

  // Takes up to wish.blocks consecutive blocks: at the goal if that is free; else the smallest run
  // that holds all, aligned; else the largest run. nullopt when nothing is free. O(log runs).
  std::optional<BlockRun> allocate(const SpaceWish& wish);

  BlockRun group() const { return group_; }
  std::uint64_t free_blocks() const { return free_blocks_; }
  std::uint64_t largest_run() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }
  std::vector<BlockRun> runs() const;

 private:
  std::optional<BlockRun> fit(const SpaceWish& wish) const;
  void insert(BlockRun run);
  void remove(std::map<std::uint64_t, std::uint64_t>::iterator run);

  BlockRun group_;
  std::uint64_t free_blocks_ = 0;
  std::map<std::uint64_t, std::uint64_t> by_start_;            // start -> blocks
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // {blocks, start}
};

}  // namespace symnas::fs
