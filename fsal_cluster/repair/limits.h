// Bounds of fsal_cluster/repair, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs::repair {

// Findings of one plan: the steps of a larger damage are planned again after the first ones.
inline constexpr std::size_t kPlanFindingsMax = 10'000;
// Keys that a step changes and compares: half of what one transaction may have.
inline constexpr std::size_t kStepKeysMax = 500;
// Bytes of what a step changes, with the record of it: etcd takes 1.5 MiB at once.
inline constexpr std::size_t kStepBytesMax = 1'000'000;
// A repaired counter leaves so much room for numbers that nobody knows of: far more than all heads
// lease, far less than numbers there are.
inline constexpr std::uint64_t kCounterRoom = 1U << 20;
// An inode number that lies further beyond the others was never given.
inline constexpr std::uint64_t kInoJumpMax = std::uint64_t{1} << 40;
// Parents that are followed: as many as the operations allow.
inline constexpr int kDepthMax = 4096;
// Blocks of the longest extent: an extent never leaves its map chunk.
inline constexpr std::uint64_t kExtentBlocksMax = 16'384;
// File bytes of a map chunk, as in fsal_cluster/check.
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20;
// Records of repairs that are kept of one filesystem: what somebody may still want to undo.
inline constexpr std::size_t kLogRecordsMax = 1000;
// What they may take of etcd's quota: a thirtieth of it. A repair that needs more ends.
inline constexpr std::uint64_t kLogBytesMax = std::uint64_t{64} << 20;
// None younger than this is erased, whoever has put it: somebody may just see what went wrong.
inline constexpr std::int64_t kLogKeepNs = 6LL * 3600 * 1'000'000'000;
inline constexpr std::int64_t kLogPage = 10;  // each is as large as a transaction may be
// Tries of one step: a stamp that other mounts advance meanwhile, an answer that does not come.
inline constexpr int kApplyTriesMax = 12;

}  // namespace symnas::fs::repair
