// StallWatcher: has mounts ended that keep others waiting. What such a mount holds is blocked until
// the mount answers or ends. So an instance that has fallen silent is killed by its own head, and a
// head that does not do that is fenced (docs/architecture/fencing.md). Thread class: thread-safe;
// looks on a loop of its own.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/fencing/fence_watch.h"
#include "vnfsd/daemon/fencing/fencing.h"
#include "vnfsd/daemon/fencing/stalls.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/later_steps.h"

namespace symnas::vnfsd::daemon {

class StallWatcher {
 public:
  StallWatcher(const ThisHead& head, ClusterReader& reader, Instances& instances, Fencing& fencing,
               std::stop_token end);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  // A document for each stall of the last look.
  nlohmann::json stalls() const;

 private:
  std::vector<Stall> look_for_stalls(const ClusterView& view);
  void end_silent_instances(const std::vector<Stall>& stalls);
  void end_silent_head(const Stall& stall, const ClusterView& view);
  void take_over_fences(const ClusterView& view);
  nlohmann::json describe(const Stall& stall) const;

  const ThisHead& head_;
  ClusterReader& reader_;
  Instances& instances_;
  Fencing& fencing_;
  // Used by the loop only.
  StallWatch watch_;
  FenceWatch fence_watch_;
  LaterSteps later_;

  mutable Mutex mutex_;                           // leaf
  std::vector<Stall> stalls_ GUARDED_BY(mutex_);  // of the last look
  Loop loop_;                                     // last
};

}  // namespace symnas::vnfsd::daemon
