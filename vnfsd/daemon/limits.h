// Bounds of vnfsd/daemon, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

// For instances to release locks that are cleared: a transaction each. Below the time that `symnas`
// waits for an answer.
inline constexpr std::int64_t kLockClearMs = 8'000;

inline constexpr std::size_t kEventsWaitingMax = 64;  // for etcd, on one head; the oldest goes

inline constexpr std::int64_t kRetryMs = 500;         // after an error of etcd
inline constexpr std::int64_t kMembersLookMs = 2000;  // whether etcd's members answer
// History that is kept while etcd's quota runs out: a session that lags further behind reads anew.
inline constexpr std::int64_t kTightKeepMs = 10'000;
inline constexpr std::int64_t kTightKeepRevisions = 1000;
inline constexpr std::int64_t kReconcileMs = 10'000;    // even when no event says so
inline constexpr std::int64_t kOwnMovesPollMs = 1'000;  // while moves of its own are under way
inline constexpr std::int64_t kRescanMs =
    30'000;  // for LUNs that are missing: a path may come back
inline constexpr std::int64_t kReadyTimeoutMs =
    15'000;  // an API call right after the start waits for etcd
inline constexpr std::int64_t kRefreshPollMs = 100;  // an administrator waits
// For instances to serve edited exports (instance::kExportsTimeoutMs, and to say so); the same
// again to take it back. Both below the time that `symnas` waits for an answer.
inline constexpr std::int64_t kExportsServedMs = 12'000;
inline constexpr std::int64_t kExportsUndoneMs = 5'000;
inline constexpr std::int64_t kExportsPollMs = 20;  // an edit takes some milliseconds
// An administrator waits for it; RFC 5227 would take six seconds.
inline constexpr std::int64_t kVipAskMs = 500;
inline constexpr std::int64_t kStoreDeadlineMs = 5'000;  // of one step; its caller tries again

// Who keeps others waiting (stalls.h). Heartbeats come once a second and are looked at once a
// second: what is silent for three seconds is worth a line of `symnas status`.
inline constexpr std::int64_t kStallLookMs = 1'000;
inline constexpr std::int64_t kSilentMs = 3'000;
inline constexpr std::int64_t kUnansweredMs = 1'000;  // DESIGN 5.4
// Who is connected is written down at each look, and as soon as this one shows that somebody has
// come: whoever is in no record when the head crashes waits for an answer until its own time-out,
// up to a minute.
inline constexpr std::int64_t kNewClientsLookMs = 50;
inline constexpr std::int64_t kClientsLookMs = 1'000;
// A longer pause between two looks was ours, or etcd's: all ages begin anew.
inline constexpr std::int64_t kLookGapMs = 2'500;
// Until its first heartbeat a mount recovers what it left: as long as its supervisor lets it.
inline constexpr std::int64_t kFirstHeartbeatMs = 60'000;
// A healthy instance puts no heartbeat while it waits for its own watch, as long as its gate's
// window. Who is silent for longer serves nobody any more: ending it costs its clients nothing.
inline constexpr std::int64_t kEndSilentMs = 10'000;
// A head whose instance is silent may end that itself first, and its other VNFSs lose nothing.
inline constexpr std::int64_t kFenceSilentMs = 16'000;
// The same when nobody waits for it: freed space and orphans do.
inline constexpr std::int64_t kFenceIdleMs = 25'000;
inline constexpr std::int64_t kFenceAgainMs = 10'000;  // after a fence that failed
inline constexpr std::int64_t kFenceCheckMs = 60'000;  // whether its agent could work
inline constexpr std::int64_t kFenceCheckEndsMs = 10;  // how long a stopped one takes, about
// For so long after a fence that failed no standby is started for that boot.
inline constexpr std::int64_t kUnprovenMs = 60'000;
// One step of a fence is done again for so long while etcd has not said what became of it, or the
// victim changes what it compares: longer than elections of etcd take.
inline constexpr std::int64_t kFenceStepMs = 15'000;
inline constexpr std::int64_t kFenceStepPauseMs = 20;
// From the first sight of a fence under way until somebody takes it over: off and status of the
// agent (or a preemption), kLastAnswersMs, and some transactions.
constexpr std::int64_t fence_span_ms(std::int64_t agent_timeout_s) {
  return 2 * agent_timeout_s * 1000 + 20'000;
}

// Registration on the LUNs (reservations.h): again after so long; an import waits so long for it,
// less than `symnas` waits for an answer.
inline constexpr std::int64_t kRegisterAgainMs = 2'000;
inline constexpr std::int64_t kImportRegistersMs = 8'000;

// NULL calls to the instances of this head (answers.h): so often, each with so long for an answer.
inline constexpr std::int64_t kAskEveryMs = 1'000;
inline constexpr std::int64_t kAskMs = 1'500;
// Silent for so long, asked so often: at least an eighth of the workers wait for nothing, and no
// queue before them is that long.
inline constexpr std::int64_t kDeadWorkersMs = 8'000;
inline constexpr int kUnansweredMin = 4;
// A longer pause between two questions was this head's.
inline constexpr std::int64_t kAskGapMs = 4'000;
static_assert(kAskGapMs > kAskEveryMs + kAskMs);

// LUNs and networks (health.h) are tried so often.
inline constexpr std::int64_t kTryMs = 1'000;
inline constexpr std::int64_t kLunLookMs = 500;
inline constexpr std::size_t kLunReadBytes = 4096;
// Multipath answers errors only when its last path has gone; one retry of an array passes.
inline constexpr int kFailuresMin = 3;
inline constexpr std::int64_t kFailsMs = 2'000;
// Far above what a busy array or a change of paths takes.
inline constexpr std::int64_t kHangsMs = 15'000;
// From the first head's knowledge of a fault that all have to the last one's, and its record's.
inline constexpr std::int64_t kWorseMs = 4'000;
static_assert(kWorseMs > 2 * (kTryMs + kLunLookMs));
// What comes and goes moves a VNFS once in so long at most.
inline constexpr std::int64_t kWellMs = 60'000;

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
inline constexpr std::uint16_t kProbePort = 20'491;  // UDP, from the range that nobody registers

// From the proof that a head's LUNs are cut off until nothing of it can answer any more, and none
// of its VIPs is up: the window of its gate (fsal_cluster, kGateWindowNs), the second and the look
// after which its VIPs go (instance/limits.h), and a tenth for its clock.
inline constexpr std::int64_t kLastAnswersMs = 10'200;

}  // namespace symnas::vnfsd::daemon
