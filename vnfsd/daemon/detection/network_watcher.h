// NetworkWatcher: finds out which networks this head reaches badly. Thread class: follow() and the
// answers of NetworkReach are thread-safe; look() belongs to one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "ha/detection/peer_watch.h"
#include "vnfsd/daemon/detection/neighbours.h"
#include "vnfsd/daemon/detection/network_reach.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/health/network_health.h"
#include "vnfsd/probe/devices.h"

namespace symnas::vnfsd::daemon {

class NetworkWatcher final : public NetworkReach {
 public:
  using Devices = std::function<std::map<std::string, probe::Device>()>;
  // `changed` is called by look() when ill() or worse() return something else than before.
  NetworkWatcher(const ThisHead& head, Devices devices, std::function<void()> changed);

  // Takes what the records say now.
  void follow(std::shared_ptr<const Neighbours> neighbours);
  // Judges the networks, at most every kTryMs; a call that comes sooner does nothing.
  void look(const std::vector<ha::PeerSight>& sights);

  // The device of each network; empty before follow().
  std::map<std::string, std::string> devices() const;

  // --- NetworkReach
  std::map<std::string, std::string> ill() const override;
  std::set<std::string> worse() const override;

 private:
  const ThisHead& head_;
  const Devices devices_;
  const std::function<void()> changed_;
  // Used by the loop only.
  NetworkHealth health_;
  std::int64_t looked_ms_ = 0;
  bool looked_at_ = false;

  mutable Mutex mutex_;  // leaf
  // Null: nothing is known yet.
  std::shared_ptr<const Neighbours> neighbours_ GUARDED_BY(mutex_);
  // What `health_` says; until it says something, what the head's record said.
  std::map<std::string, std::string> ill_ GUARDED_BY(mutex_);
  std::set<std::string> worse_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
