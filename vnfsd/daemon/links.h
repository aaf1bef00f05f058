// AgentLinks: everything that an agent uses beside the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/membership.h"
#include "ha/detection/corosync/watch.h"
#include "vnfsd/daemon/admin/vnfs_admin.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/luns/reservations.h"
#include "vnfsd/probe/prober.h"

namespace symnas::vnfsd::daemon {

struct AgentLinks {
  // symnas-fence (ha/fencing). Empty: LUNs get no identification.
  ReservationCalls reservations;
  // Cuts a head off and returns the proof (ha/fencing). Empty: no agent is configured.
  std::function<Result<std::string>(const std::string& head)> fence_off;
  // Whether fence_off() could work, as far as the fence agent can tell; given up when stop_fd
  // becomes readable. Empty: nobody asks.
  std::function<Status(int stop_fd)> fence_check;
  // As in FenceCalls.
  FenceCalls::Stonith stonith_confirmed;
  FenceCalls::Stonith stonith_off;
  std::int64_t last_answers_ms = kLastAnswersMs;  // shorter in unit tests only
  probe::HeadSights* prober = nullptr;            // null: heads are not missed
  const ha::CorosyncSights* corosync = nullptr;   // null: corosync is not asked
  // Finds out who answers for addresses on the network of a device of this head (vnfsd/address).
  // Empty: nobody is asked.
  WhoHas who_has;
  // Called when the etcd member at the address is gone with its head, so that nothing waits for it.
  // Empty: TCP finds out.
  std::function<void(const std::string& address)> leave_member;
  kv::Membership* membership = nullptr;  // null: etcd's members are left alone
  // Called when etcd's members are others than config.etcd.endpoints says: the agent has to be made
  // again. Called on a thread of the agent, repeatedly until that happens.
  std::function<void(const std::vector<std::string>& endpoints)> endpoints_changed;
};

}  // namespace symnas::vnfsd::daemon
