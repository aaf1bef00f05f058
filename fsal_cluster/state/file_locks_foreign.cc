// FileLocks: the part about owners of other VNFSs.
#include <algorithm>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/state/served.h"

namespace symnas::fs {

Result<kv::Compare> FileLocks::look(Ino ino) {
  const kv::KeyRange range = kv::prefix_range(locks_of(fs_, ino));
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(range, 0));
  std::vector<ForeignLock> foreign;
  std::int64_t newest = 0;
  SYMNAS_ASSIGN(const std::vector<ParsedLock> parsed, parse_locks(fs_, found.kvs));
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    newest = std::max(newest, found.kvs[i].mod_revision.value());
    if (parsed[i].record.vnfs() != vnfs_)
      foreign.push_back(foreign_lock(found.kvs[i], parsed[i].record));
  }
  {
    const MutexLock lock(mutex_);
    foreign_.set(ino, std::move(foreign));
  }
  // A record that is put later has a higher revision; one that goes away only makes room.
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
  // Locks of a VNFS without an instance may have been cleared since they were loaded. If the look
  // fails, they stand.
  if (alone && known_conflict(ino, range)) static_cast<void>(look(ino));
  for (;;) {
    const auto conflict = known_conflict(ino, range);
    if (!conflict) return std::nullopt;
    const LockConflict answer{conflict->lock.owner, conflict->range};
    if (!alone && ask_for(conflict->lock, range)) continue;
    std::int64_t since_ns = serving_since_ns();
    {
      const MutexLock lock(mutex_);
      since_ns = std::max(since_ns, alone_since_ns_);
    }
    if (!alone || answer.holder.protocol != LockProtocol::kNfs4 ||
        clock_.mono_ns() - since_ns <= unclaimed_ns_)
      return answer;
    log::warn("locks of client {} of {} are revoked: no mount has served it for {} s",
              to_hex(answer.holder.client), conflict->lock.vnfs, unclaimed_ns_ / 1'000'000'000);
    if (!take_client(conflict->lock, std::nullopt)) return answer;
  }
}

std::optional<ForeignLocks::Conflict> FileLocks::known_conflict(Ino ino,
                                                                const LockRange& range) const {
  const MutexLock lock(mutex_);
  return foreign_.conflict(ino, range);
}

bool FileLocks::may_ask(const ForeignLock& lock, std::int64_t now_ns) {
  const MutexLock mutex_lock(mutex_);
  std::erase_if(asked_ns_, [&](const auto& asked) { return now_ns - asked.second > kAskAgainNs; });
  return asked_ns_.try_emplace(lock.store_key, now_ns).second;
}

// Only the VNFS's own instance knows whether a client is away. Without an instance, the client is
// away.
bool FileLocks::ask_for(const ForeignLock& lock, const LockRange& wanted) {
  if (lock.owner.protocol != LockProtocol::kNfs4) return false;
  const std::int64_t now_ns = clock_.mono_ns();
  if (!may_ask(lock, now_ns)) return false;
  const auto unserved_since = unserved(lock.vnfs);
  if (!unserved_since) return false;
  if (!*unserved_since) {
    order_look_at(lock, wanted);
    return false;
  }
  const std::int64_t since_ns = std::max((*unserved_since)->since_ns, serving_since_ns());
  if (now_ns - since_ns <= unclaimed_ns_) return false;
  log::warn("locks of client {} of {} are revoked: no mount has served it for {} s",
            to_hex(lock.owner.client), lock.vnfs, unclaimed_ns_ / 1'000'000'000);
  return take_client(lock, (*unserved_since)->claimed).has_value();
}

Result<std::optional<FileLocks::Unserved>> FileLocks::unserved(const std::string& vnfs) {
  SYMNAS_ASSIGN(const std::optional<Revision> claimed, unserved_since(session_, fs_, vnfs));
  const MutexLock lock(mutex_);
  if (!claimed) {
    unserved_.erase(vnfs);
    return std::optional<Unserved>();
  }
  const auto known = unserved_.try_emplace(vnfs, Unserved{*claimed, clock_.mono_ns()}).first;
  if (known->second.claimed != *claimed) known->second = {*claimed, clock_.mono_ns()};
  return std::optional<Unserved>(known->second);
}

Status FileLocks::take_client(const ForeignLock& lock, std::optional<Revision> claimed) {
  SYMNAS_ASSIGN(const kv::OpResult found,
                session_.range(kv::prefix_range(kv::keys::locks(fs_)), 0));
  std::vector<const kv::KeyValue*> its;
  for (const kv::KeyValue& kv : found.kvs) {
    const auto holder = parse_lock_key(fs_, kv.key);
    if (holder && holder->vnfs == lock.vnfs && holder->owner.protocol == lock.owner.protocol &&
        holder->owner.client == lock.owner.client)
      its.push_back(&kv);
  }
  for (std::size_t at = 0; at < its.size(); at += kLocksAtOnce) {
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    if (claimed) mutation.compares = {no_claim_since(fs_, *claimed)};
    for (std::size_t i = at; i < std::min(its.size(), at + kLocksAtOnce); ++i) {
      mutation.compares.push_back(kv::mod_revision_is(its[i]->key, its[i]->mod_revision));
      mutation.writes.push_back(kv::erase(its[i]->key));
    }
    SYMNAS_ASSIGN(const kv::Committed erased, session_.commit_blocking(std::move(mutation)));
    if (!erased.succeeded)
      return fail(ErrorCode::kConflict, lock.vnfs + ": is served again, or its locks are cleared");
  }
  const MutexLock mutex_lock(mutex_);
  foreign_.forget_client(lock.vnfs, lock.owner.protocol, lock.owner.client);
  return {};
}

void FileLocks::order_look_at(const ForeignLock& lock, const LockRange& wanted) {
  records::LockOrder order;
  order.set_kind(records::LockOrder::CONFLICT);
  order.set_lock_revision(lock.revision.value());
  order.set_ordered_ns(clock_.wall_ns());
  order.set_by(vnfs_);
  order.set_start(wanted.start);
  order.set_end(wanted.end);
  const std::string key = lock_order_key(fs_, lock.store_key);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {kv::mod_revision_is(lock.store_key, lock.revision), kv::key_absent(key)};
  mutation.writes = {kv::put(key, order.SerializeAsString())};
  const auto asked = session_.commit_blocking(std::move(mutation));
  if (!asked) log::info("{} cannot be asked about a lock: {}", lock.vnfs, asked.error().message);
}

Status FileLocks::turning_sole() {
  const LockTurn turn(turns_, LockTurns::all());
  SYMNAS_ASSIGN(const kv::OpResult found,
                session_.range(kv::prefix_range(kv::keys::locks(fs_)), 0));
  SYMNAS_ASSIGN(const std::vector<ParsedLock> parsed, parse_locks(fs_, found.kvs));
  const MutexLock lock(mutex_);
  foreign_.clear();
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const records::LockRecord& record = parsed[i].record;
    if (record.vnfs() != vnfs_) foreign_.add(Ino{record.ino()}, foreign_lock(found.kvs[i], record));
  }
  alone_since_ns_ = clock_.mono_ns();
  return {};
}

}  // namespace symnas::fs
