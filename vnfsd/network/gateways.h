// The gateways of a network, as its record has them. Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/result.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd {

struct Gateways {
  std::optional<IpAddress> ipv4;
  std::optional<IpAddress> ipv6;  // may be link-local

  // "10.0.0.254", "fe80::1,10.0.0.254", "". Errors: kInvalidArgument (no address, two of a family).
  static Result<Gateways> parse(std::string_view text);
  const std::optional<IpAddress>& of(AddressFamily family) const {
    return family == AddressFamily::kIpv4 ? ipv4 : ipv6;
  }
};

bool is_link_local(const IpAddress& address);  // fe80::/10 (RFC 4291, 2.5.6)

}  // namespace symnas::vnfsd
