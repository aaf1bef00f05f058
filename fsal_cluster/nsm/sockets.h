// Sockets of the status monitor, for IPv4 and IPv6, and what is sent through them. Functions
// without state. An IPv4 address is written as IPv4, not as an IPv4-mapped one.
//
// All of them act on the network namespace of the calling thread.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/nsm/status_monitor.h"

namespace symnas::nsm {

Peer peer_of(const sockaddr_in6& from);

// Both sockets are bound to every address. Errors: kIo.
Result<UniqueFd> open_udp(std::uint16_t port);
Result<UniqueFd> listen_tcp(std::uint16_t port);
// UDP, bound to `address` and a reserved port, or any port when none is free. Errors: kIo,
// kInvalidArgument (no IP address).
Result<UniqueFd> open_sender(const std::string& address);

struct Datagram {
  std::string bytes;
  sockaddr_in6 from{};
  in6_addr to{};  // our address that it was sent to
  Peer peer() const;
};
// nullopt: no datagram is there.
std::optional<Datagram> receive(int fd);
// Sends from the address that `question` was sent to. A reply that cannot be sent is lost, like any
// datagram.
void reply_to(int fd, const Datagram& question, std::string_view bytes);
// False: there is no way to `address` (yet).
bool send_to(int fd, const std::string& address, std::uint16_t port, std::string_view bytes);

// Whether `from` is an address of ours by now, and there is a way from it to `to`. Sends nothing.
bool has_way(const std::string& from, const std::string& to);

// Registers program 100024 with the port mapper of this machine, for IPv4 and IPv6. Blocks at most
// some seconds. Errors: kUnavailable (no answer, or the port mapper refused).
Status register_port(Transport transport, std::uint16_t port);

// Makes one call over TCP to 127.0.0.1; OK when it was answered with success. Blocks at most
// timeout_ms. Errors: kUnavailable.
Status call_loopback(std::uint16_t port, const RpcCall& call, std::int64_t timeout_ms);

}  // namespace symnas::nsm
