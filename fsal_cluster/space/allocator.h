// Allocator: which blocks of the groups that this mount owns are free, taken, or freed but not
// reusable yet. Thread class: thread-compatible. Pure: claims of groups are somebody else's
// (space.h). Invariants: no block is handed out twice without having come back; a block that was
// visible comes back only through release() and is handed out again only when its I/O has ended, on
// every mount (INV-6): this one's by Quiescence, the others' by the revision that they announce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/ids.h"
#include "fsal_cluster/space/free_map.h"
#include "fsal_cluster/space/quiescence.h"
#include "fsal_cluster/space/run_set.h"

namespace symnas::fs {

class Allocator {
 public:
  // REQUIRES: group_blocks > 0.
  explicit Allocator(std::uint64_t group_blocks) : group_blocks_(group_blocks) {}

  // A group just claimed. kBefore: its free blocks are handed out once the I/O begun before now has
  // ended: reads of what was there may still be on their way. REQUIRES: not owned yet.
  enum class Used { kNever, kBefore };
  void add_group(FreeMap map, Used used = Used::kBefore);
  bool owns(std::uint64_t block) const { return groups_.contains(group_of(block)); }
  std::uint32_t group_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block / group_blocks_);
  }

  // The contrary: its free blocks, so many, are forgotten. REQUIRES: owned and idle.
  std::uint64_t remove_group(std::uint32_t group);
  // Nothing of it is waiting, or handed out and not known to be in the reverse map.
  bool is_idle(std::uint32_t group) const;
  const FreeMap& map(std::uint32_t group) const { return groups_.at(group); }
  std::uint32_t last_used() const { return last_used_; }

  // Up to wish.blocks consecutive blocks of one group; the goal's group first, then the one last
  // used.
  std::optional<BlockRun> allocate(const SpaceWish& wish);
  // Blocks that were handed out and never became part of a committed map: free at once.
  void give_back(BlockRun run);
  // Blocks handed out that the reverse map has by now: they are not ours to answer for any more.
  void recorded(BlockRun run);
  // Blocks that a committed transaction has freed. Those of groups not owned are forgotten.
  void release(BlockRun run);

  // How far the other mounts have come. Alone (at first): nobody else has I/O under way.
  struct Horizon {
    bool alone = true;
    Revision quiesced;  // of all others
  };
  void set_horizon(Horizon horizon);
  // Freed blocks beside other mounts wait for a revision that is not below that of their free:
  // whoever reads one after newest_free() tells it to date(). False: all have theirs.
  bool undated() const { return dated_ < waiting_.size(); }
  Quiescence::Stamp newest_free() const;
  void date(Quiescence::Stamp upto, Revision revision);

  // Blocks of an owned group that other mounts have freed: those that no reverse-map key names
  // (`used` is all that do, read since begin_reclaim()), are neither free nor waiting here, nor
  // handed out and perhaps not recorded yet, nor in `announced`. They are released. Returns how
  // many. One at a time.
  void begin_reclaim() { handed_out_since_.emplace(); }
  std::uint64_t reclaim(std::uint32_t group, const std::vector<BlockRun>& used,
                        const std::vector<BlockRun>& announced);

  // Marks a moment; ended_before(): every I/O that had begun by then has ended.
  Quiescence::Stamp mark() { return quiescence_.retire(); }
  bool ended_before(Quiescence::Stamp mark) const { return quiescence_.reusable(mark); }

  Quiescence::Ticket begin_io() { return quiescence_.begin(); }
  void end_io(Quiescence::Ticket ticket);

  std::uint64_t free_blocks() const { return free_blocks_; }        // allocatable now
  std::uint64_t waiting_blocks() const { return waiting_blocks_; }  // freed, not reusable yet

 private:
  struct Waiting {
    BlockRun run;
    Quiescence::Stamp stamp;
    Revision freed_by;  // of the free, or later; 0 = not dated
  };
  void put_back(BlockRun run);
  void collect();

  std::uint64_t group_blocks_;
  std::map<std::uint32_t, FreeMap> groups_;
  std::set<std::uint32_t> with_space_;  // groups with a free block
  std::uint32_t last_used_ = 0;
  std::uint64_t free_blocks_ = 0;
  std::uint64_t waiting_blocks_ = 0;
  Quiescence quiescence_;
  std::deque<Waiting> waiting_;  // ascending stamp
  std::size_t dated_ = 0;        // of waiting_, its first ones
  Horizon horizon_;
  RunSet handed_out_;  // and not known to be in the reverse map
  // Since begin_reclaim(): what is read may know older uses of them, or not yet that they are used.
  std::optional<RunSet> handed_out_since_;
};

}  // namespace symnas::fs
