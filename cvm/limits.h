// Bounds and fixed places of the cluster volume manager, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::cvm {

inline constexpr std::uint64_t kKiB = std::uint64_t{1} << 10;
inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// A label copy is one block of the largest logical block size that symnas supports, so that it is
// written as a whole.
inline constexpr std::size_t kLabelBytes = 4096;
// Kept free of data at both ends of a LUN: labels, canaries, and what partitioning tools write
// there. 1 MiB keeps the data area aligned to every array's internal page.
inline constexpr std::uint64_t kReservedBytes = kMiB;
// Smaller devices are mistakes (an array's gatekeeper LUN, a config LUN), not storage.
inline constexpr std::uint64_t kLunBytesMin = 64 * kMiB;

inline constexpr std::uint32_t kStripeUnitBytesMin = 64 * kKiB;
inline constexpr std::uint32_t kStripeUnitBytesMax = 16 * kMiB;

// Names of LUNs and volumes: fit a label field and a column of `symnas lun ls`.
inline constexpr std::size_t kNameBytesMax = 63;
// One volume record stays far below etcd's 1.5 MiB, and one open file per LUN far below
// RLIMIT_NOFILE.
inline constexpr std::size_t kLunsPerVolumeMax = 256;
inline constexpr std::size_t kSegmentsPerVolumeMax = 64;
// Offsets are off_t in every system call.
inline constexpr std::uint64_t kVolumeBytesMax = std::uint64_t{1} << 62;
// Candidates that one scan examines: a head with 1,000 LUNs on 4 paths each, by several names.
inline constexpr std::size_t kScanCandidatesMax = 16384;

// How often a fence checks whether the dead instance's last I/O has ended: far below a
// client-visible delay, and a thousand polls cost almost nothing.
inline constexpr std::int64_t kOfdPollMs = 2;

static_assert(kReservedBytes >= kLabelBytes);
static_assert(kLunBytesMin >= 2 * kReservedBytes + kStripeUnitBytesMax,
              "every LUN holds at least one stripe unit");

}  // namespace symnas::cvm
