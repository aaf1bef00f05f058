#include "common/base/ip_text.h"

#include <arpa/inet.h>

#include <cstring>

namespace symnas {

in6_addr ipv4_mapped(const in_addr& address) {
  in6_addr out{};
  out.s6_addr[10] = out.s6_addr[11] = 0xff;
  std::memcpy(&out.s6_addr[12], &address, sizeof address);
  return out;
}

std::string ip_text(const in6_addr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &address, text, sizeof text);
  }
  return text;
}

}  // namespace symnas
