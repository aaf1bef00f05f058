// Bounds of common/kv, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::kv {

// One try at one member: long enough for a busy healthy member (p99 far below), short enough that a
// leader loss costs a survivor one election and not etcd's own 7 s request time-out.
inline constexpr std::int64_t kTryTimeoutMs = 300;
inline constexpr std::int64_t kRetryPauseMs = 20;  // between tries after a definite "not executed"
// A blocking read may need many history pages (a prefix of thousands of records).
inline constexpr std::int64_t kBlockingDeadlineMs = 10'000;

// Group commit. Measured: 16 filesystem operations in one transaction cut etcd's CPU per create
// about ten times.
inline constexpr int kBatchOperationsMax = 16;
inline constexpr int kBatchesInFlightMax = 4;  // more only adds queueing inside etcd
inline constexpr int kSessionSlots = kBatchesInFlightMax;
// Operations that wait for a batch. Beyond it callers get kBusy instead of a queue that grows
// without bound.
inline constexpr int kQueuedOperationsMax = 8192;

// The session's own part of a transaction: its compares, slot, stamp, and the reads of the failure
// branch.
inline constexpr std::int64_t kBatchFrameBytes = 16 * 1024;
inline constexpr int kBatchFrameOps = 64;
// How far a builder looks past operations that have to wait: a batch is found in bounded time.
inline constexpr int kQueueScanMax = 256;

// A member that answers later than one try lasts would never be heard: the time-out of tries after
// an unknown outcome doubles, up to this.
inline constexpr std::int64_t kTryTimeoutMaxMs = 2400;
// Pauses grow from kRetryPauseMs to this: while etcd is unreachable, each slot asks it at most ten
// times a second.
inline constexpr std::int64_t kRetryPauseMaxMs = 100;

// Keys per load: one linearizable read of this many records stays far below kTxnBytesMax in usual
// sizes.
inline constexpr int kReadKeysMax = 256;

// A barrier waits this long for the watch to catch up; then the cache is dropped, which is always
// correct.
inline constexpr std::int64_t kBarrierWatchWaitMs = 50;
// As kBarrierWatchWaitMs, for an own range delete, whose answer nobody needs at once: a slow watch
// shall not cost the cache.
inline constexpr std::int64_t kRangeDeleteWatchWaitMs = 1000;
// A second stamp read may be sent while the first one's answer is on its way: this halves the wait
// and costs one read.
inline constexpr int kBarrierReadsInFlightMax = 2;
// A stamp is at least this much later than the one before: the low 16 bits number synthesized times
// (docs/design.md 5.4).
inline constexpr std::int64_t kStampStepNs = 65'536;

// Memory of an entry beside its key and value (map node, list links, bookkeeping).
inline constexpr std::int64_t kCacheEntryOverheadBytes = 160;
// Entries an insertion may examine to find one to evict: eviction takes bounded time.
inline constexpr int kEvictionScanMax = 32;
inline constexpr int kCacheShards = 64;  // keeps mutex contention of some dozen threads negligible

static_assert(kSessionSlots >= kBatchesInFlightMax, "each batch in flight owns a slot");
static_assert(kSessionSlots <= 256, "a slot's index is one byte of its key");
static_assert(kBatchOperationsMax <= 256, "an operation's index is one byte of its key");
static_assert(kRetryPauseMaxMs >= kRetryPauseMs && kTryTimeoutMaxMs >= kTryTimeoutMs);
static_assert(kQueueScanMax >= kBatchOperationsMax, "a full batch can be found");

// On a busy machine a stamp may be late each minute, for hours: so often that is said at most, with
// a count.
inline constexpr std::int64_t kResyncSaidNs = 600'000'000'000;

}  // namespace symnas::kv
