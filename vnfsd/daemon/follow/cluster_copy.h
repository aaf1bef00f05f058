// ClusterCopy: the records under "c/" as a watch shows them. What follows from a change of the
// records is planned from it without asking etcd, whose every change would otherwise be read by
// every head at once. It may lag behind: whoever changes something compares what it has seen, and
// reads anew when that has changed. Thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
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
  void apply_one(kv::WatchEvent event) REQUIRES(mutex_);

  mutable Mutex mutex_;
  // Number of the watch that runs, odd; even: none does.
  std::uint64_t watch_ GUARDED_BY(mutex_) = 0;
  bool filled_ GUARDED_BY(mutex_) = false;
  Revision read_at_ GUARDED_BY(mutex_);  // events up to it are in what was read
  Revision revision_ GUARDED_BY(mutex_);
  Revision must_show_ GUARDED_BY(mutex_);
  std::map<std::string, kv::KeyValue> records_ GUARDED_BY(mutex_);  // by key
  // Of this watch, until it is filled.
  std::vector<kv::WatchEvent> early_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
