// Whose connection it is. Thread-safe: functions without state.
#pragma once

#include <string>

namespace symnas::vnfsd {

// The peer's IP address; "" if the socket is neither IPv4 nor IPv6.
std::string peer_address(int fd);
// The key under which an address is limited: of IPv6 its first 64 bits, which are one customer's.
std::string limit_key(const std::string& address);

}  // namespace symnas::vnfsd
