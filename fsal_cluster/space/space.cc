#include "fsal_cluster/space/space.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/each_key.h"
#include "fsal_cluster/space/limits.h"

namespace symnas::fs {
namespace {

namespace keys = kv::keys;

// `used` without what `freed` covers.
std::vector<BlockRun> subtract(std::vector<BlockRun> used, const std::vector<BlockRun>& freed) {
  for (const BlockRun& hole : freed) {
    std::vector<BlockRun> rest;
    for (const BlockRun& run : used) {
      if (hole.end() <= run.start || run.end() <= hole.start) {
        rest.push_back(run);
        continue;
      }
      if (run.start < hole.start) rest.push_back({run.start, hole.start - run.start});
      if (hole.end() < run.end()) rest.push_back({hole.end(), run.end() - hole.end()});
    }
    used = std::move(rest);
  }
  return used;
}

}  // namespace

Space::Space(kv::Session& session, const env::Clock& clock, Background& background,
             SpaceOptions options)
    : session_(session),
      clock_(clock),
      background_(background),
      options_(std::move(options)),
      allocator_(options_.group_blocks) {}

Result<std::unique_ptr<Space>> Space::open(kv::Session& session, const env::Clock& clock,
                                           Background& background, SpaceOptions options) {
  if (options.group_blocks < kGroupBlocksMin || options.group_blocks > kGroupBlocksMax) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("filesystem {}: group_blocks {} is outside {} ... {}", options.fs.value(),
                    options.group_blocks, kGroupBlocksMin, kGroupBlocksMax));
  }
  std::unique_ptr<Space> space(new Space(session, clock, background, std::move(options)));
  SYMNAS_TRY(space->read_owners());
  return space;
}

std::uint32_t Space::group_count() const {
  const std::uint64_t blocks = options_.volume_blocks();
  return static_cast<std::uint32_t>((blocks + options_.group_blocks - 1) / options_.group_blocks);
}

BlockRun Space::group_run(std::uint32_t group) const {
  const std::uint64_t start = group * options_.group_blocks;
  return {start, std::min(options_.group_blocks, options_.volume_blocks() - start)};
}

std::optional<BlockRun> Space::allocate(const SpaceWish& wish) {
  const MutexLock lock(mutex_);
  const auto run = allocator_.allocate(wish);
  if (run) announcement_.allocated_blocks += static_cast<std::int64_t>(run->blocks);
  ready_.store(allocator_.free_blocks(), std::memory_order_relaxed);
  const std::uint64_t soon = allocator_.free_blocks() + (alone() ? 0 : allocator_.waiting_blocks());
  if (soon < ready_low() && !posted_.claim_ahead && !claims_.all_claimed) {
    posted_.claim_ahead = true;
    background_.post([this] { claim_ahead(); });
  }
  return run;
}

void Space::claim_ahead() {
  const auto claimed = claim_one();
  const bool ending = !claimed && (claimed.error().code == ErrorCode::kEnded ||
                                   claimed.error().code == ErrorCode::kShutdown);
  if (!claimed && !ending) log::warn("allocation group not claimed: {}", claimed.error().message);
  const MutexLock lock(mutex_);
  posted_.claim_ahead = false;
}

void Space::give_back(BlockRun run) {
  const MutexLock lock(mutex_);
  allocator_.give_back(run);
  announcement_.allocated_blocks -= static_cast<std::int64_t>(run.blocks);
  ready_.store(allocator_.free_blocks(), std::memory_order_relaxed);
}

void Space::recorded(BlockRun run) {
  const MutexLock lock(mutex_);
  allocator_.recorded(run);
}

void Space::release(BlockRun run) {
  const MutexLock lock(mutex_);
  release_locked(run);
}

void Space::announce(const std::vector<BlockRun>& runs) {
  const MutexLock lock(mutex_);
  for (const BlockRun& run : runs) announced_.emplace(run.start, run.blocks);
}

void Space::conclude(const std::vector<BlockRun>& runs, FreeOutcome outcome) {
  const MutexLock lock(mutex_);
  for (const BlockRun& run : runs) {
    const auto [begin, end] = announced_.equal_range(run.start);
    const auto it =
        std::find_if(begin, end, [&](const auto& entry) { return entry.second == run.blocks; });
    CHECK(it != end, "a free that was not announced");
    announced_.erase(it);
    if (outcome == FreeOutcome::kFreed) release_locked(run);
  }
}

void Space::release_locked(BlockRun run) {
  claims_.all_claimed = false;
  announcement_.allocated_blocks -= static_cast<std::int64_t>(run.blocks);
  const std::uint32_t group = group_of(run.start);
  if (loading_.group == group) {
    loading_.freed.push_back(run);
    return;
  }
  look_around_locked();
  allocator_.release(run);
  let_go_locked();
  const auto known = groups_.find(group);
  if (known != groups_.end() && !known->second.loaded && known->second.free_blocks) {
    *known->second.free_blocks += run.blocks;
  }
}

Quiescence::Ticket Space::begin_io() {
  const MutexLock lock(mutex_);
  return allocator_.begin_io();
}

void Space::end_io(Quiescence::Ticket ticket) {
  const MutexLock lock(mutex_);
  look_around_locked();
  allocator_.end_io(ticket);
}

std::optional<kv::Compare> Space::guard(std::uint64_t volume_block) const {
  const MutexLock lock(mutex_);
  const std::uint32_t group = group_of(volume_block);
  const auto known = groups_.find(group);
  if (known == groups_.end() || known->second.owner != options_.mount) return std::nullopt;
  return kv::mod_revision_is(keys::group_owner(options_.fs, group), known->second.revision);
}

std::string Space::reverse_key(std::uint64_t volume_block) const {
  return keys::reverse_map(options_.fs, group_of(volume_block), volume_block);
}

kv::KeyRange Space::reverse_range(std::uint64_t begin, std::uint64_t end) const {
  const std::uint32_t group = group_of(begin);
  return {keys::reverse_map(options_.fs, group, begin), keys::reverse_map(options_.fs, group, end)};
}

// --- claims

std::vector<std::uint32_t> Space::candidates() const {
  std::vector<std::uint32_t> out;
  const std::uint32_t count = group_count();
  const MutexLock lock(mutex_);
  for (std::uint32_t group = 0; group < count; ++group) {
    const auto known = groups_.find(group);
    if (known != groups_.end()) {
      if (known->second.loaded || known->second.no_owner || known->second.free_blocks == 0)
        continue;
      const MountId owner = known->second.owner;
      const bool foreign = owner != MountId{0} && owner != options_.mount;
      if (foreign && options_.peers != nullptr && !options_.peers->has_ended(owner)) continue;
    }
    out.push_back(group);
    if (out.size() >= kClaimTriesMax) break;
  }
  return out;
}

Result<bool> Space::claim_one() {
  SYMNAS_ASSIGN(const bool reclaimed, reclaim());
  if (reclaimed) return true;
  SYMNAS_ASSIGN(const bool claimed, claim_any());
  if (claimed) return true;
  {
    const MutexLock lock(mutex_);
    const std::int64_t now_ns = clock_.mono_ns();
    if (alone() || (claims_.owners_ns != 0 && now_ns - claims_.owners_ns < kOwnersNs)) return false;
    claims_.owners_ns = now_ns;
    // Other mounts may have freed some of their blocks since they were counted.
    for (auto& [index, group] : groups_)
      if (!group.loaded && group.free_blocks == 0) group.free_blocks.reset();
  }
  SYMNAS_TRY(read_owners());
  return claim_any();
}

Result<bool> Space::claim_any() {
  const std::vector<std::uint32_t> list = candidates();
  {
    const MutexLock lock(mutex_);
    claims_.lost = false;
  }
  for (const std::uint32_t group : list) {
    SYMNAS_ASSIGN(const bool claimed, claim(group));
    if (!claimed) continue;
    const MutexLock lock(mutex_);
    if (allocator_.free_blocks() > 0 || allocator_.waiting_blocks() > 0) return true;
  }
  const MutexLock lock(mutex_);
  if (list.size() < kClaimTriesMax && !loading_.group && !claims_.lost) claims_.all_claimed = true;
  return false;
}

Result<bool> Space::claim(std::uint32_t group) {
  const std::string key = keys::group_owner(options_.fs, group);
  Group known;
  {
    const MutexLock lock(mutex_);
    if (loading_.group) return false;  // another thread loads a group
    known = groups_[group];
    if (known.loaded) return false;
    loading_.group = group;
    loading_.freed.clear();
  }
  const auto give_up = [this](Result<bool> answer) {
    const MutexLock lock(mutex_);
    loading_.group.reset();
    look_around_locked();
    for (const BlockRun& run : loading_.freed) allocator_.release(run);
    loading_.freed.clear();
    return answer;
  };
  if (known.owner != options_.mount) {
    kv::Mutation claim;
    claim.growth = kv::Growth::kMustGo;  // the write that wants space was admitted before
    claim.compares.push_back(kv::mod_revision_is(key, known.revision));
    // Owner keys stay for ever: a group without one has never had a block in use. If it has, its
    // key was lost, and a living mount may allocate there.
    if (known.revision == Revision{0})
      claim.compares.push_back(
          kv::range_absent(kv::prefix_range(keys::reverse_map_group(options_.fs, group))));
    if (known.owner != MountId{0}) {
      const std::string ended = keys::mount_ended(options_.fs, known.owner);
      const auto end_record = session_.read(ended);
      if (!end_record) return give_up(tl::unexpected(end_record.error()));
      if (!end_record->value) return give_up(false);  // it belongs to a living mount
      claim.compares.push_back(kv::key_exists(ended));
    }
    records::GroupOwner owner;
    owner.set_mount(options_.mount.value());
    claim.writes.push_back(kv::put(key, owner.SerializeAsString()));
    const auto committed = session_.commit_blocking(std::move(claim));
    if (!committed) return give_up(tl::unexpected(committed.error()));
    if (!committed->succeeded) {
      {
        const MutexLock lock(mutex_);
        claims_.lost = true;
      }
      const Status again = read_owners();
      if (!again) return give_up(tl::unexpected(again.error()));
      if (known.revision == Revision{0}) note_no_owner(group);
      return give_up(false);
    }
    const MutexLock lock(mutex_);
    learn_owner_locked(group, options_.mount, committed->revision);
  }
  auto used = read_used(group);
  if (!used) return give_up(tl::unexpected(used.error()));
  const MutexLock lock(mutex_);
  std::vector<BlockRun> not_free = std::move(used->recorded);
  not_free.insert(not_free.end(), used->unreadable.begin(), used->unreadable.end());
  for (const auto& [start, blocks] : announced_)
    if (group_of(start) == group) not_free.push_back({start, blocks});
  const auto in_use = subtract(std::move(not_free), loading_.freed);
  loading_.freed.clear();
  loading_.group.reset();
  groups_[group].loaded = true;
  look_around_locked();
  const bool fresh = known.revision == Revision{0} && in_use.empty();
  allocator_.add_group(FreeMap::without(group_run(group), in_use),
                       fresh ? Allocator::Used::kNever : Allocator::Used::kBefore);
  let_go_locked();
  return true;
}

// --- room

void Space::make_room(std::function<void(Result<Room>)> done) {
  {
    const MutexLock lock(mutex_);
    room_waiters_.push_back(std::move(done));
    if (room_waiters_.size() > 1) return;
  }
  const std::int64_t wait_ms = alone() ? kRoomWaitMs : kSharedRoomWaitMs;
  const RoomWait wait{wait_ms * 1'000'000, clock_.mono_ns()};
  background_.post([this, wait] { room_round(wait); });
}

void Space::answer_room(Result<Room> answer) {
  std::vector<std::function<void(Result<Room>)>> waiters;
  {
    const MutexLock lock(mutex_);
    waiters.swap(room_waiters_);
    announcement_.needs_space = false;
  }
  for (const auto& waiter : waiters) waiter(answer);
}

void Space::room_round(RoomWait wait) {
  const auto have_room = [this] {
    const MutexLock lock(mutex_);
    let_go_locked();
    return allocator_.free_blocks() > 0;
  };
  if (have_room()) return answer_room(Room::kMaybe);
  bool waits = false;  // enough comes back soon: the other mounts need groups, too
  {
    const MutexLock lock(mutex_);
    waits = !alone() && allocator_.waiting_blocks() >= ready_low();
  }
  if (!waits) {
    const auto claimed = claim_one();
    if (!claimed) return answer_room(tl::unexpected(claimed.error()));
  }
  if (have_room()) return answer_room(Room::kMaybe);
  const bool held = options_.return_reservations();
  if (have_room()) return answer_room(Room::kMaybe);
  bool hope = held || options_.frees_pending();
  {
    const MutexLock lock(mutex_);
    // Announced, so that other mounts give groups back.
    announcement_.needs_space = !alone() && allocator_.waiting_blocks() == 0 && !loading_.group;
    hope = hope || !alone() || allocator_.waiting_blocks() > 0 || loading_.group.has_value() ||
           !claims_.all_claimed;
  }
  const std::int64_t now_ns = clock_.mono_ns();
  wait.left_ns -= std::min(now_ns - wait.looked_ns, kRoomStepNs);
  wait.looked_ns = now_ns;
  if (!hope || wait.left_ns <= 0) return answer_room(Room::kNone);
  background_.post_at(now_ns + kRoomPollMs * 1'000'000, [this, wait] { room_round(wait); });
}

// --- counting

Status Space::count_groups() {
  const auto foreign = foreign_blocks();  // before: what changes meanwhile is counted
                                          // twice, not lost, until the next count
  std::map<std::uint32_t, std::uint64_t> used;
  SYMNAS_ASSIGN(const UsedBlocks all, read_used(std::nullopt));
  for (const auto* runs : {&all.recorded, &all.unreadable})
    for (const BlockRun& run : *runs) used[group_of(run.start)] += run.blocks;
  const MutexLock lock(mutex_);
  for (auto& [index, group] : groups_)
    if (!used.contains(index)) group.free_blocks.reset();  // all of it
  for (const auto& [index, blocks] : used) {
    const std::uint64_t size = group_run(index).blocks;
    groups_[index].free_blocks = blocks >= size ? 0 : size - blocks;
  }
  count_.done = true;
  count_.at_ns = clock_.mono_ns();
  count_.foreign = foreign;
  count_.taken_since = 0;
  return {};
}

std::map<MountId, std::int64_t> Space::foreign_blocks() const {
  if (options_.peers == nullptr) return {};
  return options_.peers->allocated_blocks();
}

// Blocks that other mounts have allocated since the last count. A mount that has gone since then
// adds none: what it had allocated is in the count.
std::int64_t Space::foreign_since_locked() const {
  std::int64_t out = 0;
  for (const auto& [mount, blocks] : foreign_blocks()) {
    const auto counted = count_.foreign.find(mount);
    out += blocks - (counted == count_.foreign.end() ? 0 : counted->second);
  }
  return out;
}

void Space::recount_if_stale() {
  {
    const MutexLock lock(mutex_);
    if (posted_.recount || foreign_blocks() == count_.foreign ||
        clock_.mono_ns() - count_.at_ns < kRecountNs)
      return;
    posted_.recount = true;
  }
  background_.post([this] {
    const MutexLock count_lock(count_mutex_);
    Status counted;
    if (const auto reclaimed = reclaim(); !reclaimed)
      counted = tl::unexpected<Error>(reclaimed.error());
    if (counted) counted = count_groups();
    if (!counted) log::warn("free space not counted: {}", counted.error().message);
    const MutexLock lock(mutex_);
    posted_.recount = false;
  });
}

Result<Space::Use> Space::use() {
  {
    const MutexLock count_lock(count_mutex_);
    bool counted = false;
    {
      const MutexLock lock(mutex_);
      counted = count_.done;
    }
    if (!counted) SYMNAS_TRY(count_groups());
  }
  recount_if_stale();
  const std::uint32_t count = group_count();
  const MutexLock lock(mutex_);
  Use out;
  out.total_blocks = options_.volume_blocks();
  std::uint64_t known_blocks = 0;
  for (const auto& [index, group] : groups_) {
    if (index >= count) continue;
    const std::uint64_t size = group_run(index).blocks;
    known_blocks += size;
    if (!group.loaded) out.free_blocks += group.free_blocks.value_or(size);
  }
  out.free_blocks += allocator_.free_blocks() + allocator_.waiting_blocks();
  out.free_blocks += out.total_blocks - known_blocks;
  const std::int64_t foreign = foreign_since_locked() + count_.taken_since;
  const std::int64_t free = static_cast<std::int64_t>(out.free_blocks) - foreign;
  out.free_blocks =
      std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(free, 0)), out.total_blocks);
  return out;
}

}  // namespace symnas::fs
