// Lists recorded locks for an administrator, and clears them from outside of the instance that
// holds them in memory. Thread-safe; blocks.
//
// When the lock's VNFS has the filesystem mounted, that mount is ordered to clear the lock
// (state/lock_orders.h). When it has not, the transaction here clears it, and compares that no
// mount of the filesystem was claimed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "fsal_cluster/state/lock_record.h"

namespace symnas::fs {

struct LockEntry {
  std::string key;
  Revision revision;  // of the record
  Ino ino;
  std::string vnfs;
  LockOwner owner;
  RecordedLock lock;
  // True: recorded before the present mount of its VNFS, or there is none. Then an NFSv4 client may
  // be away.
  bool is_older_than_mount = true;
};

// Locks that are read from the store at once: less than a MiB.
inline constexpr std::int64_t kLocksPage = 1000;

// Calls `take` with each recorded lock, page by page, until it returns false. Locks that are made
// or released meanwhile may be shown or not. Errors: kUnavailable, kCorrupt.
Status for_each_lock(kv::Store& store, FsId fs, const std::function<bool(LockEntry)>& take);
// All of them.
Result<std::vector<LockEntry>> list_locks(kv::Store& store, FsId fs);

struct ClearedLocks {
  std::size_t released = 0;
  std::size_t changed = 0;              // changed by their owners meanwhile: left alone
  std::vector<std::string> unanswered;  // VNFSs whose mount did not obey in time: order taken back
};

// Clears these records if they have not changed since they were listed. `by`: this head. Waits for
// mounts at most wait_ms. Errors: kUnavailable, kConflict (mounts keep coming), kNoSpace; some
// locks may be cleared then.
Result<ClearedLocks> clear_locks(kv::Store& store, const env::Clock& clock, FsId fs,
                                 const std::vector<LockEntry>& locks, const std::string& by,
                                 std::int64_t wait_ms);

}  // namespace symnas::fs
