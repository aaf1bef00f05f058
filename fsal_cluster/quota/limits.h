// Limits of the quota part.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Slots of one mount: as many as operations may be under way at once; more than its workers.
inline constexpr std::uint32_t kUsageSlotsMax = 8192;
// Subjects of one slot. A full one is folded into the bases: that transaction has a compare and a
// put for each.
inline constexpr std::size_t kUsageCountsMax = 20;
static_assert(2 * kUsageCountsMax + 4 < 48, "what common/kv leaves to one operation of a batch");

// With more full slots than this the keeper is woken: every one is a record that all mounts watch.
inline constexpr std::size_t kUsageSlotsFullMax = 24;
// Tries of one fold: another mount may fold into the same bases.
inline constexpr int kFoldTriesMax = 8;

// The window of a limit: how much of it one mount may use before it must look at what the others
// have used meanwhile (quotas.h). A 64th of the limit, so that mounts in parallel pass it by few
// per cent, but as much as one WRITE, and as little as a head writes in a fraction of a second.
inline constexpr std::uint64_t kWindowDivisor = 64;
inline constexpr std::uint64_t kWindowBytesMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kWindowBytesMax = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kWindowInodesMin = 1;
inline constexpr std::uint64_t kWindowInodesMax = 1024;

// Tries of one operation against a limit, each after a synchronisation. Those who come at the same
// time may use up a window first; more than this many rounds of them mean that others win for ever.
inline constexpr int kAdmitTriesMax = 64;

// Lines in the log about refusals: one of a subject in this time, and of this many subjects.
inline constexpr std::int64_t kRefusalPauseNs = 60'000'000'000;
inline constexpr std::size_t kRefusalsKnownMax = 64;

// The keeper's turn.
inline constexpr std::int64_t kQuotaTurnNs = 500'000'000;
inline constexpr std::size_t kScanPage = 512;  // inodes read at once
inline constexpr std::size_t kScanPerTransaction = 16;

// Marking of directory trees. Each inode of a transaction costs up to three compares and a put.
inline constexpr std::size_t kMarkPerTransaction = 8;
static_assert(4 * kMarkPerTransaction + 4 < 48,
              "what common/kv leaves to one operation of a batch");
inline constexpr std::int64_t kMarkPage = 256;  // buckets of names read at once
// Pages of one turn of the keeper, which has graces to look after and slots to fold, too.
inline constexpr int kMarkPagesPerTurn = 16;
inline constexpr std::int64_t kMarkPauseNs = 1'000'000;  // until the next turn of a pass
// Tries of an inode that others keep changing, before it is left to another pass.
inline constexpr int kMarkTriesMax = 16;
// Directories that may be renamed in a tree between two turns of its marker. With more it begins
// anew.
inline constexpr int kTreeMovedMax = 256;
// More would make adding one slow: where all of them lie is looked up.
inline constexpr std::size_t kTreesMax = 4096;

}  // namespace symnas::fs
