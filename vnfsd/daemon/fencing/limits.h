// Bounds of fences and of looking for silent mounts, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// Mounts that keep others waiting (stalls.h). Heartbeats come once a second and are looked at once
// a second: a mount that is silent for three seconds is worth a line of `symnas status`.
inline constexpr std::int64_t kStallLookMs = 1'000;
inline constexpr std::int64_t kSilentMs = 3'000;
inline constexpr std::int64_t kUnansweredMs = 1'000;  // docs/design.md 5.4
// A longer pause between two looks was this head's own, or etcd's: all ages begin anew.
inline constexpr std::int64_t kLookGapMs = 2'500;
// Until its first heartbeat a mount recovers what it left: as long as its supervisor lets it.
inline constexpr std::int64_t kFirstHeartbeatMs = 60'000;
// A healthy instance puts no heartbeat while it waits for its own watch, as long as its gate's
// window. A mount that is silent for longer serves nobody any more: ending it costs its clients
// nothing.
inline constexpr std::int64_t kEndSilentMs = 10'000;
// A head whose instance is silent may end the instance itself first: then its other VNFSs lose
// nothing.
inline constexpr std::int64_t kFenceSilentMs = 16'000;
// As kFenceSilentMs, when no mount waits for the silent one: freed space and orphans do.
inline constexpr std::int64_t kFenceIdleMs = 25'000;
inline constexpr std::int64_t kFenceAgainMs = 10'000;  // after a fence that failed
inline constexpr std::int64_t kFenceCheckMs = 60'000;  // whether its agent could work
inline constexpr std::int64_t kFenceCheckEndsMs = 10;  // how long a stopped one takes, about
// One step of a fence is repeated for so long while etcd has not told its outcome, or the victim
// changes what the step compares: longer than elections of etcd take.
inline constexpr std::int64_t kFenceStepMs = 15'000;
inline constexpr std::int64_t kFenceStepPauseMs = 20;
// From the first sight of a fence under way until somebody takes it over: off and status of the
// agent (or a preemption), kLastAnswersMs, and some transactions.
constexpr std::int64_t fence_span_ms(std::int64_t agent_timeout_s) {
  return 2 * agent_timeout_s * 1000 + 20'000;
}

// From the proof that a head's LUNs are cut off until nothing of it can answer any more, and none
// of its VIPs is up, if its instances are of an earlier version, which do not say how long they
// answer (fsal_cluster/state/life_signs.h): the window of its gate (fsal_cluster, kGateWindowNs),
// the second and the look after which its VIPs go (instance/limits.h), and a tenth for its clock.
inline constexpr std::int64_t kLastAnswersMs = 10'200;

// An `off` of pacemaker that ended so long after a boot was seen was one of that boot, by clocks
// that are apart by less than kClockOffNs, of which pacemaker tells seconds.
inline constexpr std::int64_t kStonithMarginS = 2;

}  // namespace symnas::vnfsd::daemon
