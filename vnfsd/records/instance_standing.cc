#include "vnfsd/records/instance_standing.h"

namespace symnas::vnfsd {

std::string_view name_of(InstanceStanding standing) {
  switch (standing) {
    case InstanceStanding::kPrepared: return "prepared";
    case InstanceStanding::kStarting: return "starting";
    case InstanceStanding::kServing: return "serving";
    case InstanceStanding::kFencing: return "fencing";
    case InstanceStanding::kWaiting: return "waiting";
    case InstanceStanding::kStopping: return "stopping";
    case InstanceStanding::kStopped: return "stopped";
  }
  return "?";
}

std::optional<InstanceStanding> standing_from(std::string_view name) {
  for (const InstanceStanding standing : kInstanceStandings) {
    if (name_of(standing) == name) return standing;
  }
  return std::nullopt;
}

}  // namespace symnas::vnfsd
