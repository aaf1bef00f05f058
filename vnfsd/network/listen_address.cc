#include "vnfsd/network/listen_address.h"

#include <charconv>

#include <fmt/core.h>

#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: must be ADDRESS:PORT or [ADDRESS]:PORT, with a port from 1 to "
                            "65535",
                            text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view address = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (bracketed) address = address.substr(1, address.size() - 2);
  const auto parsed = IpAddress::parse(address);
  if (!parsed || bracketed != (parsed->family == AddressFamily::kIpv6)) return wrong();
  ListenAddress out{parsed->to_string(), 0};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), out.port);
  if (error != std::errc{} || end != digits.end() || out.port == 0) return wrong();
  return out;
}

}  // namespace symnas::vnfsd
