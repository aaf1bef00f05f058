// StatusAdmin: shows what this head sees, from each of its components, and what has happened in the
// cluster. Thread-safe.
#pragma once

#include "common/kv/quota.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/detection/head_watcher.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/fencing/stall_watcher.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/history_writer.h"
#include "vnfsd/daemon/luns/lun_keeper.h"
#include "vnfsd/daemon/upkeep/upkeep.h"

namespace symnas::vnfsd::daemon {

// The components that StatusAdmin shows.
struct StatusParts {
  const ThisHead& head;
  ClusterReader& reader;
  const kv::QuotaGauge& quota;
  const HistoryWriter& history;
  LunKeeper& luns;
  const Instances& instances;
  const FenceMeans& means;
  const HeadWatcher& heads;
  const StallWatcher& stalls;
  const Upkeep& upkeep;
};

class StatusAdmin final : public api::StatusBackend {
 public:
  explicit StatusAdmin(const StatusParts& parts) : parts_(parts) {}

  nlohmann::json local_status() override;
  Result<ToldStates> told_states() override;
  Result<nlohmann::json> events(Revision after) override;

 private:
  nlohmann::json etcd() const;
  nlohmann::json luns() const;
  nlohmann::json networks() const;
  nlohmann::json instances() const;
  nlohmann::json arrivals() const;

  const StatusParts parts_;
};

}  // namespace symnas::vnfsd::daemon
