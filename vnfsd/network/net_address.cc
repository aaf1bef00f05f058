#include "vnfsd/network/net_address.h"

#include <arpa/inet.h>
#include <cctype>

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "vnfsd/network/gateways.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("address '{}': {}", text, why));
}

// Sets or clears everything behind the first `prefix_length` bits.
IpAddress with_host_bits(IpAddress address, unsigned prefix_length, std::uint8_t fill) {
  for (unsigned bit = prefix_length; bit < address.bits(); ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80u >> (bit % 8));
    auto& byte = address.bytes[bit / 8];
    byte = static_cast<std::uint8_t>((byte & ~mask) | (fill & mask));
  }
  return address;
}

Result<Cidr> checked_ipv4(const Cidr& vip, std::string_view text) {
  const std::uint8_t first = vip.address.bytes[0];
  if (first == 0 || first == 127 || first >= 224) return bad(text, "not a host's address");
  if (vip.prefix_length < 31 && (vip.address == vip.network() || vip.address == vip.last())) {
    return bad(text, "it is the network's own or its broadcast address");
  }
  return vip;
}

// RFC 4291, 2.5 to 2.7.
Result<Cidr> checked_ipv6(const Cidr& vip, std::string_view text) {
  if (is_link_local(vip.address)) {
    return bad(text,
               "it is link-local: clients would have to name their device (give a unique local "
               "address, fd00::/8, or a global one)");
  }
  static constexpr std::array<std::uint8_t, 10> kZeros{};
  const bool special = std::equal(kZeros.begin(), kZeros.end(), vip.address.bytes.begin());
  if (special || vip.address.bytes[0] == 0xff) return bad(text, "not a host's address");
  if (vip.prefix_length < 127 && vip.address == vip.network()) {
    return bad(text, "it is the anycast address of the network's routers");
  }
  return vip;
}

}  // namespace

Result<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string copy(text);
  IpAddress address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.family = AddressFamily::kIpv6;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return bad(text, "not an IP address (write it as 10.0.0.1 or fd00::1)");
}

std::string IpAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family == AddressFamily::kIpv4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(text.substr(0, slash)));
  Cidr cidr{address, address.bits()};
  if (slash == std::string_view::npos) return cidr;
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), cidr.prefix_length);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      cidr.prefix_length > address.bits()) {
    return bad(text, fmt::format("the prefix length must be 0 to {}", address.bits()));
  }
  return cidr;
}

std::string Cidr::to_string() const {
  return fmt::format("{}/{}", address.to_string(), prefix_length);
}

IpAddress Cidr::network() const { return with_host_bits(address, prefix_length, 0x00); }
IpAddress Cidr::last() const { return with_host_bits(address, prefix_length, 0xff); }

bool Cidr::contains(const IpAddress& other) const {
  return other.family == address.family && with_host_bits(other, prefix_length, 0x00) == network();
}

Result<Cidr> parse_vip(std::string_view text) {
  if (text.find('/') == std::string_view::npos) {
    return bad(text, "a VIP needs the prefix length of its network (10.0.0.101/24, fd00::101/64)");
  }
  SYMNAS_ASSIGN(const Cidr vip, Cidr::parse(text));
  if (vip.prefix_length == 0) {
    return bad(text, fmt::format("a VIP's prefix length must be 1 to {}", vip.address.bits()));
  }
  return vip.address.family == AddressFamily::kIpv4 ? checked_ipv4(vip, text)
                                                    : checked_ipv6(vip, text);
}

Result<Cidr> vip_after(const Cidr& vip, std::uint32_t steps) {
  Cidr after = vip;
  std::uint64_t carry = steps;
  for (std::size_t at = vip.address.size_bytes(); at-- > 0;) {
    carry += after.address.bytes[at];
    after.address.bytes[at] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
  if (carry != 0 || !vip.contains(after.address)) {
    return bad(vip.to_string(), fmt::format("its network has no address {} after it", steps));
  }
  return parse_vip(after.to_string());
}

Result<std::string> normalise_client(std::string_view text) {
  if (text == "*") return std::string("*");
  SYMNAS_ASSIGN(const Cidr client, Cidr::parse(text));
  if (client.address != client.network()) {
    return bad(text, fmt::format("host bits are set (did you mean {}/{}?)",
                                 client.network().to_string(), client.prefix_length));
  }
  if (client.prefix_length >= 100 && client.prefix_length < 128) {
    return bad(text, "ganesha knows the prefix lengths 0 to 99 and 128 of IPv6 clients only");
  }
  return client.to_string();
}

namespace {

constexpr std::size_t kWhoBytesMax = 255;  // of a host's name (RFC 1035, 2.3.4)

bool consists_of(std::string_view text, std::string_view marks) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || marks.find(static_cast<char>(c)) != marks.npos;
  });
}

}  // namespace

Result<std::string> normalise_who(std::string_view text) {
  if (text == "*") return std::string("*");
  if (text.size() > kWhoBytesMax) return bad(text, "it is too long");
  if (text.starts_with('@')) {
    if (consists_of(text.substr(1), "._-")) return std::string(text);
    return bad(text, "not a netgroup (@ and letters, digits, '.', '_' or '-')");
  }
  // A name has a letter that no address has.
  const bool is_name =
      text.find(':') == text.npos && text.find('/') == text.npos &&
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  if (!is_name) return normalise_client(text);
  if (!consists_of(text, "._-*?[]!")) {
    return bad(text, "not a host, a name with wildcards, a network or a netgroup");
  }
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

Who classify_who(std::string_view text) {
  if (text == "*") return {WhoKind::kEverybody, false, 0};
  if (text.starts_with('@')) return {WhoKind::kNetgroup, true, 0};
  if (const auto network = Cidr::parse(text)) {
    const bool is_host = network->prefix_length == network->address.bits();
    return {is_host ? WhoKind::kHost : WhoKind::kNetwork, false, network->prefix_length};
  }
  const bool wild = text.find_first_of("*?[") != text.npos;
  return {wild ? WhoKind::kWildcard : WhoKind::kHost, true, 0};
}

}  // namespace symnas::vnfsd
