// LoadAdmin: who asks how much of which VNFS. Thread-safe.
#pragma once

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/load/load_watcher.h"

namespace symnas::vnfsd::daemon {

class LoadAdmin final : public api::LoadBackend {
 public:
  LoadAdmin(ClusterReader& reader, LoadWatcher& load) : reader_(reader), load_(load) {}

  Result<nlohmann::json> load() override;

 private:
  ClusterReader& reader_;
  LoadWatcher& load_;
};

}  // namespace symnas::vnfsd::daemon
