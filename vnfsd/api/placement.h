// Which VNFS is where, and where it may go: documents of GET /v1/placement and /v1/distribution.
// Thread-safe: pure functions of a view.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::api {

// The state of a VNFS in a word and, unless the VNFS is served where it should be, the reason.
struct Story {
  std::string state;
  std::string why;
};

// REQUIRES: the VNFS exists. `here`: the status of this head, as for sight_of_instance()
// (vnfs_sight.h).
Story story_of(const ClusterView& view, const std::string& vnfs, const nlohmann::json& here,
               std::int64_t now_ns);

// {"heads": [{name, state}], "vnfs": [{name, state, owner, failback, pinned, why, places}]}.
// `here`: as for story_of().
nlohmann::json placement_document(const ClusterView& view, const nlohmann::json& here,
                                  std::int64_t now_ns);

// {"moves": [{vnfs, from, to}]}: what `symnas vnfs distribute` would order.
nlohmann::json distribution_document(const ClusterView& view, std::int64_t now_ns);

}  // namespace symnas::vnfsd::api
