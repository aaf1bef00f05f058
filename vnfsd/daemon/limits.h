// Bounds of vnfsd/daemon, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kRetryMs = 500;       // after an error of etcd
inline constexpr std::int64_t kQuotaLookMs = 2000;  // how full etcd is
// History that is kept while etcd's quota runs out: a session that lags further behind reads anew.
inline constexpr std::int64_t kTightKeepMs = 10'000;
inline constexpr std::int64_t kTightKeepRevisions = 1000;
inline constexpr std::int64_t kReconcileMs = 10'000;  // even when no event says so
inline constexpr std::int64_t kRescanMs =
    30'000;  // for LUNs that are missing: a path may come back
inline constexpr std::int64_t kReadyTimeoutMs =
    15'000;  // an API call right after the start waits for etcd
inline constexpr std::int64_t kRefreshPollMs = 100;      // an administrator waits
inline constexpr std::int64_t kStoreDeadlineMs = 5'000;  // of one step; its caller tries again

// Who keeps others waiting (stalls.h). Heartbeats come once a second and are looked at once a
// second: three seconds without one are no accident of a healthy instance.
inline constexpr std::int64_t kStallLookMs = 1'000;
inline constexpr std::int64_t kSilentMs = 3'000;
inline constexpr std::int64_t kUnansweredMs = 1'000;  // DESIGN 5.4
// A longer pause between two looks was ours, or etcd's: all ages begin anew.
inline constexpr std::int64_t kLookGapMs = 2'500;
// A head whose instance is silent may end it itself first, and loses nothing else by that.
inline constexpr std::int64_t kFenceSilentMs = 5'000;
// The same when nobody waits for it: freed space and orphans do.
inline constexpr std::int64_t kFenceIdleMs = 15'000;
inline constexpr std::int64_t kFenceAgainMs = 10'000;  // after a fence that failed

// From the proof that a head's LUNs are cut off until nothing of it can answer any more: the window
// of its gate (fsal_cluster, kGateWindowNs), and a tenth for its clock.
inline constexpr std::int64_t kLastAnswersMs = 8'800;

}  // namespace symnas::vnfsd::daemon
