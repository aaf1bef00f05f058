// KeytabAdmin: sets and removes keytabs of VNFSs. What is recorded only heads can open; running
// instances have taken it when a call returns. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class KeytabAdmin final : public api::KeytabsBackend {
 public:
  // exports: what a VNFS's instance is told goes the way of its exports.
  KeytabAdmin(const ThisHead& head, ClusterReader& reader, api::ExportsBackend& exports)
      : head_(head), reader_(reader), exports_(exports) {}

  Result<std::string> set_keytab(const api::KeytabRequest& request, Mode mode) override;
  Result<std::string> remove_keytab(const std::string& vnfs, Mode mode) override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
  api::ExportsBackend& exports_;
};

}  // namespace symnas::vnfsd::daemon
