// FenceOrders: having other heads fenced without being asked, for whoever misses them or a mount of
// theirs. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

// Why a head is fenced without being asked: when any of it is true no more, it is left alone.
struct FenceCause {
  std::string incarnation;
  Revision fence;          // of its fence record
  std::string silent_key;  // a heartbeat's; "" = none
  Revision silent_revision;
  std::int64_t silent_since_ns = 0;  // wall clock
  // Its probes stay away: whoever is heard again is spared. Otherwise a mount of it is silent,
  // which its agent, if that lives, could not end.
  bool unheard = false;
};

class FenceOrders {
 public:
  virtual ~FenceOrders() = default;
  // Why this head does not fence others unasked, from its configuration; "": it does.
  virtual std::string why_no_failover() const = 0;
  // Whether it can just now: who is not registered preempts nobody. Errors: kPermission,
  // kUnavailable.
  virtual Status check_can_fence(const ClusterView& view) const = 0;
  // On a thread of its own, unless a fence is under way here, or was begun a moment ago. False: it
  // is not begun.
  virtual bool start_fence(const std::string& head, FenceCause cause) = 0;
};

}  // namespace symnas::vnfsd::daemon
