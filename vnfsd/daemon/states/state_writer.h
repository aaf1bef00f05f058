// StateWriter: tells the other heads the states of this head's instances (vnfsd/records/states.h).
// Thread class: works on a loop of its own.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "common/kv/quota.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/records/states.pb.h"

namespace symnas::vnfsd::daemon {

class StateWriter {
 public:
  StateWriter(const ThisHead& head, ClusterReader& reader, const kv::QuotaGauge& quota,
              const Instances& instances, std::stop_token end);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop: writes the states if they are not what was written last. A write that
  // fails is repeated with the next turn. REQUIRES: it was not started.
  void look();

 private:
  records::HeadStates states_now(std::int64_t agent_started_ns) const;

  const ThisHead& head_;
  ClusterReader& reader_;
  const kv::QuotaGauge& quota_;
  const Instances& instances_;
  std::string written_;  // without the time
  Loop loop_;            // last
};

}  // namespace symnas::vnfsd::daemon
