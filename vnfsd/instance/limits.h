// Bounds of vnfsd/instance, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace symnas::vnfsd::instance {

// Namespaces, mounts, rpcbind: 50 ms on an idle machine; far more only if something hangs.
inline constexpr std::int64_t kLaunchTimeoutMs = 15'000;
// From exec to listening: includes opening LUNs and mounting filesystems, which waits for etcd.
inline constexpr std::int64_t kListenTimeoutMs = 60'000;
// As kListenTimeoutMs, for a standby: from exec until it waits for its claim, after one read of
// etcd.
inline constexpr std::int64_t kStandbyTimeoutMs = 15'000;
inline constexpr std::int64_t kCallTimeoutMs = 1'000;  // for an answer that takes no time
inline constexpr std::int64_t kListenPollMs = 2;       // part of every outage: short
inline constexpr std::int64_t kKillTimeoutMs =
    10'000;  // SIGKILL of a process in an uninterruptible sleep
// One try to obtain an instance's OFD bytes. I/O in flight on a LUN that hangs may take minutes:
// tried again for ever.
inline constexpr std::int64_t kFenceTryMs = 2'000;
inline constexpr std::int64_t kRpcbindTimeoutMs = 5'000;

inline constexpr std::uint16_t kNfsPort = 2049;
inline constexpr std::string_view kLinkPrefix = "nfs";  // of the links in a VNFS's namespace

// The requests that an instance has begun when it is to be moved get this long for their end: far
// more than I/O to healthy LUNs takes. Beyond it the instance is killed, and its clients ask again.
inline constexpr std::int64_t kRetireTimeoutMs = 2'000;
// Time after kRetireTimeoutMs, for the last replies and for closing the mounts: some transactions
// and flushes.
inline constexpr std::int64_t kRetireCloseMs = 5'000;

// An edit of exports: one that opens a volume and mounts a filesystem takes some hundred
// milliseconds.
inline constexpr std::int64_t kExportsTimeoutMs = 8'000;

// The pulse of an instance (fsal_cluster/pulse) is looked at so often: part of the outage when the
// proof is back, so more often while its VIPs are down.
inline constexpr std::int64_t kPulseLookMs = 200;
inline constexpr std::int64_t kHiddenLookMs = 20;
// docs/design.md 6: a gate that has been shut for so long will hardly open at once.
inline constexpr std::int64_t kHideAfterMs = 1'000;
// An instance whose beat is missing for this long stands still. The beat comes every 100 ms from a
// thread that waits for nothing, and a busy machine keeps no thread waiting for nearly as long.
inline constexpr std::int64_t kStillMs = 3'000;
// After a longer pause between two looks nothing is known: this head stood still itself.
inline constexpr std::int64_t kPulseGapMs = 700;
static_assert(kPulseGapMs > 3 * kPulseLookMs && kStillMs > 4 * kPulseGapMs);

// Restart in place: the first at once (a crash is usually not repeated), then doubling.
inline constexpr std::int64_t kRestartPauseMinMs = 200;
inline constexpr std::int64_t kRestartPauseMaxMs = 30'000;
// An instance that served this long was healthy: its crash is a first one again. Far above a start
// (0.1 s), so that an instance that cannot start backs off; short, because a pause is an outage for
// every client: an instance that dies again each few seconds serves better when it is restarted at
// once than after half a minute.
inline constexpr std::int64_t kHealthyServiceMs = 2'000;

// Clients are told twice. The first packet may get lost; a reset is ignored by a client that has
// received more than its number says; and Linux answers packets that lie out of its window only
// once in half a second (tcp_invalid_ratelimit).
inline constexpr std::int64_t kWakeAgainMs = 1'000;
inline constexpr std::ptrdiff_t kUnheardMax = 4'096;  // of one VNFS: 200 KB of c/conn

// VIPs are announced so many times more, so long after one another: RFC 5227 2.3 wants two
// announcements 2 s apart, RFC 4861 7.2.6 allows three, at least 1 s apart.
inline constexpr int kAnnounceAgainTimes = 2;
inline constexpr std::int64_t kAnnounceAgainMs = 2'000;

// Whether somebody else has a VIP is asked while the instance starts, which takes longer than this;
// a host on the same network answers within a millisecond or two.
inline constexpr std::int64_t kVipAskMinMs = 40;
// Where nobody waits for the answer: before a planned move, and while somebody else has a VIP.
inline constexpr std::int64_t kVipAskMs = 200;
inline constexpr std::int64_t kVipRetryMs = 2'000;  // until it is asked again whether a VIP is free

// An instance's log is kept below this, twice (instance_log.h): weeks of messages as they usually
// come, and a small part of any partition. How often that is looked at: nothing that a client does
// writes more than some lines a second.
inline constexpr std::int64_t kLogBytesMax = 64 << 20;
inline constexpr std::int64_t kLogLookMs = 10'000;

inline constexpr std::uint64_t kOpenFilesMax = 65'536;  // one per client connection, and the LUNs
// TCP connections of a VNFS (RPC_Max_Connections): what its descriptors allow, less one in 16 for
// LUNs, etcd and callbacks. Where the head allows fewer descriptors, ganesha lowers it accordingly
// (deploy/ganesha/patches/ntirpc/0084). Memory of each: docs/operations/sizes.md.
inline constexpr std::uint64_t kClientConnectionsMax = kOpenFilesMax - kOpenFilesMax / 16;

static_assert(kRestartPauseMinMs < kRestartPauseMaxMs);

}  // namespace symnas::vnfsd::instance
