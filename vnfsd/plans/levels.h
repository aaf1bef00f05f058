// What the level of a cluster (vnfsd/records/levels.h) allows, and when it may be raised.
// Thread-safe: pure functions of a view.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// Whether this version may work in the cluster. `version`: its name, for the message. Errors:
// kNotSupported (the cluster's level is above this version's).
Status check_level(const ClusterView& view, const std::string& version);
// Whether the cluster's records may hold what came with `level`. Errors: kNotSupported; `what` is
// the subject of the message.
Status needs_level(const ClusterView& view, std::uint32_t level, const std::string& what);
// Whether the cluster may hold an export with these options. Errors: as needs_level().
Status check_export_level(const ClusterView& view, const records::ExportRecord& exported);
// The level that all heads and all instances have, at least: what the cluster could be raised to.
std::uint32_t possible_level(const ClusterView& view);
// Raises the cluster to the level of this version. Errors: kBusy (a head or an instance is of an
// earlier version: which, and what to do), kAlreadyExists.
Result<Change> plan_level_raise(const ClusterView& view);

}  // namespace symnas::vnfsd
