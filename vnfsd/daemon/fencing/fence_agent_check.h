// FenceAgentCheck: whether the fence agent could work, looked at every kFenceCheckMs: what is
// broken is to be known before a head dies. Thread class: error() is thread-safe, look() belongs to
// one loop.
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
  // Destroying it waits for a check that runs: FenceMeans::stop_check().
  FenceAgentCheck(const ThisHead& head, ClusterReader& reader, FenceMeans& means)
      : head_(head), reader_(reader), means_(means) {}

  // Begins a check that is due, or takes the answer of one that is over. Waits for nothing.
  void look();
  std::string error() const;  // of the last check; "" = it works, or nobody knows

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
  FenceMeans& means_;
  std::future<std::optional<Status>> check_;  // nothing: it was stopped, or not begun
  std::int64_t checked_ms_ = 0;
  mutable Mutex mutex_;  // leaf
  std::string error_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
