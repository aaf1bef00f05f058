// Bounds of following the records, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kRetryMs = 500;         // after an error of etcd
inline constexpr std::int64_t kReconcileMs = 10'000;  // even when no event says so
inline constexpr std::int64_t kReadyTimeoutMs =
    15'000;  // an API call right after the start waits for etcd

}  // namespace symnas::vnfsd::daemon
