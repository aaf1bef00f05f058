// The records of a small cluster: some heads, and one VNFS that each of them may serve. Plain
// functions.
#pragma once

#include <string>
#include <vector>

#include "common/kv/store.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::sim {

inline const std::string kService = "vnfs1";
inline constexpr unsigned kServiceId = 1;

// Blocks until the records are there.
void make_records(kv::Store& store, const std::vector<std::string>& heads);
// Blocks until the boot is registered: for ever, if it was fenced.
void register_boot(kv::Store& store, const vnfsd::HeadBoot& boot);
// The head has its LUNs open; once more with the next view if the transaction fails.
void say_luns_known(kv::Store& store, const vnfsd::ClusterView& view, const std::string& head);

}  // namespace symnas::sim
