// Bounds of missing heads, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// How often to look which heads have fallen silent (at least every ha::kProbeMs).
inline constexpr std::int64_t kHeadLookMs = 50;
// A head that is not heard is looked at again after this long.
inline constexpr std::int64_t kSilentLookMs = 500;
// A head that serves nothing and has been silent for this long does not count any more when heads
// count each other.
inline constexpr std::int64_t kLongOffMs = 60'000;
// The VIPs of a silent head get this long for an answer: a second try of TCP comes after a second.
inline constexpr std::int64_t kCanaryMs = 300;
// Questions in a row that a head whose VIPs have given a sign since it was last heard leaves
// unanswered before it counts as dead: longer than until that second try, and than a pause of an
// instance.
inline constexpr int kMissingMin = 4;
// An answer of the VIPs, or its absence, counts for this long after the question.
inline constexpr std::int64_t kAnswerAgeMs = 1'000;
static_assert(kAnswerAgeMs > kSilentLookMs + kCanaryMs);

}  // namespace symnas::vnfsd::daemon
