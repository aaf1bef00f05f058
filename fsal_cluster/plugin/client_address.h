// The address of a client in one form. Pure.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base/ip_text.h"

namespace symnas::plugin {

// Without the port, IPv4 mapped. "::" of another family.
inline in6_addr client_address(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6)
    return reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (address.ss_family == AF_INET)
    return ipv4_mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return {};
}

}  // namespace symnas::plugin
