// Looks at the way to another head. Thread-safe: functions without state.
#pragma once

#include <string>

#include "vnfsd/network/net_address.h"
#include "vnfsd/preflight/judge.h"

namespace symnas::vnfsd::preflight {

// Echo requests (RFC 792) of normal size and as large as the device's MTU, and connections to
// etcd's ports; each for kAnswerMs at most. IPv4. Needs CAP_NET_RAW.
PathSeen look_at_path(const IpAddress& address);

}  // namespace symnas::vnfsd::preflight
