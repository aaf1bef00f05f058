// Door: a door that every RPC request passes before anything is done for the request. While it is
// shut no request is begun: requests that come are kept, unanswered, until the process ends.
//
// Thread class: thread-safe. Invariant: after a shut without `unsent`, every request of this
// process either has been answered, with its reply in the client's hands, or has not been begun.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::plugin {

struct Delivered {
  std::int64_t replies_ms = 0;           // until the clients had acknowledged all replies
  std::uint64_t kept = 0;                // requests that were not begun
  std::string unsent;                    // which replies have not reached the clients; "": all have
  std::vector<std::string> connections;  // describe_connections()
};

// From now on every request passes the door.
void guard_door();
// Shuts the door, then waits until the requests that were begun are done; returns how long that
// took, in milliseconds. Errors: kUnavailable after timeout_ms (requests that do not end, because a
// LUN or etcd hangs). Repeatable. The door stays shut.
Result<std::int64_t> shut_door(std::int64_t timeout_ms);
// Called after shut_door(): waits until the replies have reached the clients. Not waited for are
// clients that acknowledge nothing for kRepliesMs, and clients that were silent for long before the
// call (kSilentAfterRetransmits).
Delivered deliver_replies();

}  // namespace symnas::plugin
