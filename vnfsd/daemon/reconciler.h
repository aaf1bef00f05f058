// Reconciler: brings this head in line with the cluster's records: registers it, has its LUNs open,
// its moves answered and ordered, its supervisors as the records want them, and records which LUNs
// this head has. Thread class: confined to the loop that follows the records (ClusterFollower).
#pragma once

#include <cstdint>

#include "vnfsd/daemon/detection/head_watcher.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/follow/cluster_follower.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instance_set.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/luns/lun_keeper.h"
#include "vnfsd/daemon/moves/moves.h"
#include "vnfsd/daemon/ownership/keytab_keeper.h"
#include "vnfsd/daemon/ownership/ownership.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that Reconciler brings in line.
struct ReconcilerParts {
  const ThisHead& head;
  EventWriter& events;
  LunKeeper& luns;
  InstanceSet& instances;
  Ownership& ownership;
  FenceMeans& means;
  HeadWatcher& heads;
};

class Reconciler final : public RecordsUser {
 public:
  explicit Reconciler(const ReconcilerParts& parts);

  // --- RecordsUser
  Status register_head() override;
  Status follow(const ClusterView& view) override;
  void followed() override;
  std::int64_t pause_ms() const override;

 private:
  Status make_probe_key(const ClusterView& view);
  // Says in the head's record which LUNs are open and well here and known to every instance.
  Status publish_luns(const ClusterView& view);

  const ReconcilerParts parts_;
  const ThisHead& head_;
  Moves moves_;
  KeytabKeeper keytabs_;
  bool swept_ = false;        // the standbys that the agent before this one has left have ended
  bool unpublished_ = false;  // publish_luns() has more to say
};

}  // namespace symnas::vnfsd::daemon
