// LockRecorder: writes the lock records of one VNFS's owners. It knows the revision of each, and
// writes over no record that somebody else has changed.
//
// Thread class: thread-safe; REQUIRES: one transaction of a key at a time. Blocks until its outcome
// is known.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

// Records that one transaction writes when there are many: a member of the store applies it in
// about a millisecond.
inline constexpr std::size_t kLocksAtOnce = 100;

class LockRecorder {
 public:
  using Key = LockTable::Key;

  // `session` outlives it.
  LockRecorder(kv::Session& session, FsId fs, std::string vnfs);

  // The key's record was found with that revision.
  void found(const Key& key, Revision revision);
  bool is_recorded_as(const Key& key, Revision revision) const;
  // Writes what one owner holds: no ranges erase its record. Compares `unchanged`, too. Errors:
  // kConflict (a compare did not hold), Session::commit.
  Status write(const Key& key, const RecordedLock& lock,
               std::optional<kv::Compare> unchanged = std::nullopt);
  // Erases the records of these keys, at most kLocksAtOnce, in one transaction; each by itself when
  // somebody else has changed one of them. Errors: as write().
  Status erase(std::span<const Key> keys);

 private:
  Result<Revision> stored_revision(const std::string& store_key);
  // Of the key's record as this process knows it; nullopt: there is none.
  std::optional<Revision> known_revision(const Key& key) const;
  void forget(const Key& key);

  kv::Session& session_;
  const FsId fs_;
  const std::string vnfs_;

  mutable Mutex mutex_;
  std::map<Key, Revision> mod_revision_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs
