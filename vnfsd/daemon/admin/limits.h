// Bounds of what administrators wait for, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// Time for instances to release locks that are cleared: a transaction each. Below the time that
// `symnas` waits for an answer.
inline constexpr std::int64_t kLockClearMs = 8'000;
// Time for instances to serve edited exports (instance::kExportsTimeoutMs, and to say so), and time
// to take an edit back. Both below the time that `symnas` waits for an answer.
inline constexpr std::int64_t kExportsServedMs = 12'000;
inline constexpr std::int64_t kExportsUndoneMs = 5'000;
inline constexpr std::int64_t kExportsPollMs = 20;  // an edit takes some milliseconds

}  // namespace symnas::vnfsd::daemon
