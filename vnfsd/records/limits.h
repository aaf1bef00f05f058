// Bounds of the records, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd {

inline constexpr std::size_t kHistoryMax = 32;  // instances of a VNFS that are remembered

// Events that a head keeps: with 16 heads half a MiB of etcd at most, and a look at all of them is
// one answer.
inline constexpr std::uint64_t kEventsPerHead = 128;
inline constexpr std::size_t kEventTextBytesMax = 500;

// Connections of a VNFS's clients that are written down, so that they are woken after a move or a
// crash: 400 KB, which etcd takes in one transaction. Clients beyond that notice by themselves.
inline constexpr std::size_t kConnectionsRecorded = 8'192;

}  // namespace symnas::vnfsd
