// Bounds of telling states, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

// A head writes at most once in this time, whatever its instances do: nobody who looks at a screen
// misses the states in between, and etcd has two small writes a second from a head in trouble.
inline constexpr std::int64_t kStatesLookMs = 500;
// Of each text. A head with 100 VNFSs in trouble tells 150 KB.
inline constexpr std::size_t kToldTextBytesMax = 500;

}  // namespace symnas::vnfsd::daemon
