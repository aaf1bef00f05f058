// Space: the free space of one filesystem as one mount sees it: the allocation groups that it owns,
// claims of further groups, frees.
//
// Space that no reverse-map key names is free. A mount hands out only blocks of groups whose owner
// key names it. Every mapping transaction compares that key (guard()): it fails when another mount
// has taken the group over.
// Thread class: thread-safe. Under its mutex only the leaves of Peers and Background are taken
// (docs/architecture/lock_order.md). Invariants: INV-6 (allocator.h). How:
// docs/architecture/space.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "common/kv/store.h"
#include "fsal_cluster/space/allocator.h"
#include "fsal_cluster/space/background.h"
#include "fsal_cluster/space/used_blocks.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/peers.h"

namespace symnas::fs {

struct SpaceOptions {
  FsId fs;
  MountId mount;
  std::uint64_t group_blocks = 0;
  std::function<std::uint64_t()> volume_blocks;  // of the volume now; it may grow
  // Asks files to give back what they have reserved; true when busy files still hold some.
  std::function<bool()> return_reservations;
  std::function<bool()> frees_pending;  // true while dead maps are being swept
  // A group that this mount allocates from has got another owner, or none: its record was damaged.
  // What is written there from now on can never be recorded. Called on a background thread.
  std::function<void(const Error&)> lost_group;
  const Membership* membership = nullptr;  // null: alone for ever
  const Peers* peers = nullptr;            // null: there are no other mounts
};

// What a mount tells the others about its space, once per heartbeat.
struct SpaceAnnouncement {
  Revision quiesced;                  // every I/O begun before this revision was applied has ended
  std::int64_t allocated_blocks = 0;  // allocated less freed ones, since the claim
  bool needs_space = false;           // a write waits, and there was no group to claim
};

class Space {
 public:
  // Reads who owns which group. Blocks. `session`, `clock` and `background` outlive it.
  // Errors: kUnavailable, kEnded, kCorrupt, kInvalidArgument (group size out of bounds).
  static Result<std::unique_ptr<Space>> open(kv::Session& session, const env::Clock& clock,
                                             Background& background, SpaceOptions options);

  // As Allocator. Never blocks: nullopt may only mean that no group with free space is owned yet;
  // see make_room().
  std::optional<BlockRun> allocate(const SpaceWish& wish);
  void give_back(BlockRun run);
  void release(BlockRun run);
  // Tells that a committed transaction has put these allocated blocks into the reverse map.
  void recorded(BlockRun run);

  // Announces the free of recorded extents, before the transaction that erases their reverse-map
  // keys. A group that is loaded in between counts these blocks as used, whatever its read of the
  // reverse map saw. See FreeIntent.
  void announce(const std::vector<BlockRun>& runs);
  // The announced transaction is over. kFreed: its blocks are released; kNotFreed: they stay used.
  enum class FreeOutcome { kFreed, kNotFreed };
  void conclude(const std::vector<BlockRun>& runs, FreeOutcome outcome);

  // Claims a group, or else waits for frees that are on their way. Calls back on a background
  // thread: kMaybe = try again, kNone = the volume is full. Concurrent calls share the work.
  enum class Room { kMaybe, kNone };
  void make_room(std::function<void(Result<Room>)> done);

  Quiescence::Ticket begin_io();
  void end_io(Quiescence::Ticket ticket);

  // The compare that the owner key of the block's group is still the one that this mount claimed.
  // nullopt: the group is not owned (no block of it is allocated here). REQUIRES: the block was
  // handed out by allocate(), or mapped before.
  std::optional<kv::Compare> guard(std::uint64_t volume_block) const;
  std::string reverse_key(std::uint64_t volume_block) const;
  // The reverse-map keys of [begin, end). REQUIRES: one group.
  kv::KeyRange reverse_range(std::uint64_t begin, std::uint64_t end) const;

  // What the heartbeat announces; called about once a second. Never blocks.
  SpaceAnnouncement announcement();

  // Reads who owns which group; finds out whether a group of this mount was lost. Blocks: a large
  // filesystem has some 100,000 groups. Errors: as Session; kCorrupt.
  Status read_owners();
  // The same for the group of one block, by one read: to be called when a transaction that takes
  // blocks there has met conflicts again and again.
  Status look_at_owner(std::uint64_t volume_block);

  // Makes the groups of an ended mount nobody's. Blocks. Errors: as Session.
  Status take_over(MountId ended);

  struct Use {
    std::uint64_t total_blocks = 0;
    std::uint64_t free_blocks = 0;
  };
  // Counts groups that are not owned from their reverse map once, and then follows changes: own
  // ones at once, those of other mounts as they announce them. While other mounts change something
  // it counts again in the background. Blocks.
  Result<Use> use();
  // About how many blocks allocate() could hand out without a claim.
  std::uint64_t ready_blocks() const { return ready_.load(std::memory_order_relaxed); }

 private:
  struct Group {
    MountId owner;
    Revision revision;                         // of the owner key; 0 = no key
    bool loaded = false;                       // its free blocks are the allocator's
    std::optional<std::uint64_t> free_blocks;  // of a group that is not loaded, once it was counted
    bool no_owner = false;  // it has used blocks, but no owner key: nobody may claim it
  };
  // The group whose free blocks are being read, for the allocator to have them; one at a time.
  struct Loading {
    std::optional<std::uint32_t> group;
    std::vector<BlockRun> freed;  // blocks of it, meanwhile
  };
  // What is known of the search for a group to claim.
  struct Claims {
    bool all_claimed = false;    // the last search found none; any free resets it
    bool lost = false;           // in the last search the owner of a group had changed: look again
    std::int64_t owners_ns = 0;  // when the owners were last read again
  };
  // The last count of groups that are not loaded, and what has to be added to it.
  struct Count {
    bool done = false;
    std::int64_t at_ns = 0;
    std::map<MountId, std::int64_t> foreign;  // foreign_blocks() at the count
    std::int64_t taken_since = 0;  // reclaimed since; whoever freed them has announced that
  };
  // The moment of a heartbeat: quiesced may be `applied` once all I/O from before has ended.
  struct Mark {
    Quiescence::Stamp stamp;
    Revision applied;
  };
  // Background jobs that are posted or run: one of each kind at a time.
  struct Posted {
    bool claim_ahead = false;
    bool recount = false;
    bool give_back = false;
    bool date = false;
  };
  Space(kv::Session& session, const env::Clock& clock, Background& background,
        SpaceOptions options);
  void release_locked(BlockRun run) REQUIRES(mutex_);
  bool alone() const {
    return options_.membership == nullptr || options_.peers == nullptr ||
           options_.membership->is_sole();
  }
  // To be called before anything that may let freed blocks go: tells the allocator whether other
  // mounts are there.
  void look_around_locked() REQUIRES(mutex_);
  // As look_around_locked(); also has frees dated.
  void let_go_locked() REQUIRES(mutex_);
  void date_frees();
  // Takes blocks of owned groups that other mounts have freed, at most every kReclaimNs. True:
  // there were some.
  Result<bool> reclaim();
  Result<std::uint64_t> reclaim(std::uint32_t group);
  std::map<MountId, std::int64_t> foreign_blocks() const;
  std::int64_t foreign_since_locked() const REQUIRES(mutex_);
  void recount_if_stale();
  void note_no_owner(std::uint32_t group);
  void lose(std::uint32_t group);
  void learn_owner_locked(std::uint32_t group, MountId owner, Revision revision) REQUIRES(mutex_);
  std::uint32_t group_count() const;
  std::uint32_t group_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block / options_.group_blocks);
  }
  BlockRun group_run(std::uint32_t group) const;
  struct RoomWait {
    std::int64_t left_ns;
    std::int64_t looked_ns;  // mono
  };
  void room_round(RoomWait wait);
  void answer_room(Result<Room> answer);
  Result<bool> claim_one();
  Result<bool> claim(std::uint32_t group);
  // Of all groups: nullopt. What cannot be read is logged, at most once a minute.
  Result<UsedBlocks> read_used(std::optional<std::uint32_t> group);
  std::vector<std::uint32_t> candidates() const;
  Result<bool> claim_any();
  Status count_groups();
  void claim_ahead();
  // Gives back groups that other mounts may need more. No block of such a group is waiting, or on
  // its way into a map.
  std::uint64_t ready_low() const;
  void give_surplus_back();
  bool is_idle_locked(std::uint32_t group) const REQUIRES(mutex_);
  bool needed_locked() const REQUIRES(mutex_);
  std::optional<std::uint32_t> surplus_locked() const REQUIRES(mutex_);
  Status give_group_back(std::uint32_t group);

  kv::Session& session_;
  const env::Clock& clock_;
  Background& background_;
  const SpaceOptions options_;
  mutable Mutex mutex_;
  Allocator allocator_ GUARDED_BY(mutex_);
  // The groups that have an owner key, or were counted.
  std::map<std::uint32_t, Group> groups_ GUARDED_BY(mutex_);
  std::multimap<std::uint64_t, std::uint64_t> announced_ GUARDED_BY(mutex_);  // start -> blocks
  Loading loading_ GUARDED_BY(mutex_);
  Claims claims_ GUARDED_BY(mutex_);
  std::vector<std::function<void(Result<Room>)>> room_waiters_ GUARDED_BY(mutex_);
  Count count_ GUARDED_BY(mutex_);
  std::int64_t reclaimed_ns_ GUARDED_BY(mutex_) = 0;       // when the last reclaim began
  std::int64_t unreadable_log_ns_ GUARDED_BY(mutex_) = 0;  // before it nothing is logged
  std::deque<Mark> marks_ GUARDED_BY(mutex_);              // of the last heartbeats
  SpaceAnnouncement announcement_ GUARDED_BY(mutex_);
  Posted posted_ GUARDED_BY(mutex_);
  Mutex count_mutex_;    // one count at a time
  Mutex reclaim_mutex_;  // one reading of an own group at a time; behind count_mutex_
  std::atomic<std::uint64_t> ready_{0};
};

// The free of recorded extents by one transaction: made before the transaction is sent; committed()
// tells that it has committed. When it is dropped without that, the blocks stay used.
// Thread-compatible; move-only.
class FreeIntent {
 public:
  FreeIntent(Space& space, std::vector<BlockRun> runs) : space_(&space), runs_(std::move(runs)) {
    space_->announce(runs_);
  }
  ~FreeIntent() {
    if (space_ != nullptr) space_->conclude(runs_, Space::FreeOutcome::kNotFreed);
  }
  FreeIntent(FreeIntent&& other) noexcept
      : space_(std::exchange(other.space_, nullptr)), runs_(std::move(other.runs_)) {}
  FreeIntent& operator=(FreeIntent&&) = delete;

  // REQUIRES: called at most once.
  void committed() { std::exchange(space_, nullptr)->conclude(runs_, Space::FreeOutcome::kFreed); }

 private:
  Space* space_;
  std::vector<BlockRun> runs_;
};

}  // namespace symnas::fs
