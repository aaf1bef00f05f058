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
// While another decider decides, a registered boot that this head has never heard for long enough
// (ha::kSteadyMs) counts as silent after it has been listened for so long: a decider that wants a
// VNFS of it waits for that, and ha::kUnheardMs is longer than its time-outs. It is only said to be
// silent; it is fenced when its VNFS is asked for, and if its VIPs answer nobody. A machine that
// boots just now, as after a power cut, may be turned off by that if it needs longer; who serves is
// proved in either case. (pacemaker itself turns off what it has not seen after 20 s, dc-deadtime.)
inline constexpr std::int64_t kUnheardDecidedMs = 30'000;
// The VIPs of a silent head get this long for an answer: a second try of TCP comes after a second.
inline constexpr std::int64_t kCanaryMs = 300;
// Questions in a row that a head whose VIPs have given a sign since it was last heard leaves
// unanswered before it counts as dead: longer than until that second try, and than a pause of an
// instance.
inline constexpr int kMissingMin = 4;
// An answer of the VIPs, or its absence, counts for this long after the question.
inline constexpr std::int64_t kAnswerAgeMs = 1'000;
static_assert(kAnswerAgeMs > kSilentLookMs + kCanaryMs);

// A clock that is further off is told of, until it is nearer than the second bound: whoever serves
// file times and reads logs of several heads notices a second.
inline constexpr std::int64_t kClockOffNs = 1'000'000'000;
inline constexpr std::int64_t kClockBackNs = 500'000'000;
// A head that hears of no other clock for so long goes by its own: the others are off, or it is
// alone. Shorter ones are failures of networks, and its own clock may be the wrong one.
inline constexpr std::int64_t kClockAloneMs = 60'000;
// What instances are told of the time is written again when it has changed by this: a clock that is
// slewed (adjtime(2), 500 ppm) takes seconds for it.
inline constexpr std::int64_t kClockStepNs = 1'000'000;

}  // namespace symnas::vnfsd::daemon
