// FenceOrders: has other heads fenced without an administrator's order, for components that miss a
// head, or a mount of it. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/plans/fences.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

// Why a head is fenced without an administrator's order. When any part of the cause does not hold
// any more, the head is left alone.
struct FenceCause {
  std::string incarnation;
  FenceSeen seen;
  std::int64_t silent_since_ns = 0;  // wall clock
  // True: the head's probes stay away, and the head is spared when it is heard again. False: a
  // mount of the head is silent, and the head's own agent, if it lives, could not end that mount.
  bool unheard = false;
};

class FenceOrders {
 public:
  virtual ~FenceOrders() = default;
  // Why this head does not fence others unasked, from its configuration; "": it does.
  virtual std::string why_no_failover() const = 0;
  // Whether this head can fence just now: a head that is not registered preempts nobody. Errors:
  // kPermission, kUnavailable.
  virtual Status check_can_fence(const ClusterView& view) const = 0;
  // Begins a fence on a thread of its own, unless a fence is under way here, or was begun a moment
  // ago. False: none was begun.
  virtual bool start_fence(const std::string& head, FenceCause cause) = 0;
};

}  // namespace symnas::vnfsd::daemon
