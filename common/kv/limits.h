// Bounds of common/kv, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::kv {

// One try at one member: long enough for a busy healthy member (p99 far below), short enough that a leader loss costs
// a survivor one election and not etcd's own 7 s request time-out.
inline constexpr std::int64_t kTryTimeoutMs = 300;
inline constexpr std::int64_t kRetryPauseMs = 20;  // between tries after a definite "not executed"
// A read may be answered from many history pages (a prefix of thousands of records).
inline constexpr std::int64_t kBlockingDeadlineMs = 10'000;

// Group commit. Measured: 16 filesystem operations in one transaction cut etcd's CPU per create about ten times.
inline constexpr int kBatchOperationsMax = 16;
inline constexpr int kBatchesInFlightMax = 4;  // more only adds queueing inside etcd
inline constexpr int kSessionSlots = kBatchesInFlightMax;
// Operations waiting for a batch; beyond it submitters are held back (kBusy) instead of growing without bound.
inline constexpr int kQueuedOperationsMax = 8192;

inline constexpr int kCacheShards = 64;  // mutex contention of some dozen threads stays negligible

static_assert(kSessionSlots >= kBatchesInFlightMax, "each batch in flight owns a slot");

}  // namespace symnas::kv
