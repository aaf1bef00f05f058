// Holders: finds out who answers for an address on a network now, without taking the address (RFC
// 5227, 2.1; RFC 4862, 5.4). Thread-safe: functions without state.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/address/link.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::address {

struct Holder {
  IpAddress address;
  MacAddress mac;
  friend bool operator==(const Holder&, const Holder&) = default;
};

// "02:3a:..." in lower case.
std::string mac_text(const MacAddress& mac);

// The frame that asks for `address` in the name of nobody: an ARP probe (RFC 5227, 2.1.1) or a
// neighbour solicitation from the unspecified address (RFC 4862, 5.4.2).
std::string question_frame(const MacAddress& from, const IpAddress& address);
// The host that says in this Ethernet frame that an address is its own: the sender of an ARP packet
// (RFC 826) or the target of a neighbour advertisement (RFC 4861, 4.4). nullopt: none says so.
std::optional<Holder> holder_in(std::string_view frame);

// How long to ask: window_ms, or less when `enough` becomes true after at least min_ms.
struct Patience {
  std::int64_t min_ms = 0;
  std::int64_t window_ms = 0;
  const std::atomic<bool>* enough = nullptr;
};
// Asks from `device` of the calling thread's namespace, several times in the window, and returns
// who else has any of the addresses; links on that device are not heard (macvlan, ipvlan), and the
// device's own addresses do not count. Errors: kNotFound (no such device), kIo.
Result<std::vector<Holder>> who_has(const std::string& device,
                                    const std::vector<IpAddress>& addresses, Patience patience);

// The MAC of every network device of the calling thread's namespace that has one.
std::vector<MacAddress> device_macs();

}  // namespace symnas::vnfsd::address
