// HistoryWriter: writes the history of VNFSs (vnfsd/records/history.h). Nothing waits for an entry,
// and nothing fails with it: an entry that etcd does not take is missing in `vnfs history`.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/histogram.h"
#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/journal/limits.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::daemon {

// How often a VNFS came to be served here, for one cause.
struct Arrivals {
  std::uint64_t count = 0;
  std::uint64_t timed = 0;  // those whose blackout is known
  std::int64_t blackout_ms = 0;
  Histogram blackouts{kBlackoutBoundsS};  // seconds
};

class HistoryWriter {
 public:
  HistoryWriter(const ThisHead& head, EventWriter& events) : head_(head), events_(events) {}

  // Failures of both are logged only.
  void note_arrival(const std::string& vnfs, const instance::Arrival& arrival);
  void note_departure(const std::string& vnfs, const records::Departure& departure);
  // The arrivals since this vnfsd started, by VNFS and by cause (vnfsd/records/history.h).
  std::map<std::string, std::map<std::string, Arrivals>> arrivals() const;

 private:
  const ThisHead& head_;
  EventWriter& events_;
  mutable Mutex mutex_;  // leaf
  std::map<std::string, std::map<std::string, Arrivals>> arrivals_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
