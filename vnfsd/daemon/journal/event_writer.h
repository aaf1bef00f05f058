// EventWriter: writes events (vnfsd/records/events.h). Nothing waits for an event, and nothing
// fails with it: an event that etcd does not take is only in the log. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/thread_annotations.h"
#include "common/kv/quota.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/records/events.h"

namespace symnas::vnfsd::daemon {

class EventWriter {
 public:
  // `told` is called when write_one() has something to do. Thread-safe, and calls nothing back.
  EventWriter(const ThisHead& head, const kv::QuotaGauge& quota, std::function<void()> told);

  // Goes on behind the last of this head's events. Errors: as EventRing::resume().
  Status resume();
  // Adds an event to a transaction, if one can be written.
  void add(kv::Txn& txn, records::EventRecord event);
  std::optional<kv::Op> op(records::EventRecord event);
  // Writes an event soon, if etcd takes it; waits for nothing.
  void tell(std::string_view kind, const std::string& text);
  // Events that wait may be written now.
  void remind();
  // Writes the oldest event that waits. False: there is none. Blocks. REQUIRES: one caller at a
  // time.
  bool write_one();
  // How many events were to be written since this vnfsd started, by kind.
  std::map<std::string, std::uint64_t> counts() const;

 private:
  Status write_told(const records::EventRecord& event);

  const ThisHead& head_;
  const kv::QuotaGauge& quota_;
  const std::function<void()> told_some_;
  EventRing ring_;
  mutable Mutex mutex_;  // leaf
  std::map<std::string, std::uint64_t> counts_ GUARDED_BY(mutex_);
  // Not written yet, at most kEventsWaitingMax.
  std::deque<records::EventRecord> told_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
