// ClusterCopy: the records under "c/" as a watch shows them. What follows from a change of the
// records is planned from it without asking etcd, whose every change would otherwise be read by
// every head at once. It may lag behind: whoever changes something compares what it has seen, and
// reads anew when that has changed. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

class ClusterCopy {
 public:
  // A watch has begun, or is over: what is here says nothing until it is filled.
  void watch_began();
  void watch_ended();
  // What the watch brings, every event of a revision in one call.
  void apply(std::vector<kv::WatchEvent> events);
  // What was read; nothing happens unless the watch had begun before the reading did. Whether it
  // shows what the watch had not shown.
  bool fill(const ClusterRecords& read, std::uint64_t watch);
  // From now on it says nothing that is older: what was done here is seen here.
  void must_show(Revision revision);
  // To be asked before a reading begins.
  std::uint64_t watch() const;
  // Nothing: it has not been filled, or it is too old. Errors: kCorrupt.
  std::optional<Result<ClusterView>> view() const;

 private:
  void apply_one(kv::WatchEvent event);

  mutable std::mutex mutex_;
  std::uint64_t watch_ = 0;  // number of the watch that runs, odd; even: none does
  bool filled_ = false;
  Revision read_at_;  // events up to it are in what was read
  Revision revision_;
  Revision must_show_;
  std::map<std::string, kv::KeyValue> records_;  // by key
  std::vector<kv::WatchEvent> early_;            // of this watch, until it is filled
};

}  // namespace symnas::vnfsd::daemon
