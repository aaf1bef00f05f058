// Allocator: which blocks of the groups that this mount owns are free, which are taken, and which
// are freed but not reusable yet. Thread class: thread-compatible. Pure: Space claims the groups
// (space.h).
// Invariants: no block is handed out twice without having come back in between. A block that was
// visible comes back only through release(), and is handed out again only when all I/O that may use
// its old content has ended, on every mount (INV-6). Quiescence tells that of this mount, the
// announced revisions tell it of the others.
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

  // Adds a group that was just claimed. kBefore: its free blocks are handed out once the I/O begun
  // before now has ended, because reads of their old content may still be on their way. REQUIRES:
  // not owned yet.
  enum class Used { kNever, kBefore };
  void add_group(FreeMap map, Used used = Used::kBefore);
  // For tests: whether the block is in an owned group.
  bool owns(std::uint64_t block) const { return groups_.contains(group_of(block)); }
  std::uint32_t group_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block / group_blocks_);
  }

  // Removes a group: its free blocks are forgotten; returns how many there were. REQUIRES: owned
  // and idle.
  std::uint64_t remove_group(std::uint32_t group);
  // True when no block of the group is waiting, or is handed out and not known to be in the reverse
  // map.
  bool is_idle(std::uint32_t group) const;
  const FreeMap& map(std::uint32_t group) const { return groups_.at(group); }
  std::uint32_t last_used() const { return last_used_; }

  // Hands out up to wish.blocks consecutive blocks of one group: of the goal's group first, then of
  // the one last used.
  std::optional<BlockRun> allocate(const SpaceWish& wish);
  // Takes back blocks that were handed out and never became part of a committed map: they are free
  // at once.
  void give_back(BlockRun run);
  // Tells that the reverse map has these handed-out blocks by now: reclaim() need not spare them
  // any more.
  void recorded(BlockRun run);
  // Takes blocks that a committed transaction has freed. Blocks of groups not owned are forgotten.
  void release(BlockRun run);

  // How far the other mounts have come. Alone (at first): no other mount has I/O under way.
  struct Horizon {
    bool alone = true;
    Revision quiesced;  // of all others
  };
  void set_horizon(Horizon horizon);
  // Beside other mounts a freed block waits for a revision that is not below that of its free. The
  // caller reads such a revision after newest_free() and gives it to date(). undated() is false
  // when every waiting block has one.
  bool undated() const { return dated_ < waiting_.size(); }
  Quiescence::Stamp newest_free() const;
  void date(Quiescence::Stamp upto, Revision revision);

  // Releases the blocks of an owned group that other mounts have freed; returns how many they are.
  // These are the blocks that no reverse-map key names (`used`: all blocks that one names, read
  // since begin_reclaim()) and that are neither free, nor waiting here, nor handed out (and perhaps
  // not recorded yet), nor in `announced`. One reclaim at a time.
  void begin_reclaim() { handed_out_since_.emplace(); }
  std::uint64_t reclaim(std::uint32_t group, const std::vector<BlockRun>& used,
                        const std::vector<BlockRun>& announced);

  // Marks a moment. ended_before(mark): every I/O that had begun by then has ended.
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
    Revision freed_by;  // revision of the free, or a later one; 0 = not dated
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
  std::size_t dated_ = 0;        // the first so many of waiting_ are dated
  Horizon horizon_;
  RunSet handed_out_;  // and not known to be in the reverse map
  // Handed out since begin_reclaim(): the reverse map as it was read may show older uses of these
  // blocks, or not yet that they are used.
  std::optional<RunSet> handed_out_since_;
};

}  // namespace symnas::fs
