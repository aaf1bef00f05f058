// Bounds of HTTP, each with its reason.
#pragma once

#include <cstddef>

namespace symnas::vnfsd {

// Of a request: a token, and what a browser sends.
inline constexpr std::size_t kHeaderBytesMax = 16 << 10;
// What a client may still send when it has been answered, and for how long nothing may come of it.
inline constexpr std::size_t kLingerBytesMax = 256 << 10;
inline constexpr int kLingerMs = 200;

// Connections that the kernel keeps until they are accepted. One that finds no place there tries
// again after a second.
inline constexpr int kBacklog = 128;

}  // namespace symnas::vnfsd
