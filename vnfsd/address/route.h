// What addresses of a VNFS may send, whatever routes there are. Functions without state; as link.h.
#pragma once

#include "common/base/result.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::address {

// IPv6 sends from an address that its link does not have any more (IPv4 does not): from now on
// nothing leaves from it. IPv4: no effect. Errors: as Rtnetlink::request().
Status silence(const IpAddress& address);
// The opposite; also of what was not silenced.
Status let_speak(const IpAddress& address);

}  // namespace symnas::vnfsd::address
