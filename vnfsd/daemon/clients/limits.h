// Bounds of writing down clients, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// The connected clients are recorded every kClientsLookMs, and as soon as a look every
// kNewClientsLookMs shows that a client has come: a client that is in no record when the head
// crashes waits for an answer until its own time-out, up to a minute.
inline constexpr std::int64_t kNewClientsLookMs = 50;
inline constexpr std::int64_t kClientsLookMs = 1'000;

}  // namespace symnas::vnfsd::daemon
