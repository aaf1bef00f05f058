// Milestones of this instance for the timeline of a move (docs/design.md 6). Thread-safe functions;
// noting costs one load when there is nothing new.
#pragma once

#include <cstdint>

namespace symnas::plugin {

// CLOCK_MONOTONIC; 0: not yet.
struct Milestones {
  std::int64_t first_request_ns = 0;  // begun for a client; a NULL call does not count
  std::int64_t last_reclaim_ns = 0;   // granted reclaim of an open or a lock
};

void note_request();
void note_reclaim();
Milestones milestones();

}  // namespace symnas::plugin
