// Bounds of looking for LUNs, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kRescanMs =
    30'000;  // for LUNs that are missing: a path may come back
inline constexpr std::int64_t kRefreshPollMs = 100;  // an administrator waits

// Registration on the LUNs (reservations.h) is repeated after kRegisterAgainMs; an import waits for
// it for kImportRegistersMs, less than `symnas` waits for an answer.
inline constexpr std::int64_t kRegisterAgainMs = 2'000;
inline constexpr std::int64_t kImportRegistersMs = 8'000;

// `symnas lun scan`. A device of a sound SAN answers in milliseconds; multipath needs a second to
// give up a path. All of it ends before `symnas` gives up (120 s).
inline constexpr std::int64_t kDeviceLookMs = 3'000;
inline constexpr std::int64_t kScanMs = 60'000;
// Threads that hang in the kernel keep little more than their stacks: enough to look past the
// devices of one array that is gone.
inline constexpr std::size_t kHangingLooksMax = 16;
inline constexpr std::size_t kScanPathsMax = 256;  // on a command line; a glob names more
static_assert(kScanMs + kDeviceLookMs < 120'000);

}  // namespace symnas::vnfsd::daemon
