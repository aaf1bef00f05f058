// InstanceStanding: how far the instance of a VNFS on a head is, as people, metrics and other heads
// see it. Value type and pure functions. docs/operations/openapi.json, Instance.
#pragma once

#include <optional>
#include <string_view>

namespace symnas::vnfsd {

enum class InstanceStanding : unsigned char {
  kPrepared,  // a standby waits for its claim
  kStarting,
  kServing,
  kFencing,  // nothing runs; what has run is being proved to have ended
  kWaiting,  // for the next try
  kStopping,
  kStopped,
};
inline constexpr InstanceStanding kInstanceStandings[] = {
    InstanceStanding::kPrepared, InstanceStanding::kStarting, InstanceStanding::kServing,
    InstanceStanding::kFencing,  InstanceStanding::kWaiting,  InstanceStanding::kStopping,
    InstanceStanding::kStopped};

std::string_view name_of(InstanceStanding standing);
// nullopt: it is no name of one.
std::optional<InstanceStanding> standing_from(std::string_view name);

}  // namespace symnas::vnfsd
