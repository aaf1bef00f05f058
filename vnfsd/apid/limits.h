// Bounds of symnas-apid, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::apid {

// How long to wait for vnfsd between two questions, when it or etcd is away at the start.
inline constexpr std::int64_t kAgainMs = 1'000;
// New connections that wait for one of an address's threads.
inline constexpr std::size_t kWaitingMax = 32;
// Handshakes cost more than requests: an address may begin this many times as many connections as
// requests before it is hung up on without one.
inline constexpr std::int64_t kConnectionsPerRequest = 2;
// One address, and one certificate, has at most this part of a listener's threads: the others are
// for the rest.
inline constexpr std::size_t kShare = 4;
// Lines of the log about peers that were turned away: in all, a second.
inline constexpr std::int64_t kRefusalLinesPerS = 5;

}  // namespace symnas::vnfsd::apid
