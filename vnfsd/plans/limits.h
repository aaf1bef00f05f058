// Bounds of administrative changes and of moves, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd {

inline constexpr std::size_t kVipsPerVnfsMax = 4;  // docs/design.md 1
inline constexpr std::size_t kHeadsMax = 16;
inline constexpr std::size_t kExportsPerVnfsMax = 256;  // ganesha.conf stays small enough to read
inline constexpr std::size_t kClientsPerExportMax = 128;
inline constexpr std::uint32_t kExportIdMax = 65535;  // u16 in every file handle
inline constexpr std::uint32_t kMtuMin = 1280;
inline constexpr std::uint32_t kMtuMax = 65535;

// Long enough for an unknown outcome to be resolved among other administrators' changes.
inline constexpr int kRecentChangesMax = 32;
// Each conflict means that another change succeeded: more than this in a row is a storm worth
// reporting.
inline constexpr int kChangeTriesMax = 8;
inline constexpr std::int64_t kChangeDeadlineMs = 10'000;  // then the administrator hears of it
inline constexpr std::size_t kEventsPerChangeMax = 16;     // a set of VNFSs has one line for each

// An order to move a VNFS that was not answered for this long is not obeyed any more: `symnas` has
// long given up, unless it was killed before it could take the order back.
inline constexpr std::int64_t kOrderNs = 60'000'000'000;

// While another decider than the builtin one decides: for so long what is not carried out stands
// against an order to another head, and then is replaced if nobody has answered it. Two heads that
// insist on one VNFS, each asking twice a second, so write a record and an event in this time and
// not in half a second; an order is mostly answered within a second.
inline constexpr std::int64_t kDecidedNs = 5'000'000'000;

// Moves that an owner orders itself (drains, failback): the longest gap of a move is its clients',
// and two at once leave the head's disks and cores to the VNFSs that are served.
inline constexpr int kMovesAtOnceMax = 2;
// A head that lives answers within its next look at the records (10 s) even if it lost their watch.
inline constexpr std::int64_t kAnswerNs = 12'000'000'000;
// A head that did not take a VNFS is not asked again for so long: another one is asked, or the head
// is mended meanwhile. Heads compare each other's wall clocks there: what lies further in the
// future than this was written before a clock was set back, and does not count either. The same
// holds for kOrderNs where an administrator replaces an order.
inline constexpr std::int64_t kRefusalNs = 60'000'000'000;

// Of a keytab: a VNFS has a principal or a few, with some enctypes and two kvnos each. It becomes a
// record that every head reads.
inline constexpr std::size_t kKeytabBytesMax = 64 << 10;
inline constexpr std::size_t kKeytabEntriesMax = 128;
// Of a domain of owners: as of a DNS name.
inline constexpr std::size_t kOwnerDomainBytesMax = 255;

}  // namespace symnas::vnfsd
