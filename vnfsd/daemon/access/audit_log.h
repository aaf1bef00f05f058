// AuditLog: what administrators did, and what was refused. Every entry is a line of the log at
// once, and is written to etcd soon, over an older one (audit_slots.h): nothing waits for that, and
// nothing fails with it. Thread class: made and destroyed by one thread; record() is thread-safe.
// docs/formats/access_records.md.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/access/audit_slots.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/records/access.pb.h"

namespace symnas::vnfsd::daemon {

class AuditLog {
 public:
  explicit AuditLog(const ThisHead& head);
  // Tries for kAuditEndMs to write what waits.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void record(records::AuditRecord entry);

 private:
  void write(std::int64_t deadline_ms);
  // Reads what an earlier vnfsd has left.
  Status read_slots(std::int64_t deadline_ms);
  Status write_one(records::AuditRecord entry, std::int64_t deadline_ms);
  // One of those that wait has to go: it is in the log only.
  void drop_one() REQUIRES(mutex_);

  const ThisHead& head_;
  std::stop_source end_;
  Mutex mutex_;  // leaf
  // Not written yet, at most kAuditWaitingMax.
  std::deque<records::AuditRecord> waiting_ GUARDED_BY(mutex_);
  std::optional<AuditSlots> slots_;  // nullopt: not read yet; used by one thread at a time
  Loop loop_;                        // last
};

// The line of the log: "audit: " and members of one form, strings as in JSON. Holds no line break.
std::string audit_line(const records::AuditRecord& entry);

}  // namespace symnas::vnfsd::daemon
