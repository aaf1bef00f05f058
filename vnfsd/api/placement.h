// Which VNFS is where, and where it may go: documents of GET /v1/placement and /v1/distribution.
// Thread-safe: pure functions of a view.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::api {

// {"heads": [{name, state}], "vnfs": [{name, state, owner, failback, pinned, why, places}]}.
// `here`: of this head, as StatusBackend::local_status() has it: of others only who owns what is
// known.
nlohmann::json placement_document(const ClusterView& view, const nlohmann::json& here,
                                  std::int64_t now_ns);

// {"moves": [{vnfs, from, to}]}: what `symnas vnfs distribute` would order.
nlohmann::json distribution_document(const ClusterView& view, std::int64_t now_ns);

}  // namespace symnas::vnfsd::api
