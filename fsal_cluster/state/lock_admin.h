// What an administrator sees of recorded locks, and how they are cleared from outside of the
// instance that believes in them. Thread-safe; blocks.
//
// A lock of a VNFS that has the filesystem mounted is cleared by that mount, which is ordered to
// (state/lock_orders.h); of one that has not by the transaction here, which compares that nobody
// has mounted the filesystem meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
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
  // Recorded before the mount that serves its VNFS now, or nobody serves it: an NFSv4 client may be
  // away.
  bool is_older_than_mount = true;
};

// Everything that is recorded. Errors: kUnavailable, kCorrupt.
Result<std::vector<LockEntry>> list_locks(kv::Store& store, FsId fs);

struct ClearedLocks {
  std::size_t released = 0;
  std::size_t changed = 0;              // by their owners meanwhile: left alone
  std::vector<std::string> unanswered;  // VNFSs whose mount did not do it in time: taken back
};

// Clears these records as they were when they were listed. `by`: this head. Waits for mounts at
// most wait_ms. Errors: kUnavailable, kConflict (mounts keep coming), kNoSpace; some may be cleared
// then.
Result<ClearedLocks> clear_locks(kv::Store& store, const env::Clock& clock, FsId fs,
                                 const std::vector<LockEntry>& locks, const std::string& by,
                                 std::int64_t wait_ms);

}  // namespace symnas::fs
