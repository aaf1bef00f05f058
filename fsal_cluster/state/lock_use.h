// LockUse: how many byte-range locks clients of a VNFS have recorded in a filesystem
// (docs/formats/keys.md, uL). Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"

namespace symnas::fs {

struct LockUse {
  std::vector<std::string> keys;   // one for each owner of locks in a file
  std::vector<std::string> waits;  // one for each lock that is waited for
};

// Reads both tables, in pages. Errors: those of the store.
Result<LockUse> lock_use(kv::Store& store, FsId fs, const std::string& vnfs,
                         std::int64_t deadline_ms);

// Erases those records and the orders about them, unless a VNFS of that key (`vnfs_key`) was made
// again. Errors: those of the store, kConflict.
Status forget_locks(kv::Store& store, FsId fs, const LockUse& use, const std::string& vnfs_key,
                    std::int64_t deadline_ms);

}  // namespace symnas::fs
