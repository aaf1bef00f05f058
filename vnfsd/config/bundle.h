// Bundle: what `symnas head invite` hands to `symnas head join`. Holds a private key: only in files
// of mode 0600. Value type and pure functions. Format: docs/formats/bundle.md.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/base/uuid.h"
#include "vnfsd/config/config.h"

namespace symnas::vnfsd {

struct Bundle {
  std::string cluster_name;
  Uuid cluster_uuid;
  std::string head_name;
  std::string head_address;
  std::vector<std::string> endpoints;
  // Of etcd: "c1n1=https://10.99.0.1:2380". Empty: the head has no etcd member.
  std::vector<std::string> initial_cluster;
  std::string ca_pem;
  std::string certificate_pem;
  std::string key_pem;
  std::int64_t quota_bytes = EtcdConfig().quota_bytes;  // of etcd
  std::string admission;                                // vnfsd/plans/admission.h
};

nlohmann::json bundle_to_json(const Bundle& bundle);
// Errors: kInvalidArgument.
Result<Bundle> bundle_from_json(const nlohmann::json& document);

}  // namespace symnas::vnfsd
