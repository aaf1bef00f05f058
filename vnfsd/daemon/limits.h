// Bounds of the program vnfsd, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// How long to ask whether somebody has a VIP. An administrator waits for it; RFC 5227 would take
// six seconds.
inline constexpr std::int64_t kVipAskMs = 500;

}  // namespace symnas::vnfsd::daemon
