// The connections of this process's clients, and the bytes that are still under way on them.
// Functions without state. (/proc/net/tcp tells the same, but reading it takes milliseconds: it
// walks the whole machine's table of sockets.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symnas::plugin {

struct ClientSocket {
  int fd = -1;
  std::string ends;  // "LOCAL:PORT REMOTE:PORT", IPv4-mapped addresses as IPv4
};

// Sockets that are connected to the local `port`.
std::vector<ClientSocket> client_sockets(std::uint16_t port);
// Bytes that the clients have not acknowledged. A socket that was closed meanwhile counts as 0.
std::uint64_t unacknowledged_bytes(const std::vector<ClientSocket>& sockets);
// The sockets without the silent ones. Silent: what was sent has been sent again at least `times`
// times, each time after twice the wait, and no acknowledgement came (tcp(7), TCP_INFO).
std::vector<ClientSocket> without_silent(std::vector<ClientSocket> sockets, std::uint8_t times);
// Text for people: which sockets have unacknowledged bytes, how many, and what TCP did about it
// (tcp(7), TCP_INFO). Names only the first kOutstandingNamed, because the text goes into the move's
// record.
std::string describe_outstanding(const std::vector<ClientSocket>& sockets);

// Makes clients acknowledge now, by a window probe on every connection that has something
// outstanding: a client may keep an acknowledgement back for 40 ms and more (delayed ACK).
// REQUIRES: nothing is being written to these connections. Needs CAP_NET_ADMIN; without it, or
// where the kernel cannot do it, nothing happens. Source: do_tcp_setsockopt in the kernel's tcp.c:
// leaving TCP_REPAIR sends the probe.
void ask_for_acknowledgements(const std::vector<ClientSocket>& sockets);
// For each socket: its ends and, if the kernel tells it, the sequence number of the next byte to
// the client. REQUIRES: as for ask_for_acknowledgements().
std::vector<std::string> describe_connections(const std::vector<ClientSocket>& sockets);

}  // namespace symnas::plugin
