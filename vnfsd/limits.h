// Bounds of vnfsd, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd {

inline constexpr std::size_t kNameCharsMax = 63;  // a DNS label: VNFS and head names are host names
inline constexpr std::size_t kVipsPerVnfsMax = 4;  // DESIGN section 1
inline constexpr std::size_t kHeadsMax = 16;
inline constexpr std::size_t kExportsPerVnfsMax = 256;  // ganesha.conf stays small enough to read
inline constexpr std::size_t kClientsPerExportMax = 128;
inline constexpr std::size_t kLunsPerVolumeMax = 256;
inline constexpr std::size_t kExportPathBytesMax = 1023;  // MNTPATHLEN of RFC 1813 is 1024
inline constexpr std::uint32_t kExportIdMax = 65535;      // u16 in every file handle
inline constexpr std::uint32_t kMtuMin = 1280;
inline constexpr std::uint32_t kMtuMax = 65535;

// Long enough for an unknown outcome to be resolved among other administrators' changes.
inline constexpr int kRecentChangesMax = 32;
// Each conflict means that another change succeeded: more than this in a row is a storm worth
// reporting.
inline constexpr int kChangeTriesMax = 8;
inline constexpr std::int64_t kChangeDeadlineMs = 10'000;  // then the administrator hears of it

// etcd's quota: below, history of some seconds fills it; above, no member starts in bearable time.
inline constexpr std::int64_t kQuotaBytesMin = std::int64_t{16} << 20;
inline constexpr std::int64_t kQuotaBytesMax = std::int64_t{64} << 30;

inline constexpr std::size_t kRequestBytesMax = 1 << 20;  // of the API
inline constexpr int kApiThreads = 4;                     // administrators at once

// Fewer files tell nothing about what a file costs: etcd's own pages weigh more.
inline constexpr std::uint64_t kObjectsToJudgeBy = 1000;
// What a small file costs etcd then: about 5 M files in 8 GiB (DESIGN section 7).
inline constexpr std::uint64_t kUsualFileBytes = 1'700;

// From so many cached inodes on an instance's growth since its start says what one costs.
inline constexpr std::uint64_t kInodesForACost = 10'000;

inline constexpr std::size_t kHistoryMax = 32;  // instances of a VNFS that are remembered

// Events that a head keeps: with 16 heads half a MiB of etcd at most, and a look at all of them is
// one answer.
inline constexpr std::uint64_t kEventsPerHead = 128;
inline constexpr std::size_t kEventTextBytesMax = 500;
inline constexpr std::size_t kEventsPerChangeMax = 16;  // a set of VNFSs has one line for each
inline constexpr std::size_t kEventsWaitingMax = 64;    // for etcd, on one head; the oldest goes

// An order to move a VNFS that was not answered for this long is not obeyed any more: `symnas` has
// long given up, unless it was killed before it could take the order back.
inline constexpr std::int64_t kOrderNs = 60'000'000'000;

// What an owner orders itself (drains, failback): the longest gap of a move is its clients', and
// two at once leave the head's disks and cores to the VNFSs that are served.
inline constexpr int kMovesAtOnceMax = 2;
// A head that lives answers within its next look at the records (10 s) even if it lost their watch.
inline constexpr std::int64_t kAnswerNs = 12'000'000'000;
// Who did not take a VNFS is not asked again for so long: another one is, or it is mended
// meanwhile.
inline constexpr std::int64_t kRefusalNs = 60'000'000'000;
// How long a head must have served before VNFSs go back to it by themselves: a head that crashes
// once a minute costs its VNFSs nothing.
inline constexpr std::int64_t kSettleS = 60;
inline constexpr std::int64_t kSettleSMax = 86'400;

}  // namespace symnas::vnfsd
