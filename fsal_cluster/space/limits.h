// Bounds of fsal_cluster/space, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Blocks of one alignment step of large files: 64 KiB, so that a database block never straddles two
// stripe units (the smallest stripe unit is 64 KiB).
inline constexpr std::uint32_t kAlignBlocks = 16;
// Free runs looked at for a lucky alignment before a larger run is cut.
inline constexpr int kAlignmentTriesMax = 8;
// Bounds of a group's size. At a claim the reverse map of the smallest group is read in one go,
// that of the largest in pages of some MB.
inline constexpr std::uint64_t kGroupBlocksMin = 256;                     // 1 MiB, for tests
inline constexpr std::uint64_t kGroupBlocksMax = std::uint64_t{1} << 24;  // 64 GiB
// Reverse-map keys per page of a range read: about 300 KiB of answer.
inline constexpr std::int64_t kReverseMapPage = 4096;
// A claim looks at this many groups before it says that there is none.
inline constexpr int kClaimTriesMax = 64;
// When fewer blocks than this are ready (128 MiB; on small volumes a share of the volume, at least
// one group), the next group is claimed ahead of need: a claim takes two round trips.
inline constexpr std::uint64_t kReadyBlocksLow = 32768;
inline constexpr std::uint64_t kReadyShare = 64;
// Beside other mounts whole free groups are given back while more than this many times
// kReadyBlocksLow (on small volumes: the share) stays free.
inline constexpr std::uint64_t kSurplusTimes = 2;
// Groups given back at once for a mount that needs space; the next heartbeat tells whether it still
// does.
inline constexpr int kGiveAtOnce = 4;
// How often the owners of groups are read again while no group is found: other mounts may have
// given some back.
inline constexpr std::int64_t kOwnersNs = 500'000'000;
// Ownership records moved in one transaction while an ended mount's groups are taken over.
inline constexpr int kTakeoverGroupsMax = 200;
// Before ENOSPC a write waits so long for frees that are on their way: one round of quiescence or
// one sweep is far shorter.
inline constexpr std::int64_t kRoomWaitMs = 2000;
inline constexpr std::int64_t kRoomPollMs = 5;
// Longest time between two looks that counts against the wait: in a longer one the process stood
// still, or etcd did, and no mount could give back a group.
inline constexpr std::int64_t kRoomStepNs = 500'000'000;
// As kRoomWaitMs, beside other mounts: a free waits for their heartbeats as well, two of each, and
// own groups are read again first.
inline constexpr std::int64_t kSharedRoomWaitMs = 5000;
// How often own groups are read again for blocks that other mounts have freed there: it costs a
// range read of each group.
inline constexpr std::int64_t kReclaimNs = 3'000'000'000;
static_assert(kSharedRoomWaitMs * 1'000'000 > kReclaimNs + 1'000'000'000);
// How often it is logged that the reverse map cannot be read everywhere.
inline constexpr std::int64_t kUnreadableLogNs = 60'000'000'000;
// How often all groups are counted again for statfs, while other mounts change them.
inline constexpr std::int64_t kRecountNs = 10'000'000'000;
// Moments whose I/O is waited for at once, one per heartbeat: while one I/O takes longer than this
// many heartbeats, no further moments are marked.
inline constexpr std::size_t kQuiescenceMarksMax = 64;
// Threads of Background: while one waits in a range read because etcd is away, the others keep
// timers and claims going.
inline constexpr int kBackgroundThreads = 3;

}  // namespace symnas::fs
