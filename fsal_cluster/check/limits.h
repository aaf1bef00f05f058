// Bounds of fsal_cluster/check, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs::check {

// Findings that are kept with their text; further ones are only counted. A person reads the first
// page, and one damaged directory may give a hundred thousand of them.
inline constexpr std::size_t kFindingsMax = 1000;
// A directory deeper than this is not followed further for a path; the operations refuse such a
// directory, too.
inline constexpr int kPathDepthMax = 4096;
// Keys of one step of a path's look-up: as many as a transaction reads elsewhere.
inline constexpr std::size_t kPathKeysMax = 128;

// Keys of a page: reading it takes a member some milliseconds, far below the time of one try. The
// first page of a table is small, because a map chunk may have 300 KiB; the size of the next ones
// follows from the one before.
inline constexpr std::int64_t kPageKeysFirst = 64;
inline constexpr std::int64_t kPageKeysMin = 16;
inline constexpr std::int64_t kPageKeysMax = 16'384;
inline constexpr std::int64_t kPageBytes = 2 << 20;
inline constexpr std::int64_t kPageGrowth = 8;
// For every page etcd counts all keys of the range (3.5, mvcc/index.go), which takes longer than a
// try when they are millions: so ranges are read in windows of about this many keys.
inline constexpr std::int64_t kWindowKeys = 16'384;
inline constexpr std::int64_t kWindowKeysMax = 3 * kWindowKeys;
// When no page comes within this time the store counts as away.
inline constexpr std::int64_t kPageDeadlineMs = 15'000;
inline constexpr std::int64_t kPageTryMs = 1'000;  // after this a smaller page is asked for

// Extents that a dump lists: as many as a person reads, and an answer of some MiB.
inline constexpr std::size_t kDumpExtentsMax = 10'000;

// Revisions that a check may lose to compaction before it gives up: vnfsd keeps history for
// minutes.
inline constexpr int kCompactedMax = 3;
// Looks at findings that a living mount may be repairing: the next look follows after a pause.
inline constexpr int kLooksMax = 4;
inline constexpr std::int64_t kLookPauseMs = 2'500;  // a recovery or a sweep takes less

// How far a ctime may lie after the stamp's time: batches overtake each other, so the stamp may lag
// behind a time in an earlier batch. Clocks of heads differ by less. A head that stood still
// between building a batch and sending it may set the stamp back by more, until the next batch of
// any head.
inline constexpr std::int64_t kStampLagNs = 60'000'000'000;

// File bytes that a map chunk covers (docs/formats/filesystem_records.md). Defined here again,
// because the check shares no constant with the write path.
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20;

// Of extended attributes (docs/limits.md), defined here again for the same reason.
inline constexpr std::size_t kXattrNameBytes = 255;
inline constexpr std::size_t kXattrValueBytes = 65'536;
inline constexpr std::uint64_t kXattrCount = 255;
inline constexpr std::uint64_t kXattrBytes = 131'072;

// Slots of one session and operations of one batch: one byte each in their keys.
inline constexpr std::size_t kSlotValueBytes = 12;

}  // namespace symnas::fs::check
