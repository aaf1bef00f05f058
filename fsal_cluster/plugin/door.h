// Door: what every RPC request passes before anything is done for it. Shut, it begins no request
// any more; those that come are kept, unanswered, until it is opened again or the process ends.
//
// Thread class: thread-safe. Invariant: after a drained shut every request of this process has
// either been answered, with its reply in the client's hands, or has not been begun.
#pragma once

#include <cstdint>

#include "common/base/result.h"

namespace symnas::plugin {

struct Drained {
  std::int64_t requests_ms = 0;  // until the last request that had been begun was done
  std::int64_t replies_ms = 0;   // until the clients had acknowledged every reply
  std::uint64_t kept = 0;        // requests that were not begun
};

// From now on every request passes the door.
void guard_door();
// Shuts it, then waits until what was begun is done and its replies have reached the clients.
// Errors: kUnavailable after timeout_ms (requests that do not end: a LUN or etcd hangs); the door
// stays shut. A client that does not acknowledge its replies is waited for kRepliesMs only.
Result<Drained> shut_door(std::int64_t timeout_ms);
// Begins everything that was kept.
void open_door();

}  // namespace symnas::plugin
