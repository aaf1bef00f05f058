// URLs, endpoints and the initial cluster, derived from the list of etcd's members. Thread-safe:
// pure functions.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/membership.h"

namespace symnas::vnfsd::daemon {

std::string etcd_client_url(const std::string& address);
std::string etcd_peer_url(const std::string& address);

// The endpoints of a head's clients: every voter that has been started, the head's own first, then
// the others by name from there on, so that heads without a member spread over them.
std::vector<std::string> endpoints_for(const std::vector<kv::StoreMember>& members,
                                       const std::string& own_address, const std::string& own_name);

// etcd's initial-cluster for a member that joins: "c1n1=https://10.99.0.1:2380" of every member,
// `name` for the one with `peer_url`, which has no name before it starts. Errors: kBusy (another
// member was never started: etcd must know its name).
Result<std::vector<std::string>> initial_cluster_for(const std::vector<kv::StoreMember>& members,
                                                     const std::string& name,
                                                     const std::string& peer_url);

}  // namespace symnas::vnfsd::daemon
