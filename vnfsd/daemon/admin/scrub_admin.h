// ScrubAdmin: orders scrubs of LUNs, and shows how far they have come. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class ScrubAdmin final : public api::ScrubBackend {
 public:
  ScrubAdmin(const ThisHead& head, ClusterReader& reader) : head_(head), reader_(reader) {}

  Result<nlohmann::json> scrubs() override;
  Result<std::string> begin_scrub(const api::ScrubRequest& request) override;
  Result<std::string> stop_scrub(const std::string& lun) override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
};

}  // namespace symnas::vnfsd::daemon
