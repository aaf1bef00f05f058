// LocksAdmin: shows and clears recorded locks, on the thread of the request. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class LocksAdmin final : public api::LocksBackend {
 public:
  LocksAdmin(const ThisHead& head, ClusterReader& reader) : head_(head), reader_(reader) {}

  Result<nlohmann::json> locks(const api::LockFilter& filter) override;
  Result<std::string> clear_locks(const api::LockFilter& filter, Mode mode) override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
};

}  // namespace symnas::vnfsd::daemon
