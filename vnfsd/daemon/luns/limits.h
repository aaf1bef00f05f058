// Bounds of looking for LUNs, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kRescanMs =
    30'000;  // for LUNs that are missing: a path may come back
inline constexpr std::int64_t kRefreshPollMs = 100;  // an administrator waits

// Registration on the LUNs (reservations.h) is repeated after kRegisterAgainMs; an import waits for
// it for kImportRegistersMs, less than `symnas` waits for an answer.
inline constexpr std::int64_t kRegisterAgainMs = 2'000;
inline constexpr std::int64_t kImportRegistersMs = 8'000;

}  // namespace symnas::vnfsd::daemon
