// Bounds of cvm/io, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvm/limits.h"

namespace symnas::cvm {

// I/Os of one volume in the kernel at a time; more wait in the engine's list, which its submitters
// bound (each I/O belongs to one NFS operation in progress). 256 keeps a shelf of disks busy;
// beyond it latency grows without throughput.
inline constexpr std::uint32_t kQueueDepthDefault = 256;
inline constexpr std::uint32_t kQueueDepthMax = 4096;  // of io_uring_setup(2): 32768 entries
// The fallback's threads: as many I/Os in flight. Enough to keep some disks busy without io_uring.
inline constexpr std::uint32_t kPosixThreadsMax = 16;

// One part: what a single sqe or pwritev2 can carry is below 2 GiB; a stripe unit is far less.
static_assert(kStripeUnitBytesMax <= (std::uint32_t{1} << 30));

// EAGAIN and EINTR of one part are repeated at once; a device that answers nothing else is broken.
inline constexpr std::uint32_t kPartRetriesMax = 1000;

// Buffers are kept in power-of-two classes. The largest NFS READ or WRITE is 1 MiB; with unaligned
// edges it needs a little more.
inline constexpr std::size_t kBufferClassMinBytes = 4096;
inline constexpr std::size_t kBufferClassMaxBytes = 2 * kMiB;
// Unused buffers kept for reuse per volume. Half of the budget of an idle instance (DESIGN 7: 60
// MB) at most.
inline constexpr std::size_t kBufferPoolBytesMax = 32 * kMiB;
static_assert(kBufferPoolBytesMax >= 8 * kBufferClassMaxBytes);

}  // namespace symnas::cvm
