// Bounds of the program vnfsd, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// How long to ask whether somebody has a VIP. An administrator waits for it; RFC 5227 would take
// six seconds.
inline constexpr std::int64_t kVipAskMs = 500;
inline constexpr std::uint16_t kProbePort = 20'491;  // UDP, from the range that nobody registers

}  // namespace symnas::vnfsd::daemon
