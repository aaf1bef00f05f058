// Bounds of the FUSE LUN server, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fuse_lun {

// The unit that a power loss does not tear: a sector of 512 bytes (docs/design.md 8: torn
// sectors are excluded).
inline constexpr std::uint32_t kSectorBytes = 512;
// The unit in which the cache is kept.
inline constexpr std::uint32_t kCacheBlockBytes = 4096;
inline constexpr std::uint32_t kSectorsPerBlock = kCacheBlockBytes / kSectorBytes;
static_assert(kSectorsPerBlock == 8, "one bit each in a byte");

// Unflushed blocks of one LUN: 64 MiB, far more than tests write between two flushes. With more of
// them, all go to the medium, as in a device that writes back on its own.
inline constexpr std::size_t kCacheBlocksMax = 16384;
// Waiting requests of a LUN while it hangs or is slow. A ring has 256; requests beyond this limit
// get EIO.
inline constexpr std::size_t kQueueMax = 8192;
// A FUSE request carries at most this (libfuse: 256 pages); the kernel splits larger ones.
inline constexpr std::uint32_t kRequestBytesMax = 1 << 20;
// Requests of one view that the kernel keeps under way (fuse: max_background).
inline constexpr unsigned kBackgroundMax = 512;
// One line of the control protocol.
inline constexpr std::size_t kCommandBytesMax = 4096;

}  // namespace symnas::fuse_lun
