// Packets of one TCP segment. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vnfsd/address/link.h"

namespace symnas::vnfsd::address {

// The packet that tickle() sends, from the IP header on (RFC 791, RFC 8200, RFC 9293; no options).
// REQUIRES: both ends are of one family.
std::string tickle_packet(const TcpEnd& local, const TcpEnd& remote,
                          std::optional<std::uint32_t> sequence);

}  // namespace symnas::vnfsd::address
