// Bounds of the reply cache, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Answers kept per client and epoch. At 3,000 changes a second of one client that is a third of a
// second: replies that are older have arrived, or hang behind a full connection, behind which its
// client sends nothing new either.
inline constexpr std::uint32_t kRepliesPerClientMax = 1024;
// A place is used again rather than a new one when its answer is older than this: a client that
// changes something once a second has 30 records, not 1024.
inline constexpr std::int64_t kReplyRestNs = 30'000'000'000;
// Clients of one mount whose answers are kept at a time: at 1024 records of some 150 bytes each
// they are 600 MB of etcd at the very worst, and about 20 MB when each changes something once a
// second. Of further ones nothing is kept.
inline constexpr std::size_t kReplyClientsMax = 4096;
// A client that has changed nothing for so long is forgotten, its records are erased.
inline constexpr std::int64_t kReplyClientIdleNs = 600'000'000'000;

// For how long after its start an instance looks for what its predecessors did. Clients come back
// at the reset that the move sends them, else within 120 s (Linux: the longest pause of TCP's
// retransmissions, TCP_RTO_MAX).
inline constexpr std::int64_t kReplyLookNs = 150'000'000'000;
// The records outlive that: who has asked at the end of it may lose the answer in another crash.
inline constexpr std::int64_t kReplyEraseNs = 2 * kReplyLookNs;
// Older ones are not believed: their replies have arrived long ago, and a client may have come to
// the same xid again. A fence that takes longer (a head that nobody can switch off) costs the
// cache.
inline constexpr std::int64_t kReplyAgeMaxNs = 600'000'000'000;

// How often the sweep looks whether something is to be erased.
inline constexpr std::int64_t kReplySweepMs = 60'000;

static_assert(kReplyAgeMaxNs > kReplyEraseNs);

}  // namespace symnas::fs
