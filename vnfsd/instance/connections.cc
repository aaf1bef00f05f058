#include "vnfsd/instance/connections.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <string>
#include <unordered_map>

#include <fmt/core.h>

namespace symnas::vnfsd::instance {
namespace {

constexpr std::uint32_t kEstablished = 1;  // TCP_ESTABLISHED of linux/net_tcp_states.h

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0100007F" or 32 digits: words of the machine, each in its own byte order.
std::optional<IpAddress> address_of(std::string_view text) {
  if (text.size() != 8 && text.size() != 32) return std::nullopt;
  IpAddress address;
  for (std::size_t word = 0; word < text.size() / 8; ++word) {
    const auto value = number<std::uint32_t>(text.substr(word * 8, 8), 16);
    if (!value) return std::nullopt;
    std::memcpy(address.bytes.data() + word * 4, &*value, 4);
  }
  if (text.size() == 8) return address;
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(std::begin(kMapped), std::end(kMapped), address.bytes.begin())) {
    IpAddress v4;
    std::copy_n(address.bytes.begin() + 12, 4, v4.bytes.begin());
    return v4;
  }
  address.family = AddressFamily::kIpv6;
  return address;
}

std::optional<Endpoint> endpoint_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string_view view(text);
  const auto address = address_of(view.substr(0, colon));
  const auto port = number<std::uint16_t>(view.substr(colon + 1), 16);
  if (!address || !port) return std::nullopt;
  return Endpoint{*address, *port};
}

tl::unexpected<Error> unparsable(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}': not ADDRESS:PORT", text));
}

}  // namespace

Result<Endpoint> Endpoint::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return unparsable(text);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = number<std::uint16_t>(text.substr(colon + 1), 10);
  if (!port) return unparsable(text);
  SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(host));
  return Endpoint{address, *port};
}

std::string Endpoint::to_string() const {
  if (address.family == AddressFamily::kIpv4) {
    return fmt::format("{}:{}", address.to_string(), port);
  }
  return fmt::format("[{}]:{}", address.to_string(), port);
}

Result<Connection> Connection::parse(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return unparsable(text);
  SYMNAS_ASSIGN(const Endpoint local, Endpoint::parse(text.substr(0, space)));
  std::string_view rest = text.substr(space + 1);
  Connection connection{local, {}, {}};
  if (const std::size_t second = rest.find(' '); second != std::string_view::npos) {
    connection.sequence = number<std::uint32_t>(rest.substr(second + 1), 10);
    if (!connection.sequence) return unparsable(text);
    rest = rest.substr(0, second);
  }
  SYMNAS_ASSIGN(connection.remote, Endpoint::parse(rest));
  return connection;
}

std::string Connection::to_string() const {
  const std::string ends = fmt::format("{} {}", local.to_string(), remote.to_string());
  return sequence ? fmt::format("{} {}", ends, *sequence) : ends;
}

std::vector<Connection> connections_from(const std::vector<std::string>& texts) {
  std::vector<Connection> out;
  for (const std::string& text : texts) {
    if (const auto connection = Connection::parse(text)) out.push_back(*connection);
  }
  return out;
}

void add_missing(std::vector<Connection>& all, const std::vector<Connection>& more) {
  const auto ends = [](const Connection& one) {
    return one.local.to_string() + " " + one.remote.to_string();
  };
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < all.size(); ++i) known.emplace(ends(all[i]), i);
  for (const Connection& one : more) {
    const auto [at, is_new] = known.emplace(ends(one), all.size());
    if (is_new) {
      all.push_back(one);
    } else if (one.sequence) {
      all[at->second].sequence = one.sequence;
    }
  }
}

// "  0: 0100007F:0801 0200007F:03E9 01 ...": local address, remote address, state.
std::vector<Connection> established(const std::string& proc_net_tcp, std::uint16_t port) {
  std::vector<Connection> found;
  std::istringstream lines(proc_net_tcp);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string slot;
    std::string local;
    std::string remote;
    std::string state;
    if (!(words >> slot >> local >> remote >> state)) continue;
    const auto from = endpoint_of(local);
    const auto to = endpoint_of(remote);
    if (!from || !to || from->port != port) continue;
    if (number<std::uint32_t>(state, 16) == kEstablished) found.push_back({*from, *to, {}});
  }
  return found;
}

// "Tcp: RtoAlgorithm RtoMin ..." and, in the next line, "Tcp: 1 200 ...".
std::optional<std::uint64_t> passive_opens(const std::string& proc_net_snmp) {
  std::istringstream lines(proc_net_snmp);
  std::string names;
  while (std::getline(lines, names) && !names.starts_with("Tcp: ")) continue;
  std::string values;
  std::getline(lines, values);
  std::istringstream name_words(names);
  std::istringstream value_words(values);
  std::string name;
  std::string value;
  while (name_words >> name && value_words >> value) {
    if (name == "PassiveOpens") return number<std::uint64_t>(value, 10);
  }
  return std::nullopt;
}

}  // namespace symnas::vnfsd::instance
