// IP addresses and prefixes as administrators write them. Thread-safe: value types and pure
// functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd {

enum class AddressFamily : std::uint8_t { kIpv4, kIpv6 };

struct IpAddress {
  AddressFamily family = AddressFamily::kIpv4;
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 in the first four

  // Dotted quad or RFC 4291 text. Errors: kInvalidArgument.
  static Result<IpAddress> parse(std::string_view text);
  std::string to_string() const;
  unsigned bits() const { return family == AddressFamily::kIpv4 ? 32 : 128; }
  std::size_t size_bytes() const { return bits() / 8; }
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// An address with the length of its network's prefix.
struct Cidr {
  IpAddress address;
  unsigned prefix_length = 0;

  // "a.b.c.d/n"; without "/n" a single host. Errors: kInvalidArgument.
  static Result<Cidr> parse(std::string_view text);
  std::string to_string() const;
  // The address with its host bits cleared.
  IpAddress network() const;
  // IPv4: all host bits set; for IPv6, which has no broadcast address, the last address.
  IpAddress last() const;
  bool contains(const IpAddress& other) const;
};

// A VIP: a host's address with the prefix of its network; not a network, broadcast, loopback,
// multicast, "this host" or (IPv6) link-local address. Errors: kInvalidArgument.
Result<Cidr> parse_vip(std::string_view text);

// The VIP `steps` addresses after `vip`, in the same network. Errors: kInvalidArgument (there is
// none).
Result<Cidr> vip_after(const Cidr& vip, std::uint32_t steps);

// A client specification of an export: a network or host ("10.0.0.0/24", host bits clear), or "*".
// Returns its canonical text. Errors: kInvalidArgument.
Result<std::string> normalise_client(std::string_view text);

// Whom a rule of an export means, in the order in which rules are looked at (exports(5)).
enum class WhoKind : std::uint8_t { kHost, kNetwork, kWildcard, kNetgroup, kEverybody };
struct Who {
  WhoKind kind = WhoKind::kEverybody;
  bool is_name = false;        // of a host, a wildcard or a netgroup: not an address
  unsigned prefix_length = 0;  // of a network
};
// As normalise_client(), and also a host's name, a name with the wildcards of fnmatch(3), or "@"
// and a netgroup. Names become lower case, netgroups do not.
Result<std::string> normalise_who(std::string_view text);
// Of a normalised text.
Who classify_who(std::string_view text);

}  // namespace symnas::vnfsd
