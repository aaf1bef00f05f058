// Bounds of vnfsd/daemon/scrub, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

// Unless the order says another rate: a twentieth of what one disk reads.
inline constexpr std::uint64_t kScrubBytesPerSecond = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kScrubBytesPerSecondMin = std::uint64_t{64} << 10;
// One read: a slow one delays a client's I/O by no more than it takes.
inline constexpr std::uint64_t kScrubReadBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kScrubBlockBytes = 4096;
// After a read the LUN is left alone for at least so many times what the read took: a LUN that is
// busy, and so slow, is read less.
inline constexpr std::int64_t kScrubRestTimes = 3;
// Of a LUN, whose used blocks are read from etcd at once.
inline constexpr std::uint64_t kScrubWindowBytes = std::uint64_t{32} << 20;
// A window without used blocks makes the next one twice as large, up to this: its keys fit memory.
inline constexpr std::uint64_t kScrubWindowBytesMax = std::uint64_t{512} << 20;
inline constexpr std::int64_t kScrubWindowPauseNs = 50'000'000;  // etcd is left alone after each
inline constexpr std::int64_t kScrubPageKeys = 2000;
inline constexpr std::uint64_t kScrubExtentBlocksMax = 16'384;  // of a reverse-map entry
// How often a head looks for a scrub to take over, and for orders to the one it works on.
inline constexpr std::int64_t kScrubLookNs = 5'000'000'000;
// A record that has not changed for so long is taken over.
inline constexpr std::int64_t kScrubSilentNs = 30'000'000'000;
inline constexpr std::int64_t kScrubTellNs = 5'000'000'000;
inline constexpr std::int64_t kScrubRetryNs = 10'000'000'000;  // after an error of etcd
// A head that cannot read a LUN leaves its scrub to others for so long: they look for it much more
// often.
inline constexpr std::int64_t kScrubAvoidNs = 60'000'000'000;
// Bad places that are kept: a person reads some, the LUN is to be replaced anyway.
inline constexpr int kScrubBadMax = 100;

}  // namespace symnas::vnfsd::daemon
