// The connections of this process's clients, and what they still carry. Functions without state.
// (/proc/net/tcp tells the same, but reading it takes milliseconds: it walks the whole machine's
// table of sockets.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symnas::plugin {

struct ClientSocket {
  int fd = -1;
  std::string ends;  // "LOCAL:PORT REMOTE:PORT", IPv4-mapped addresses as IPv4
};

// Those that are connected to the local `port`.
std::vector<ClientSocket> client_sockets(std::uint16_t port);
// Bytes that the clients have not acknowledged. What has been closed meanwhile counts as nothing.
std::uint64_t unacknowledged_bytes(const std::vector<ClientSocket>& sockets);
// Without those that are silent: what was sent to them has been sent again at least `times` times,
// each time twice as long after the time before, and no acknowledgement came (tcp(7), TCP_INFO).
std::vector<ClientSocket> without_silent(std::vector<ClientSocket> sockets, std::uint8_t times);
// For people: which of them have unacknowledged bytes, how many, and what TCP did about it (tcp(7),
// TCP_INFO). The first kOutstandingNamed by name: it goes into the move's record.
std::string describe_outstanding(const std::vector<ClientSocket>& sockets);

// Clients may keep an acknowledgement back for 40 ms and more (delayed ACK): makes them send it
// now, by a window probe on every connection that has something outstanding. REQUIRES: nothing is
// being written to these connections. Needs CAP_NET_ADMIN; without it, or where the kernel cannot,
// nothing happens. Source: do_tcp_setsockopt in the kernel's tcp.c: leaving TCP_REPAIR sends the
// probe.
void ask_for_acknowledgements(const std::vector<ClientSocket>& sockets);
// For each socket: its ends and, if the kernel tells it, the sequence number of the next byte to
// the client. REQUIRES: as above.
std::vector<std::string> describe_connections(const std::vector<ClientSocket>& sockets);

}  // namespace symnas::plugin
