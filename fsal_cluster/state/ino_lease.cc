#include "fsal_cluster/state/ino_lease.h"

#include <string>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/counter.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

Result<Ino> InoLease::next() {
  const MutexLock lock(mutex_);
  if (next_ == end_) SYMNAS_TRY(lease());
  return Ino{next_++};
}

Status InoLease::lease() {
  const std::string key = kv::keys::next_ino(fs_);
  for (int attempt = 0; attempt < kConflictRetriesMax; ++attempt) {
    SYMNAS_ASSIGN(const kv::OpResult read, session_.range(kv::single_key(key), 1));
    SYMNAS_ASSIGN(const Counter counter, parse_counter(key, read, kFirstIno));
    kv::Mutation mutation;
    mutation.compares = {counter_unchanged(key, counter)};
    mutation.writes = {counter_advanced(key, counter, kInoLeaseCount)};
    SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
    if (!done.succeeded) continue;
    next_ = counter.next;
    end_ = counter.next + kInoLeaseCount;
    return {};
  }
  return fail(ErrorCode::kConflict, "inode numbers: other mounts kept leasing; try again");
}

}  // namespace symnas::fs
