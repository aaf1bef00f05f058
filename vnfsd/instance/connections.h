// The TCP connections of an instance's clients. Functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::instance {

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  // "10.0.0.1:2049", "[2001:db8::1]:2049". Errors: kInvalidArgument.
  static Result<Endpoint> parse(std::string_view text);
  std::string to_string() const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct Connection {
  Endpoint local;
  Endpoint remote;
  std::optional<std::uint32_t> sequence;  // of the next byte to the client

  // "LOCAL REMOTE" or "LOCAL REMOTE SEQUENCE". Errors: kInvalidArgument.
  static Result<Connection> parse(std::string_view text);
  std::string to_string() const;
  friend bool operator==(const Connection&, const Connection&) = default;
};

// Those of the texts that can be parsed.
std::vector<Connection> connections_from(const std::vector<std::string>& texts);

// Adds to `all` those connections of `more` whose ends `all` does not have; of the others the
// sequence number, if `more` knows one, which is the later one.
void add_missing(std::vector<Connection>& all, const std::vector<Connection>& more);

// The connections that are established on the local `port`, from the text of /proc/net/tcp or tcp6
// (proc(5)), IPv4-mapped addresses as IPv4. Lines that cannot be parsed are left out.
std::vector<Connection> established(const std::string& proc_net_tcp, std::uint16_t port);

// How many connections were ever accepted, on all ports: PassiveOpens of the text of /proc/net/snmp
// (RFC 4022 tcpPassiveOpens). nullopt: the text does not have it.
std::optional<std::uint64_t> passive_opens(const std::string& proc_net_snmp);

}  // namespace symnas::vnfsd::instance
