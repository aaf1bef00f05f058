// QuotasAdmin: shows and sets quotas, on the thread of the request. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class QuotasAdmin final : public api::QuotasBackend {
 public:
  QuotasAdmin(const ThisHead& head, ClusterReader& reader) : head_(head), reader_(reader) {}

  Result<nlohmann::json> quotas(const std::string& filesystem) override;
  Result<std::string> switch_quotas(const std::string& filesystem, fs::QuotaSwitch to,
                                    Mode mode) override;
  Result<std::string> set_quota(const std::string& filesystem, const api::QuotaRequest& request,
                                Mode mode) override;
  Result<std::string> remove_quota(const std::string& filesystem, const api::QuotaRequest& request,
                                   Mode mode) override;
  Result<std::string> add_quota_tree(const std::string& filesystem, const std::string& path,
                                     Mode mode) override;
  Result<std::string> remove_quota_tree(const std::string& filesystem,
                                        const api::QuotaRequest& request, Mode mode) override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
};

}  // namespace symnas::vnfsd::daemon
