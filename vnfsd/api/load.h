// The document of GET /v1/load (docs/operations/api.md). Pure.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/load.pb.h"

namespace symnas::vnfsd::api {

// What heads tell of their load, by head.
struct ClusterLoad {
  std::map<std::string, records::LoadRecord> told;
  std::map<std::string, std::string> silent;  // why a head is not in `told`
};

// The load of each VNFS as its owner tells it, and which VNFSs nothing is known of. Without the
// records (`view` has no cluster) everything that was told counts.
nlohmann::json load_document(const ClusterView& view, const ClusterLoad& load);

}  // namespace symnas::vnfsd::api
