// JSON documents of the API's answers. Thread-safe: pure functions of a view.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/head_state.h"

namespace symnas::vnfsd::api {

// Arrays of objects, ascending by name.
// `luns`: the names of those that it says it sees.
nlohmann::json heads_document(const ClusterView& view);
nlohmann::json networks_document(const ClusterView& view);
nlohmann::json luns_document(const ClusterView& view);
nlohmann::json volumes_document(const ClusterView& view);
nlohmann::json filesystems_document(const ClusterView& view);
nlohmann::json exports_document(const ClusterView& view);
nlohmann::json vnfs_document(const ClusterView& view);
// The cluster's record as one object.
nlohmann::json cluster_document(const ClusterView& view);

// The heads that say they see the LUN with these uuid bytes.
std::vector<std::string> heads_that_see(const ClusterView& view, const std::string& lun_uuid);

// Words of the command line for record values.
std::string access_word(records::Access access);
std::string fence_word(records::FenceState state);  // running, failed, proven, done
std::string failback_word(records::Failback failback);
std::string cause_word(records::MoveCause cause);  // administrator, drain, failback
std::string squash_word(records::Squash squash);

}  // namespace symnas::vnfsd::api
