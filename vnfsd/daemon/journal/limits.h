// Bounds of events, each with its reason.
#pragma once

#include <array>
#include <cstddef>

namespace symnas::vnfsd::daemon {

inline constexpr std::size_t kEventsWaitingMax = 64;  // for etcd, on one head; the oldest goes

// Blackouts are counted by these, in seconds: around the budgets of docs/design.md 7 (0.1 s and 0.5
// s for moves, 1 s and 2.5 s for crashes), then what a client's own time-outs are.
inline constexpr std::array<double, 11> kBlackoutBoundsS = {0.05, 0.1, 0.25, 0.5, 1,  2.5,
                                                            5,    10,  20,   45,  120};

}  // namespace symnas::vnfsd::daemon
