// DecidersAdmin: carries out what pacemaker or keepalived order for this head
// (vnfsd/plans/deciders.h). Whoever takes a VNFS from a head that is not heard has that head
// fenced: nobody serves before its end is proved (INV-8). Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/detection/head_watcher.h"
#include "vnfsd/daemon/fencing/fence_orders.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that DecidersAdmin uses.
struct DecidersParts {
  const ThisHead& head;
  ClusterReader& reader;
  EventWriter& events;
  FenceOrders& fences;
  const HeadWatcher& heads;
  const Instances& instances;
};

class DecidersAdmin final : public api::DecidersBackend {
 public:
  explicit DecidersAdmin(const DecidersParts& parts) : parts_(parts) {}

  Result<std::string> take(const DeciderOrder& order, Mode mode) override;
  Result<std::string> leave(const DeciderOrder& order, Mode mode) override;
  Result<nlohmann::json> standing(const std::string& vnfs, const std::string& head) override;

 private:
  Status fence_former_owner(const DeciderOrder& order);

  const DecidersParts parts_;
};

}  // namespace symnas::vnfsd::daemon
