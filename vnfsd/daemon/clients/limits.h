// Bounds of writing down clients, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::daemon {

// Who is connected is written down at each look, and as soon as this one shows that somebody has
// come: whoever is in no record when the head crashes waits for an answer until its own time-out,
// up to a minute.
inline constexpr std::int64_t kNewClientsLookMs = 50;
inline constexpr std::int64_t kClientsLookMs = 1'000;

}  // namespace symnas::vnfsd::daemon
