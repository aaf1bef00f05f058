// Bounds of symnas-apid, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::apid {

// A handshake is three messages; a slow network takes a second for them.
inline constexpr std::int64_t kHandshakeMs = 5'000;
// From the handshake to the end of the body, which has 1 MiB at most.
inline constexpr std::int64_t kRequestMs = 15'000;
// An answer may wait for its reader so long at once, and in all so long as this rate needs.
inline constexpr std::int64_t kWriteMs = 15'000;
inline constexpr std::int64_t kSlowestBytesPerS = 64 << 10;
// How long to wait for vnfsd between two questions, when it or etcd is away at the start.
inline constexpr std::int64_t kAgainMs = 1'000;
// New connections that wait for one of an address's threads.
inline constexpr std::size_t kWaitingMax = 32;
// Handshakes cost more than requests: an address may begin this many times as many connections as
// requests before it is hung up on without one.
inline constexpr std::int64_t kConnectionsPerRequest = 2;
// One address has at most this part of a listener's threads: the others are for the rest.
inline constexpr std::size_t kAddressShare = 4;
// Lines of the log about peers that were turned away: in all, a second.
inline constexpr std::int64_t kRefusalLinesPerS = 5;

}  // namespace symnas::vnfsd::apid
