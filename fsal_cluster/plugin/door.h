// Door: what every RPC request passes before anything is done for it. Shut, it begins no request
// any more; those that come are kept, unanswered, until the process ends.
//
// Thread class: thread-safe. Invariant: after a shut without `unsent` every request of this process
// has either been answered, with its reply in the client's hands, or has not been begun.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::plugin {

struct Delivered {
  std::int64_t replies_ms = 0;           // until the clients had acknowledged every reply
  std::uint64_t kept = 0;                // requests that were not begun
  std::string unsent;                    // what did not reach the clients; "" = everything did
  std::vector<std::string> connections;  // describe_connections()
};

// From now on every request passes the door.
void guard_door();
// Shuts it, then waits until what was begun is done; answers how long that took, in milliseconds.
// Errors: kUnavailable after timeout_ms (requests that do not end: a LUN or etcd hangs).
// Repeatable. It stays shut.
Result<std::int64_t> shut_door(std::int64_t timeout_ms);
// Then: waits until the replies have reached the clients. Those that acknowledge nothing for
// kRepliesMs are not waited for, nor those that were silent for as long before it.
Delivered deliver_replies();

}  // namespace symnas::plugin
