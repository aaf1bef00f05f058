// Bounds of looking after etcd, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kMembersLookMs = 2000;  // whether etcd's members answer
// History that is kept while etcd's quota runs out: a session that lags further behind reads anew.
inline constexpr std::int64_t kTightKeepMs = 10'000;
inline constexpr std::int64_t kTightKeepRevisions = 1000;

}  // namespace symnas::vnfsd::daemon
