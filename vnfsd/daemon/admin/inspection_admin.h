// InspectionAdmin: looks into filesystems, on the thread of the request. A look reads much and
// changes nothing. Thread-safe. Invariant: one look at a time reads all records of a filesystem;
// further ones are refused meanwhile, so that the API's threads stay free.
#pragma once

#include <string>

#include "common/base/thread_annotations.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/luns/luns.h"

namespace symnas::vnfsd::daemon {

class InspectionAdmin final : public api::InspectionBackend {
 public:
  InspectionAdmin(const ThisHead& head, ClusterReader& reader, const LunSet& luns,
                  const Instances& instances)
      : head_(head), reader_(reader), luns_(luns), instances_(instances) {}

  Result<nlohmann::json> check_filesystem(const std::string& name, Progress& progress) override;
  Result<nlohmann::json> dump_inode(const std::string& filesystem,
                                    const api::DumpRequest& request) override;
  Result<nlohmann::json> capacity() override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
  const LunSet& luns_;
  const Instances& instances_;
  Mutex look_mutex_;  // only tried for
};

}  // namespace symnas::vnfsd::daemon
