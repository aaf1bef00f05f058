#include "fsal_cluster/state/lock_recorder.h"

#include <utility>

#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

LockRecorder::LockRecorder(kv::Session& session, FsId fs, std::string vnfs)
    : session_(session), fs_(fs), vnfs_(std::move(vnfs)) {}

void LockRecorder::found(const Key& key, Revision revision) {
  const MutexLock lock(mutex_);
  mod_revision_[key] = revision;
}

bool LockRecorder::is_recorded_as(const Key& key, Revision revision) const {
  return known_revision(key) == revision;
}

std::optional<Revision> LockRecorder::known_revision(const Key& key) const {
  const MutexLock lock(mutex_);
  const auto known = mod_revision_.find(key);
  if (known == mod_revision_.end()) return std::nullopt;
  return known->second;
}

void LockRecorder::forget(const Key& key) {
  const MutexLock lock(mutex_);
  mod_revision_.erase(key);
}

Result<Revision> LockRecorder::stored_revision(const std::string& store_key) {
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(kv::single_key(store_key), 1));
  return found.kvs.empty() ? Revision{} : found.kvs.front().mod_revision;
}

Status LockRecorder::write(const Key& key, const RecordedLock& lock,
                           std::optional<kv::Compare> unchanged) {
  const std::string store_key = lock_key(fs_, key.first, vnfs_, key.second);
  const auto known = known_revision(key);
  if (!known && lock.ranges.empty()) return {};
  kv::Mutation mutation;
  mutation.growth = lock.ranges.empty() ? kv::Growth::kMustGo : kv::Growth::kChanges;
  mutation.compares.push_back(kv::mod_revision_is(store_key, known.value_or(Revision{})));
  if (unchanged) mutation.compares.push_back(std::move(*unchanged));
  mutation.writes.push_back(
      lock.ranges.empty()
          ? kv::erase(store_key)
          : kv::put(store_key, to_record(key.first, vnfs_, key.second, lock).SerializeAsString()));
  SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(mutation)));
  if (!committed.succeeded) {
    SYMNAS_ASSIGN(const Revision stored, stored_revision(store_key));
    if (stored == Revision{})
      forget(key);
    else
      found(key, stored);
    return fail(ErrorCode::kConflict, "lock records of the inode were changed by somebody else");
  }
  if (lock.ranges.empty())
    forget(key);
  else
    found(key, committed.revision);
  return {};
}

Status LockRecorder::erase(std::span<const Key> keys) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  for (const Key& key : keys) {
    const auto known = known_revision(key);
    if (!known) continue;
    const std::string store_key = lock_key(fs_, key.first, vnfs_, key.second);
    mutation.compares.push_back(kv::mod_revision_is(store_key, *known));
    mutation.writes.push_back(kv::erase(store_key));
  }
  if (mutation.writes.empty()) return {};
  SYMNAS_ASSIGN(const kv::Committed committed, session_.commit_blocking(std::move(mutation)));
  if (!committed.succeeded) {
    // One of the records was changed by somebody else: each key is written by itself.
    for (const Key& key : keys) SYMNAS_TRY(write(key, {}));
    return {};
  }
  for (const Key& key : keys) forget(key);
  return {};
}

}  // namespace symnas::fs
