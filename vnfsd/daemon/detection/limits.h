// Bounds of missing heads, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// How often it is looked who has fallen silent (at least every ha::kProbeMs).
inline constexpr std::int64_t kHeadLookMs = 50;
// A head that is not heard is looked at again after this long.
inline constexpr std::int64_t kSilentLookMs = 500;
// Then a head that serves nothing does not count any more when heads count each other.
inline constexpr std::int64_t kLongOffMs = 60'000;
// Its VIPs get this long for an answer: a second try of TCP comes after a second.
inline constexpr std::int64_t kCanaryMs = 300;
// Questions in a row that a head whose VIPs have given a sign since it was last heard leaves
// unanswered before it counts as dead: longer than until that second try, and than a pause of an
// instance.
inline constexpr int kMissingMin = 4;
// What they did or did not answer counts for so long after they were asked.
inline constexpr std::int64_t kAnswerAgeMs = 1'000;
static_assert(kAnswerAgeMs > kSilentLookMs + kCanaryMs);

}  // namespace symnas::vnfsd::daemon
