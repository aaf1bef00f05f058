// InoLease: inode numbers of this mount. A range is leased by one transaction per kInoLeaseCount
// creates; numbers are never given twice, by no mount (docs/formats/keys.md, `uN`). Thread class:
// thread-safe. next() may block while it leases (etcd away = it waits).
#pragma once

#include <cstdint>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/kv/session.h"

namespace symnas::fs {

class InoLease {
 public:
  InoLease(kv::Session& session, FsId fs) : session_(session), fs_(fs) {}
  // Errors: kCorrupt (the counter), kConflict (others kept leasing), those of Session::range and
  // Session::commit.
  Result<Ino> next();

 private:
  Status lease() REQUIRES(mutex_);

  kv::Session& session_;
  const FsId fs_;
  Mutex mutex_;
  std::uint64_t next_ GUARDED_BY(mutex_) = 0;
  std::uint64_t end_ GUARDED_BY(mutex_) = 0;
};

}  // namespace symnas::fs
