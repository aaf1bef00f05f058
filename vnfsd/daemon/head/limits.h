// Bounds of every component, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kStoreDeadlineMs = 5'000;  // of one step; its caller tries again

}  // namespace symnas::vnfsd::daemon
