// ClusterCopy: a copy of the records under "c/", kept by a watch. The agent plans from the copy
// what follows from a change of the records, without asking etcd: otherwise every head would read
// every change at once. The copy may lag behind: a component that changes something compares what
// it has seen, and reads anew when that has changed. Thread-safe.
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
  // A watch has begun, or is over: the copy says nothing until it is filled.
  void watch_began();
  void watch_ended();
  // Takes events of the watch, every event of a revision in one call.
  void apply(std::vector<kv::WatchEvent> events);
  // Takes records that were read. Has no effect unless `watch`, which watch() returned before the
  // reading, still runs, or when they are older than the copy. Returns whether the records show
  // something that the copy, filled before, did not.
  bool fill(const ClusterRecords& read, std::uint64_t watch);
  // From now on view() returns nothing older than `revision`: a head sees what it has done itself.
  void must_show(Revision revision);
  // The number of the watch, for fill(). To be asked before a reading begins.
  std::uint64_t watch() const;
  // nullopt: the copy has not been filled, or is too old. Errors: kCorrupt.
  std::optional<Result<ClusterView>> view() const;

 private:
  void apply_one(kv::WatchEvent event) REQUIRES(mutex_);

  mutable Mutex mutex_;
  // Number of the watch that runs, odd; even: none runs.
  std::uint64_t watch_ GUARDED_BY(mutex_) = 0;
  bool filled_ GUARDED_BY(mutex_) = false;
  Revision read_at_ GUARDED_BY(mutex_);  // events up to this revision are in what was read
  Revision revision_ GUARDED_BY(mutex_);
  Revision must_show_ GUARDED_BY(mutex_);
  std::map<std::string, kv::KeyValue> records_ GUARDED_BY(mutex_);  // by key
  // Events of this watch, until the copy is filled.
  std::vector<kv::WatchEvent> early_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
