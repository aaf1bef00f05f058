// Bounds of moves, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kOwnMovesPollMs = 1'000;  // while moves of its own are under way
// For this long after the failed fence of a boot no standby is started for that boot's VNFSs.
inline constexpr std::int64_t kUnprovenMs = 60'000;

}  // namespace symnas::vnfsd::daemon
