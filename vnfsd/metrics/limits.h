// Bounds of metrics over the network, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::metrics {

inline constexpr std::size_t kServerThreads = 16;  // two Prometheus servers, and people
// Of them for one address: the others are for the rest. Two Prometheus servers may share one.
inline constexpr std::size_t kAddressConnectionsMax = 4;
inline constexpr std::size_t kServerWaitingMax = 16;  // more are closed
inline constexpr std::uint64_t kServerFilesMax = 64;
static_assert(kServerThreads + kServerWaitingMax < kServerFilesMax);
static_assert(kAddressConnectionsMax <= kServerThreads / 4);
// A request is a few hundred bytes, from a machine that has nothing else to do: all of it has to
// come within this, and so has a handshake.
inline constexpr std::int64_t kHandshakeMs = 2'000;
inline constexpr std::int64_t kRequestMs = 2'000;
// The page waits so long for its reader at once, and in all so long as this rate needs.
inline constexpr std::int64_t kAnswerMs = 5'000;
inline constexpr std::int64_t kSlowestBytesPerS = 64 << 10;

// symnas-metrics is started again after its end: at once costs a processor if it cannot work.
inline constexpr std::int64_t kAgainMs = 1'000;
inline constexpr std::int64_t kAgainMsMax = 30'000;
inline constexpr std::int64_t kEndMs = 2'000;  // after that it is killed

}  // namespace symnas::vnfsd::metrics
