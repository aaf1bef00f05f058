// IPv4 and IPv6 addresses in one form: IPv4 as an IPv6 address, ::ffff:10.0.0.1 (RFC 4291,
// 2.5.5.2). Pure.
#pragma once

#include <netinet/in.h>

#include <string>

namespace symnas {

in6_addr ipv4_mapped(const in_addr& address);
// The text that people write: "10.0.0.1", "2001:db8::1".
std::string ip_text(const in6_addr& address);

}  // namespace symnas
