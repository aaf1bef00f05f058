// Bounds of the reply cache, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Answers kept per client and epoch. At 3,000 changes a second of one client that is a third of a
// second. Replies that are older have arrived, or are stuck in a full connection, behind which the
// client sends nothing new either.
inline constexpr std::uint32_t kRepliesPerClientMax = 1024;
// An answer older than this gives its place to the next answer, before a new place is begun: a
// client that changes something once a second has 30 records, not 1024.
inline constexpr std::int64_t kReplyRestNs = 30'000'000'000;
// Clients of one mount whose answers are kept at a time. At 1024 records of some 150 bytes each
// they take 600 MB of etcd at the very worst, and about 20 MB when each changes something once a
// second. No answers are kept for further clients.
inline constexpr std::size_t kReplyClientsMax = 4096;
// A client that has changed nothing for this long is forgotten, and its records are erased.
inline constexpr std::int64_t kReplyClientIdleNs = 600'000'000'000;

// For how long after its start an instance looks for the answers of its predecessors. Clients come
// back at the reset that the move sends them, else within 120 s (Linux: the longest pause of TCP's
// retransmissions, TCP_RTO_MAX).
inline constexpr std::int64_t kReplyLookNs = 150'000'000'000;
// The records are kept longer: a client that has asked at the end of that time may lose the answer
// in another crash.
inline constexpr std::int64_t kReplyEraseNs = 2 * kReplyLookNs;
// Records older than this are not believed: their replies have arrived long ago, and a client may
// have come to the same xid again. When a fence takes longer (a head that nobody can switch off),
// the cache is lost.
inline constexpr std::int64_t kReplyAgeMaxNs = 600'000'000'000;

// How often the sweep looks whether there are records to erase.
inline constexpr std::int64_t kReplySweepMs = 60'000;

static_assert(kReplyAgeMaxNs > kReplyEraseNs);

}  // namespace symnas::fs
