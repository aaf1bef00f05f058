// Space beside other mounts: when freed blocks may be handed out again, blocks of own groups that
// other mounts have freed, groups that are given back.
#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/limits.h"
#include "fsal_cluster/space/space.h"

namespace symnas::fs {

namespace keys = kv::keys;

// --- beside other mounts

void Space::look_around_locked() {
  if (alone()) {
    // The blocks that wait now were freed while no other mount was there, or all other mounts have
    // ended.
    allocator_.set_horizon({.alone = true, .quiesced = {}});
  } else {
    const bool waits = allocator_.waiting_blocks() > 0;
    allocator_.set_horizon(
        {.alone = false, .quiesced = waits ? options_.peers->quiesced() : Revision{0}});
  }
  ready_.store(allocator_.free_blocks(), std::memory_order_relaxed);
}

void Space::let_go_locked() {
  look_around_locked();
  if (alone() || !allocator_.undated() || posted_.date) return;
  posted_.date = true;
  background_.post([this] { date_frees(); });
}

// The stamp's revision is not below that of any change acknowledged before it is read.
void Space::date_frees() {
  Quiescence::Stamp upto = 0;
  {
    const MutexLock lock(mutex_);
    if (!allocator_.undated()) {
      posted_.date = false;
      return;
    }
    upto = allocator_.newest_free();
  }
  const auto stamp = session_.range(kv::single_key(keys::stamp(options_.fs)), 1);
  const MutexLock lock(mutex_);
  posted_.date = false;  // after a failure the next heartbeat begins again
  if (!stamp || stamp->kvs.empty()) return;
  allocator_.date(upto, stamp->kvs.front().mod_revision);
  let_go_locked();
}

SpaceAnnouncement Space::announcement() {
  const Revision applied = session_.applied();  // before the mark: I/O after it sees at least this
  const MutexLock lock(mutex_);
  if (marks_.size() < kQuiescenceMarksMax) marks_.push_back({allocator_.mark(), applied});
  while (!marks_.empty() && allocator_.ended_before(marks_.front().stamp)) {
    announcement_.quiesced = marks_.front().applied;
    marks_.pop_front();
  }
  let_go_locked();
  if (!posted_.give_back && (surplus_locked() || needed_locked())) {
    posted_.give_back = true;
    background_.post([this] { give_surplus_back(); });
  }
  return announcement_;
}

Result<std::uint64_t> Space::reclaim(std::uint32_t group) {
  const MutexLock one_at_a_time(reclaim_mutex_);
  {
    const MutexLock lock(mutex_);
    if (!groups_[group].loaded) return 0;  // given back meanwhile
    allocator_.begin_reclaim();
  }
  SYMNAS_ASSIGN(const UsedBlocks used, read_used(group));
  const MutexLock lock(mutex_);
  // Of what cannot be read, too, it is not known whether it is recorded: it is not taken.
  std::vector<BlockRun> announced = used.unreadable;
  for (const auto& [start, blocks] : announced_) announced.push_back({start, blocks});
  look_around_locked();
  const std::uint64_t blocks = allocator_.reclaim(group, used.recorded, announced);
  count_.taken_since += static_cast<std::int64_t>(blocks);
  return blocks;
}

Result<bool> Space::reclaim() {
  std::vector<std::uint32_t> own;
  {
    const MutexLock lock(mutex_);
    const std::int64_t now_ns = clock_.mono_ns();
    if (alone() || (reclaimed_ns_ != 0 && now_ns - reclaimed_ns_ < kReclaimNs)) return false;
    reclaimed_ns_ = now_ns;
    for (const auto& [index, group] : groups_)
      if (group.loaded) own.push_back(index);
  }
  std::uint64_t blocks = 0;
  for (const std::uint32_t group : own) {
    SYMNAS_ASSIGN(const std::uint64_t found, reclaim(group));
    blocks += found;
  }
  const MutexLock lock(mutex_);
  let_go_locked();
  return blocks > 0;
}

// --- giving back

std::uint64_t Space::ready_low() const {
  const std::uint64_t share = options_.volume_blocks() / kReadyShare;
  return std::clamp(share, std::min(options_.group_blocks, kReadyBlocksLow), kReadyBlocksLow);
}

bool Space::is_idle_locked(std::uint32_t group) const {
  const bool being_freed = std::any_of(announced_.begin(), announced_.end(), [&](const auto& run) {
    return group_of(run.first) == group;
  });
  return !being_freed && allocator_.is_idle(group);
}

bool Space::needed_locked() const {
  return !alone() && room_waiters_.empty() && allocator_.free_blocks() > 0 &&
         options_.peers->someone_needs_space();
}

// Chooses a group to give back; nullopt: none.
std::optional<std::uint32_t> Space::surplus_locked() const {
  if (alone()) return std::nullopt;
  const bool needed = needed_locked();
  const std::uint64_t free = allocator_.free_blocks();
  if (!needed && free < kSurplusTimes * ready_low()) return std::nullopt;
  for (auto it = groups_.rbegin(); it != groups_.rend(); ++it) {
    const auto& [index, group] = *it;
    if (!group.loaded || index == allocator_.last_used()) continue;
    const FreeMap& map = allocator_.map(index);
    const bool whole = map.free_blocks() == map.group().blocks;
    if (needed ? map.free_blocks() == 0 : !whole) continue;
    if (!needed && free - map.free_blocks() < kSurplusTimes * ready_low()) continue;
    if (is_idle_locked(index)) return index;
  }
  return std::nullopt;
}

void Space::give_surplus_back() {
  bool needed = false;
  {
    const MutexLock lock(mutex_);
    needed = needed_locked();
  }
  // Only a fresh read of the groups tells which of them have no block on its way into a map.
  if (const auto read = needed ? reclaim() : false; !read)
    log::warn("own allocation groups not read: {}", read.error().message);
  for (int given = 0;; ++given) {
    std::optional<std::uint32_t> group;
    {
      const MutexLock lock(mutex_);
      if (!needed || given < kGiveAtOnce) group = surplus_locked();
      if (!group) posted_.give_back = false;
    }
    if (!group) return;
    const Status done = give_group_back(*group);
    if (done) continue;
    log::warn("allocation group {} not given back: {}", *group, done.error().message);
    const MutexLock lock(mutex_);
    posted_.give_back = false;
    return;
  }
}

// From before the transaction on no block of the group is handed out. If the outcome is not known,
// the next claim finds out: it compares the revision from before.
Status Space::give_group_back(std::uint32_t group) {
  kv::Mutation giving;
  giving.growth = kv::Growth::kMustGo;
  const std::string key = keys::group_owner(options_.fs, group);
  {
    const MutexLock reading(reclaim_mutex_);
    const MutexLock lock(mutex_);
    Group& known = groups_[group];
    if (!known.loaded || !is_idle_locked(group)) return {};
    giving.compares = {kv::mod_revision_is(key, known.revision)};
    known.free_blocks = allocator_.remove_group(group);
    known.loaded = false;
    known.owner = MountId{0};
    ready_.store(allocator_.free_blocks(), std::memory_order_relaxed);
  }
  giving.writes = {kv::put(key, records::GroupOwner().SerializeAsString())};
  SYMNAS_ASSIGN(const kv::Committed given, session_.commit_blocking(std::move(giving)));
  if (!given.succeeded) return {};
  const MutexLock lock(mutex_);
  const std::optional<std::uint64_t> free = groups_[group].free_blocks;
  learn_owner_locked(group, MountId{0}, given.revision);
  if (!groups_[group].loaded) groups_[group].free_blocks = free;
  return {};
}

Status Space::take_over(MountId ended) {
  SYMNAS_TRY(read_owners());  // the ended mount may have claimed some since
  for (;;) {
    kv::Mutation move;
    move.growth = kv::Growth::kMustGo;
    std::vector<std::uint32_t> moved;
    {
      const MutexLock lock(mutex_);
      for (const auto& [index, group] : groups_) {
        if (group.owner != ended || moved.size() >= kTakeoverGroupsMax) continue;
        const std::string key = keys::group_owner(options_.fs, index);
        move.compares.push_back(kv::mod_revision_is(key, group.revision));
        move.writes.push_back(kv::put(key, records::GroupOwner().SerializeAsString()));
        moved.push_back(index);
      }
    }
    if (moved.empty()) return {};
    move.compares.push_back(kv::key_exists(keys::mount_ended(options_.fs, ended)));
    SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(move)));
    if (!committed.succeeded) {
      SYMNAS_ASSIGN(const kv::OpResult record,
                    session_.range(kv::single_key(keys::mount_ended(options_.fs, ended)), 1));
      if (record.kvs.empty()) return {};  // another mount has taken all its groups over
      SYMNAS_TRY(read_owners());
      continue;
    }
    const MutexLock lock(mutex_);
    for (const std::uint32_t index : moved)
      learn_owner_locked(index, MountId{0}, committed.revision);
    claims_.all_claimed = false;
  }
}

}  // namespace symnas::fs
