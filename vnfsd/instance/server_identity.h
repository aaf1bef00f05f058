// How NFSv4 clients tell a VNFS from every other server, also from the VNFS of the same name of
// another cluster (decision 0013). Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/uuid.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::instance {

// Server owner (RFC 8881 2.5): what clients know one server by, whatever head it is on.
std::string server_owner(const Uuid& cluster, const std::string& vnfs);

// Server scope (RFC 8881 2.10.4): within it clients claim what they had. It never changes in the
// life of a VNFS: a client that is told another scope gives up its locks.
std::string server_scope(const Uuid& cluster, const records::VnfsRecord& vnfs);

// The upper half of the client ids of an instance, and the beginning of its session ids, state ids
// and write verifiers; never 0. Two epochs of a cluster have two, two clusters mostly differ (by
// all but one in 2^31), and none is an epoch itself, as instances of earlier versions had it.
// REQUIRES: epoch < 2^31.
std::uint32_t server_id(const Uuid& cluster, Epoch epoch);

}  // namespace symnas::vnfsd::instance
