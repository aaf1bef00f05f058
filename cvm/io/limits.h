// Bounds of cvm/io, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvm/limits.h"

namespace symnas::cvm {

// I/Os of one volume in the kernel at a time. More of them wait in the engine's list, whose length
// is bounded because each I/O belongs to one NFS operation in progress. 256 keeps a shelf of disks
// busy; beyond it latency grows without throughput.
inline constexpr std::uint32_t kQueueDepthDefault = 256;
inline constexpr std::uint32_t kQueueDepthMax = 4096;  // io_uring_setup(2) allows 32768 entries
// Threads of the POSIX engine, and so its I/Os in flight: enough to keep some disks busy.
inline constexpr std::uint32_t kPosixThreadsMax = 16;

// What a single sqe or pwritev2 can carry is below 2 GiB; one part is at most a stripe unit, which
// is far less.
static_assert(kStripeUnitBytesMax <= (std::uint32_t{1} << 30));

// EAGAIN and EINTR of one part are repeated at once; a device that returns nothing else is broken.
inline constexpr std::uint32_t kPartRetriesMax = 1000;

// Buffers are kept in power-of-two classes. The largest NFS READ or WRITE is 1 MiB; with unaligned
// edges it needs a little more.
inline constexpr std::size_t kBufferClassMinBytes = 4096;
inline constexpr std::size_t kBufferClassMaxBytes = 2 * kMiB;
// Unused buffers kept for reuse per volume: at most half of the memory of an idle instance
// (docs/design.md 7: 60 MB).
inline constexpr std::size_t kBufferPoolBytesMax = 32 * kMiB;
static_assert(kBufferPoolBytesMax >= 8 * kBufferClassMaxBytes);

}  // namespace symnas::cvm
