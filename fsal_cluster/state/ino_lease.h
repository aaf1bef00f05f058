// InoLease: inode numbers of this mount. A range is leased by one transaction per kInoLeaseCount
// creates; numbers are never given twice, by no mount (docs/formats/keys.md, `uN`). Thread class:
// thread-safe. next() may block while it leases (etcd away = it waits).
#pragma once

#include <cstdint>
#include <mutex>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/session.h"

namespace symnas::fs {

class InoLease {
 public:
  InoLease(kv::Session& session, FsId fs) : session_(session), fs_(fs) {}
  // Errors: kCorrupt (the counter), kConflict (others kept leasing), those of Session::range and
  // Session::commit.
  Result<Ino> next();

 private:
  Status lease();

  kv::Session& session_;
  const FsId fs_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;  // guarded by mutex_
  std::uint64_t end_ = 0;   // guarded by mutex_
};

}  // namespace symnas::fs
