// Bounds of fsal_cluster/check, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs::check {

// Findings that are kept with their text; the others are counted. A person reads the first page,
// and one damage of a directory may make a hundred thousand of them.
inline constexpr std::size_t kFindingsMax = 1000;
// A directory deeper than this is not followed further for a path; the operations refuse it, too.
inline constexpr int kPathDepthMax = 4096;
// Keys of one step of a path's look-up: as many as one transaction reads elsewhere.
inline constexpr std::size_t kPathKeysMax = 128;

// A page of keys: some milliseconds of a member, far below the time of one try. The first page of a
// table is small, because a map chunk may have 300 KiB; the next ones follow the size of what came.
inline constexpr std::int64_t kPageKeysFirst = 64;
inline constexpr std::int64_t kPageKeysMin = 16;
inline constexpr std::int64_t kPageKeysMax = 16'384;
inline constexpr std::int64_t kPageBytes = 2 << 20;
inline constexpr std::int64_t kPageGrowth = 8;
// etcd counts all keys of the range for every page (3.5, mvcc/index.go), which takes longer than a
// try when they are millions: ranges are read in windows of about so many keys.
inline constexpr std::int64_t kWindowKeys = 16'384;
inline constexpr std::int64_t kWindowKeysMax = 3 * kWindowKeys;
// Without one page in this time the store counts as away.
inline constexpr std::int64_t kPageDeadlineMs = 15'000;
inline constexpr std::int64_t kPageTryMs = 1'000;  // then a smaller page is asked for

// Extents that a dump lists: as many as a person reads, and an answer of some MiB.
inline constexpr std::size_t kDumpExtentsMax = 10'000;

// vnfsd keeps history for minutes: a check that loses its revision more often than this is
// hopeless.
inline constexpr int kCompactedMax = 3;
// Looks at what a living mount may be mending: the next one follows after a pause.
inline constexpr int kLooksMax = 4;
inline constexpr std::int64_t kLookPauseMs = 2'500;  // a recovery or a sweep takes less

// The stamp may lag behind a time handed out for a batch that came in before it; clocks of heads
// differ by less.
inline constexpr std::int64_t kStampLagNs = 60'000'000'000;

// A map chunk covers so much of a file (docs/formats/filesystem_records.md). Said here again: the
// check shares no constant with the write path.
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20;

// Slots of one session and operations of one batch: one byte each in their keys.
inline constexpr std::size_t kSlotValueBytes = 12;

}  // namespace symnas::fs::check
