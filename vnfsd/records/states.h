// States: what heads tell of their instances (s/<head>, docs/formats/keys.md), so that every head
// can show the state of all VNFSs. Pure functions, and one that reads; nothing is decided by them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/states.pb.h"

namespace symnas::vnfsd {

using ToldStates = std::map<std::string, records::HeadStates>;  // by head

// Reads "s/". What cannot be parsed is left out: it is of a later version. Blocks at most
// deadline_ms. Errors: as kv::range_blocking.
Result<ToldStates> read_states(kv::Store& store, std::int64_t deadline_ms);

// Whether the record was told by the vnfsd that the head has now, in its present boot.
bool is_of_present_agent(const records::HeadStates& told, const ClusterView& view);

// What the head tells of that VNFS, or nullptr.
const records::ToldInstance* instance_of(const records::HeadStates& told, const std::string& vnfs);

}  // namespace symnas::vnfsd
