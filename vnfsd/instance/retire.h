// How a running instance is made to end without a trace for its clients. Thread-safe functions
// without state.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/instance/process.h"

namespace symnas::vnfsd::instance {

struct Retired {
  std::int64_t requests_ms = 0;
  std::int64_t replies_ms = 0;
  std::int64_t close_ms = 0;
  std::uint64_t kept = 0;
  std::string unsent;  // which replies did not reach their clients; "" = all did
};

// Tells the instance behind `control` (docs/formats/instance_control.md) to finish what was begun,
// to begin nothing more and to close its mounts; what was begun gets timeout_ms for its end.
// Errors: kUnavailable (it does not answer or cannot: its message), kCorrupt.
Result<Retired> retire(const std::string& control, std::int64_t timeout_ms);

// The connections of its clients; empty when they cannot be read.
std::vector<Connection> connections_of(const Process& process);

// Takes every NFS link of its namespace down. Nothing that it sends, as by being killed, reaches a
// client any more.
Status take_links_down(const Process& process);

}  // namespace symnas::vnfsd::instance
