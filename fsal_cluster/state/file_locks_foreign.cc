// FileLocks, as far as owners of other VNFSs are concerned.
#include <algorithm>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/lock_record.h"

namespace symnas::fs {

Result<kv::Compare> FileLocks::look(Ino ino) {
  const kv::KeyRange range = kv::prefix_range(locks_of(fs_, ino));
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(range, 0));
  std::vector<ForeignLock> foreign;
  std::int64_t newest = 0;
  for (const kv::KeyValue& kv : found.kvs) {
    newest = std::max(newest, kv.mod_revision.value());
    SYMNAS_ASSIGN(const records::LockRecord record, parse_lock(kv));
    if (record.vnfs() != vnfs_) foreign.push_back(foreign_lock(kv, record));
  }
  foreign_.set(ino, std::move(foreign));
  // Whatever is put later has a higher revision; what goes away only makes room.
  kv::Compare unchanged;
  unchanged.range = range;
  unchanged.target = kv::Compare::Target::kModRevision;
  unchanged.relation = kv::Compare::Relation::kLess;
  unchanged.number = newest + 1;
  return unchanged;
}

std::optional<LockConflict> FileLocks::foreign_conflict(Ino ino, const LockRange& range,
                                                        const Membership::Stay* stay) {
  const bool alone = stay == nullptr || stay->sole();
  // What a VNFS that nobody serves has left may have been cleared since it was loaded. Without an
  // answer it stands.
  if (alone && foreign_.conflict(ino, range)) static_cast<void>(look(ino));
  for (;;) {
    const auto conflict = foreign_.conflict(ino, range);
    if (!conflict) return std::nullopt;
    const LockConflict answer{conflict->lock.owner, conflict->range};
    if (!alone) ask_for(conflict->lock);
    const std::int64_t since_ns = std::max(alone_since_ns_, serving_since_ns());
    if (!alone || answer.holder.protocol != LockProtocol::kNfs4 ||
        clock_.mono_ns() - since_ns <= unclaimed_ns_)
      return answer;
    log::warn("locks of client {} of {} are revoked: no mount has served it for {} s",
              to_hex(answer.holder.client), conflict->lock.vnfs, unclaimed_ns_ / 1'000'000'000);
    for (const ForeignLock& lock :
         foreign_.take_client(conflict->lock.vnfs, answer.holder.protocol, answer.holder.client)) {
      kv::Mutation mutation;
      mutation.growth = kv::Growth::kMustGo;
      mutation.compares = {kv::mod_revision_is(lock.store_key, lock.revision)};
      mutation.writes = {kv::erase(lock.store_key)};
      const auto erased = session_.commit_blocking(std::move(mutation));
      if (!erased) return answer;
    }
  }
}

// Only its own instance knows whether a client is away.
void FileLocks::ask_for(const ForeignLock& lock) {
  if (lock.owner.protocol != LockProtocol::kNfs4) return;
  const std::int64_t now_ns = clock_.mono_ns();
  std::erase_if(asked_ns_, [&](const auto& asked) { return now_ns - asked.second > kAskAgainNs; });
  if (!asked_ns_.try_emplace(lock.store_key, now_ns).second) return;
  records::LockOrder order;
  order.set_kind(records::LockOrder::CONFLICT);
  order.set_lock_revision(lock.revision.value());
  order.set_ordered_ns(clock_.wall_ns());
  order.set_by(vnfs_);
  const std::string key = lock_order_key(fs_, lock.store_key);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {kv::mod_revision_is(lock.store_key, lock.revision), kv::key_absent(key)};
  mutation.writes = {kv::put(key, order.SerializeAsString())};
  const auto asked = session_.commit_blocking(std::move(mutation));
  if (!asked) log::info("a lock of {} cannot be asked for: {}", lock.vnfs, asked.error().message);
}

Status FileLocks::turning_sole() {
  const auto order = take_turn();
  SYMNAS_ASSIGN(const kv::OpResult found,
                session_.range(kv::prefix_range(kv::keys::locks(fs_)), 0));
  foreign_.clear();
  for (const kv::KeyValue& kv : found.kvs) {
    SYMNAS_ASSIGN(const records::LockRecord record, parse_lock(kv));
    if (record.vnfs() != vnfs_) foreign_.add(Ino{record.ino()}, foreign_lock(kv, record));
  }
  alone_since_ns_ = clock_.mono_ns();
  return {};
}

}  // namespace symnas::fs
