// The links and addresses of a VNFS. Thread-safe: functions without state; they act on the network
// namespace of the calling thread unless a descriptor of another one is given.
//
// Link kind per network: ipvlan L2 where the kernel has it (no new MAC on the switch port), else
// macvlan in bridge mode with a MAC derived from head + VNFS + network, so that no MAC ever moves
// between switch ports (docs/design.md 6).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::address {

using MacAddress = std::array<std::uint8_t, 6>;

// A MAC that is locally administered and unicast; the same for the same three names.
MacAddress mac_for(std::string_view head, std::string_view vnfs, std::string_view network);

struct NewLink {
  std::string device;     // in the calling thread's namespace
  std::string name;       // in the new namespace
  MacAddress mac;         // used by macvlan only
  std::uint32_t mtu = 0;  // 0 = the device's
  int netns_fd = -1;
};
// Makes a link on `device` directly inside the namespace behind netns_fd; it is down and has no
// address. Errors: kNotFound (no such device), as Rtnetlink::request().
Status create_link(const NewLink& link);

// Adds an address to the link; success also when the link has it already. An IPv6 address can be
// used at once (no duplicate address detection).
Status add_address(const std::string& link, const Cidr& address);
// Errors: kBusy (another link of the device is up with its MAC), as Rtnetlink::request().
Status set_link_up(const std::string& link);
Status set_mac(const std::string& link, const MacAddress& mac);
// Deletes all links whose name begins with `prefix`.
Status delete_links(const std::string& prefix);
// The addresses of every link whose name begins with `prefix`, without those that the kernel makes
// itself. Errors: kIo.
Result<std::vector<IpAddress>> addresses_on(const std::string& prefix);
// Removes the addresses of every link whose name begins with `prefix`. From then on nothing is sent
// from these addresses, not even by a process that is killed, and nothing is answered: much quicker
// than taking the links down.
Status remove_addresses(const std::string& prefix);

// Makes packets from `source` leave by `link`, whatever other links there are: adds a routing table
// (number `table`, 1..252, one per link) with the route to the network of `source` and, if there is
// a gateway, the default route, and a rule that leads packets from the address into this table.
// REQUIRES: the link is up.
Status add_source_route(const std::string& link, const Cidr& source,
                        const std::optional<IpAddress>& gateway, std::uint8_t table);
// Adds the namespace's default route of the gateway's family, for packets whose sender has chosen
// no source address. Success also when the route is there already. REQUIRES: the link is up.
Status add_default_route(const std::string& link, const IpAddress& gateway);

// Tells everybody on the link once who has the address now: by gratuitous ARP (request and reply,
// RFC 5227 section 3), or by an unsolicited neighbour advertisement to all nodes (RFC 4861, 7.2.6).
// REQUIRES: the link is up and has the address. Errors: kNotFound, kIo.
Status announce(const std::string& link, const IpAddress& address);

struct TcpEnd {
  IpAddress address;
  std::uint16_t port = 0;
};
// Tells `remote` that its connection to `local` is over here, so that `remote` connects anew at
// once instead of after its retransmission timeout. `sequence`: the number of the next byte that
// `remote` expects. With a sequence number a reset is sent, which only that connection takes for
// its own (RFC 9293, 3.10.7.4; RFC 5961, 3). Without one an acknowledgement of nothing is sent:
// `remote` answers, unless it has answered something of the kind half a second ago, and its answer
// is answered with a reset. REQUIRES: `local` is an address of this namespace. Errors: kIo,
// kInvalidArgument (two families).
Status tickle(const TcpEnd& local, const TcpEnd& remote, std::optional<std::uint32_t> sequence);

// Runs `body` on a thread of its own inside the network namespace behind netns_fd. Errors: kIo
// (setns), or the body's.
Status inside_netns(int netns_fd, const std::function<Status()>& body);

}  // namespace symnas::vnfsd::address
