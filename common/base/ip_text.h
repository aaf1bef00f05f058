// Addresses of IPv4 and IPv6 in one form: IPv4 as IPv6 has it, ::ffff:10.0.0.1 (RFC 4291, 2.5.5.2).
// Pure.
#pragma once

#include <netinet/in.h>

#include <string>

namespace symnas {

in6_addr ipv4_mapped(const in_addr& address);
// As people write it: "10.0.0.1", "2001:db8::1".
std::string ip_text(const in6_addr& address);

}  // namespace symnas
