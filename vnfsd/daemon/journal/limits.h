// Bounds of events, each with its reason.
#pragma once

#include <cstddef>

namespace symnas::vnfsd::daemon {

inline constexpr std::size_t kEventsWaitingMax = 64;  // for etcd, on one head; the oldest goes

}  // namespace symnas::vnfsd::daemon
