#include "vnfsd/network/gateways.h"

#include <fmt/core.h>

namespace symnas::vnfsd {

Result<Gateways> Gateways::parse(std::string_view text) {
  Gateways gateways;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(text.substr(0, comma)));
    auto& place = address.family == AddressFamily::kIpv4 ? gateways.ipv4 : gateways.ipv6;
    if (place) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("gateways {} and {}: one of each family is wanted (10.0.0.254,fd00::1)",
                      place->to_string(), address.to_string()));
    }
    place = address;
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return gateways;
}

bool is_link_local(const IpAddress& address) {
  return address.family == AddressFamily::kIpv6 && address.bytes[0] == 0xfe &&
         (address.bytes[1] & 0xc0) == 0x80;
}

}  // namespace symnas::vnfsd
