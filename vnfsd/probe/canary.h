// Canary: asks VIPs whether NFS answers there. Thread-safe: a function without state.
#pragma once

#include <cstdint>
#include <vector>

#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::probe {

enum class Sign {
  kNone,      // no connection: nothing listens, or nothing is there
  kAccepted,  // a kernel took the connection: it lives, however late its ganesha is
  kAnswered,
};

// The best sign of life that any of them gives when it gets a NULL call of NFS version 3 (RFC 1813,
// 3.3.0; RFC 5531, 9): kAnswered at once, else what timeout_ms brought. Asks all at once, from this
// thread's network namespace.
Sign any_sign(const std::vector<IpAddress>& vips, std::int64_t timeout_ms);

// The VIPs in a network where this head has an address of its own, and its link is up: without one
// a question would go nowhere, and no answer would mean nothing.
std::vector<IpAddress> in_reach(const std::vector<Cidr>& vips);

}  // namespace symnas::vnfsd::probe
