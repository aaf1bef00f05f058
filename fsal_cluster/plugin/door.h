// Door: what every RPC request passes before anything is done for it. Shut, it begins no request
// any more; those that come are kept, unanswered, until the process ends.
//
// Thread class: thread-safe. Invariant: after a shut without `unsent` every request of this process
// has either been answered, with its reply in the client's hands, or has not been begun.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace symnas::plugin {

struct Drained {
  std::int64_t requests_ms = 0;  // until the last request that had been begun was done
  std::int64_t replies_ms = 0;   // until the clients had acknowledged every reply
  std::uint64_t kept = 0;        // requests that were not begun
  std::string unsent;            // what did not reach the clients; "" = everything did
};

// From now on every request passes the door.
void guard_door();
// Shuts it, then waits until what was begun is done and its replies have reached the clients.
// Errors: kUnavailable after timeout_ms (requests that do not end: a LUN or etcd hangs). Clients
// that acknowledge nothing for kRepliesMs are not waited for. Repeatable. It stays shut.
Result<Drained> shut_door(std::int64_t timeout_ms);

}  // namespace symnas::plugin
