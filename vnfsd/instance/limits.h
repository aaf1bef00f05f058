// Bounds of vnfsd/instance, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::instance {

// Namespaces, mounts, rpcbind: 50 ms on an idle machine; far more only if something hangs.
inline constexpr std::int64_t kLaunchTimeoutMs = 15'000;
// From exec to listening: includes opening LUNs and mounting filesystems, which waits for etcd.
inline constexpr std::int64_t kListenTimeoutMs = 60'000;
inline constexpr std::int64_t kListenPollMs = 5;  // part of every outage: short
inline constexpr std::int64_t kKillTimeoutMs =
    10'000;  // SIGKILL of a process in an uninterruptible sleep
// One try to obtain an instance's OFD bytes. I/O in flight on a LUN that hangs may take minutes:
// tried again for ever.
inline constexpr std::int64_t kFenceTryMs = 2'000;
inline constexpr std::int64_t kRpcbindTimeoutMs = 5'000;

// Restart in place: the first at once (a crash is usually not repeated), then doubling.
inline constexpr std::int64_t kRestartPauseMinMs = 200;
inline constexpr std::int64_t kRestartPauseMaxMs = 30'000;
// An instance that served this long was healthy: its crash is a first one again. Far above a start
// (0.1 s), so that what cannot start backs off; short, because a pause is an outage for every
// client: what dies again each few seconds serves better restarted at once than after half a
// minute.
inline constexpr std::int64_t kHealthyServiceMs = 2'000;

inline constexpr std::uint64_t kOpenFilesMax = 65'536;  // one per client connection, and the LUNs

static_assert(kRestartPauseMinMs < kRestartPauseMaxMs);

}  // namespace symnas::vnfsd::instance
