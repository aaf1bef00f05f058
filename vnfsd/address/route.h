// Rules about what may be sent from addresses of a VNFS, whatever routes there are. Functions
// without state; they act on the same network namespace as those of link.h.
#pragma once

#include "common/base/result.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::address {

// From now on nothing is sent from this address. Linux sends from an IPv6 address even when its
// link does not have it any more. It does not from an IPv4 address: then this function has no
// effect. Errors: as Rtnetlink::request().
Status silence(const IpAddress& address);
// Takes silence() back. Success also for an address that was not silenced.
Status let_speak(const IpAddress& address);

}  // namespace symnas::vnfsd::address
