// FenceAgentCheck: checks every kFenceCheckMs whether the fence agent could work: a broken agent is
// to be known before a head dies. Thread class: error() is thread-safe, look() belongs to one loop.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class FenceAgentCheck {
 public:
  // The destructor waits for a check that runs: FenceMeans::stop_check() ends it.
  FenceAgentCheck(const ThisHead& head, ClusterReader& reader, FenceMeans& means)
      : head_(head), reader_(reader), means_(means) {}

  // Begins a check that is due, or takes the result of one that is over. Waits for nothing.
  void look();
  std::string error() const;  // of the last check; "": the agent works, or nobody knows

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
  FenceMeans& means_;
  std::future<std::optional<Status>> check_;  // nullopt: the check was stopped, or not begun
  std::int64_t checked_ms_ = 0;
  mutable Mutex mutex_;  // leaf
  std::string error_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
