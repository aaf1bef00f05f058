// Space: who owns which group, and what to do when a record of that is lost.
#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/each_key.h"
#include "fsal_cluster/space/space.h"

namespace symnas::fs {

namespace keys = kv::keys;

Status Space::read_owners() {
  const std::string prefix = keys::group_owners(options_.fs);
  std::map<std::uint32_t, Revision> before;
  {
    const MutexLock lock(mutex_);
    for (const auto& [index, group] : groups_)
      if (group.revision != Revision{0}) before[index] = group.revision;
  }
  std::map<std::uint32_t, Group> found;
  SYMNAS_TRY(each_key(session_, kv::prefix_range(prefix), [&](const kv::KeyValue& kv) -> Status {
    records::GroupOwner owner;
    if (kv.key.size() != prefix.size() + 4 || !owner.ParseFromString(kv.value)) {
      return fail(ErrorCode::kCorrupt, "unreadable group owner record " + to_hex(kv.key));
    }
    Group& group = found[read_be32(kv.key, prefix.size())];
    group.owner = MountId{owner.mount()};
    group.revision = kv.mod_revision;
    return {};
  }));
  std::optional<std::uint32_t> lost;
  {
    const MutexLock lock(mutex_);
    for (const auto& [index, group] : found) {
      const Group& known = groups_[index];
      if (known.loaded && group.revision > known.revision && group.owner != options_.mount)
        lost = index;
      learn_owner_locked(index, group.owner, group.revision);
    }
    for (const auto& [index, revision] : before) {
      Group& known = groups_[index];
      if (found.contains(index) || known.revision != revision) continue;
      // It was there before the read, and no mount erases it.
      if (known.loaded) {
        lost = index;
        continue;
      }
      known.owner = MountId{0};
      known.revision = Revision{0};
      known.free_blocks.reset();
    }
  }
  if (lost) lose(*lost);
  return {};
}

Status Space::look_at_owner(std::uint64_t volume_block) {
  const std::uint32_t group = group_of(volume_block);
  Revision before;
  {
    const MutexLock lock(mutex_);
    if (!groups_[group].loaded) return {};
    before = groups_[group].revision;
  }
  const std::string key = keys::group_owner(options_.fs, group);
  SYMNAS_ASSIGN(const kv::OpResult read, session_.range(kv::single_key(key), 1));
  if (!read.kvs.empty() && read.kvs.front().mod_revision == before) return {};
  return read_owners();
}

void Space::lose(std::uint32_t group) {
  if (!options_.lost_group) return;
  options_.lost_group(
      {ErrorCode::kFenced,
       fmt::format(
           "allocation group {} is not this mount's any more: the mount has ended, or the owner "
           "record was changed by nobody who may; this instance ends, the next one looks again. "
           "If no fence is reported, run symnas fs check",
           group)});
}

// Answers come in any order: the newest of each key counts (no mount erases one).
void Space::learn_owner_locked(std::uint32_t group, MountId owner, Revision revision) {
  Group& known = groups_[group];
  if (revision <= known.revision || (known.loaded && owner != options_.mount)) return;
  if (!known.loaded) known.free_blocks.reset();  // another owner has been there
  known.owner = owner;
  known.revision = revision;
  known.no_owner = false;
}

// REQUIRES: a claim that compared that the group has neither owner nor a used block has failed, and
// the owners were read since.
void Space::note_no_owner(std::uint32_t group) {
  {
    const MutexLock lock(mutex_);
    Group& known = groups_[group];
    if (known.revision != Revision{0} || known.no_owner) return;
    known.no_owner = true;
  }
  log::warn(
      "allocation group {} has used blocks and no owner record: this mount takes no space there "
      "until it is repaired (symnas fs check --repair)",
      group);
}

Result<UsedBlocks> Space::read_used(std::optional<std::uint32_t> group) {
  SYMNAS_ASSIGN(UsedBlocks used,
                read_used_blocks(session_, options_.fs, group, options_.group_blocks));
  if (used.unreadable.empty()) return used;
  const std::int64_t now_ns = clock_.mono_ns();
  {
    const MutexLock lock(mutex_);
    if (now_ns < unreadable_log_ns_) return used;
    unreadable_log_ns_ = now_ns + kUnreadableLogNs;
  }
  log::warn(
      "the reverse-map record of volume block {} cannot be read ({} such records): no space is "
      "taken from there to the next record; run symnas fs check",
      used.unreadable.front().start, used.unreadable.size());
  return used;
}

}  // namespace symnas::fs
