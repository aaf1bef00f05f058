// Agent: vnfsd's core. Builds, wires and stops the components below (docs/decisions/0012); they
// bring this head in line with the cluster's records, watch its instances and the other heads, and
// answer administrators. Thread class: made and destroyed by one thread; what it gives out is
// thread-safe.
//
// Invariants: every change of shared state is an etcd transaction with compares; destroying the
// agent leaves the instances running.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "common/env/clock.h"
#include "common/kv/store.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/config/config.h"
#include "vnfsd/daemon/admin/administration.h"
#include "vnfsd/daemon/clients/client_watcher.h"
#include "vnfsd/daemon/detection/head_watcher.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/fencing/fencing.h"
#include "vnfsd/daemon/fencing/stall_watcher.h"
#include "vnfsd/daemon/follow/cluster_follower.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/answer_watcher.h"
#include "vnfsd/daemon/instances/instance_set.h"
#include "vnfsd/daemon/journal/journal.h"
#include "vnfsd/daemon/links.h"
#include "vnfsd/daemon/load/load_watcher.h"
#include "vnfsd/daemon/luns/lun_keeper.h"
#include "vnfsd/daemon/monitor/metrics_keeper.h"
#include "vnfsd/daemon/ownership/ownership.h"
#include "vnfsd/daemon/reconciler.h"
#include "vnfsd/daemon/scrub/scrub_keeper.h"
#include "vnfsd/daemon/states/state_writer.h"
#include "vnfsd/daemon/upkeep/upkeep.h"

namespace symnas::vnfsd::daemon {

class Agent {
 public:
  // Starts working; waits for etcd on a thread of its own. `incarnation`: the kernel's boot id.
  Agent(kv::Store& store, const env::Clock& clock, Config config, std::string incarnation,
        const AgentLinks& links = {});
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // For the API. Valid as long as the agent lives.
  api::Backends backends() { return administration_.backends(); }
  // For Prometheus (vnfsd/metrics); waits for nothing.
  std::string metrics() const { return watchers_.metrics.text(); }
  // For tests: what the supervisors of this head use.
  instance::Host& host() { return ownership_; }
  // For events of what is not the agent's.
  EventWriter& events() { return journal_.events; }
  // Fences of other heads.
  Fencing& fencing() { return cutting_.fencing; }

 private:
  // The parts that cut other heads off.
  struct Cutting {
    Cutting(const ThisHead& head, ClusterReader& reader, Journal& journal,
            Reservations* reservations, const AgentLinks& links, const std::stop_token& end);
    FenceMeans means;
    Fencing fencing;
  };
  // The components that look at what the records do not tell, each on a loop of its own.
  struct Watchers {
    HeadWatcher heads;
    AnswerWatcher answers;
    StallWatcher stalls;
    ClientWatcher clients;
    StateWriter states;
    Upkeep upkeep;
    LoadWatcher load;
    MetricsKeeper metrics;
  };

  // In this order: each uses only those before it, or is told of later ones by a callback.
  std::stop_source end_;
  const ThisHead head_;
  ClusterFollower records_;
  Journal journal_;
  LunKeeper luns_;
  Ownership ownership_;
  InstanceSet instances_;
  Cutting cutting_;
  Watchers watchers_;
  Reconciler reconciler_;
  Administration administration_;
  ScrubKeeper scrub_;
};

}  // namespace symnas::vnfsd::daemon
