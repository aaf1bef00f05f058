// Bounds of fsal_cluster/nsm, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::nsm {

// Programs and ports. 32765 is the port that statd has by convention where firewalls must know it.
inline constexpr std::uint16_t kNsmPort = 32765;
inline constexpr std::uint16_t kNlmPort = 32803;  // of ganesha.conf
inline constexpr std::uint16_t kPortmapPort = 111;
// Only a host's administrator can send from a port below this one: an ordinary user of a client
// must not be able to drop its locks.
inline constexpr std::uint16_t kReservedPortsEnd = 1024;
inline constexpr std::uint16_t kReservedPortsBegin = 600;  // below: ports of well-known services

// SM_MAXSTRLEN of X/Open XNFS; RFC 5531 section 8.2: an opaque_auth body.
inline constexpr std::size_t kNameBytesMax = 1024;
inline constexpr std::size_t kAuthBytesMax = 400;
// The largest call: its header, two opaque_auth, a name and some words.
inline constexpr std::size_t kMessageBytesMax = 4096;
static_assert(kMessageBytesMax >= 64 + 2 * kAuthBytesMax + 2 * kNameBytesMax);

// Connections at a time: a client asks once. The oldest makes room for a new one.
inline constexpr std::size_t kConnectionsMax = 16;
// Rebooted clients whose locks are being released at a time; a further client has to repeat its
// notice.
inline constexpr std::size_t kRebootsMax = 64;
// Time-out of a call to the NLM of this instance, which waits for etcd; after it the client
// repeats.
inline constexpr std::int64_t kNlmTimeoutMs = 10'000;

inline constexpr std::int64_t kPortmapTimeoutMs = 1'000;  // of our own, on the same machine
inline constexpr int kPortmapTries = 3;

}  // namespace symnas::nsm
