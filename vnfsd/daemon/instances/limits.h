// Bounds of asking instances, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// NULL calls to the instances of this head (answer_watcher.h): so often, each with so long for an
// answer.
inline constexpr std::int64_t kAskEveryMs = 1'000;
inline constexpr std::int64_t kAskMs = 1'500;
// Silent for so long, asked so often: at least an eighth of the workers wait for nothing, and no
// queue before them is that long.
inline constexpr std::int64_t kDeadWorkersMs = 8'000;
inline constexpr int kUnansweredMin = 4;
// A longer pause between two questions was this head's.
inline constexpr std::int64_t kAskGapMs = 4'000;
static_assert(kAskGapMs > kAskEveryMs + kAskMs);

}  // namespace symnas::vnfsd::daemon
