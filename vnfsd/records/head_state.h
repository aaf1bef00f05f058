// The state of a head, as the records have it. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// What state_of_head() may return. "unfenced": a fence of it failed; "unknown": it never started.
inline constexpr std::string_view kHeadStates[] = {"serving",  "draining", "fencing",
                                                   "unfenced", "fenced",   "unknown"};
std::string state_of_head(const ClusterView& view, const std::string& head);

// The fence of the head's present boot; null: there is none.
const records::FenceRecord* fence_of(const ClusterView& view, const std::string& head);

}  // namespace symnas::vnfsd
