#include "vnfsd/probe/devices.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <bit>
#include <cstring>
#include <optional>

namespace symnas::vnfsd::probe {
namespace {

std::optional<IpAddress> address_of(const sockaddr* from) {
  IpAddress address;
  if (from == nullptr) return std::nullopt;
  if (from->sa_family == AF_INET) {
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(from)->sin_addr, 4);
  } else if (from->sa_family == AF_INET6) {
    address.family = AddressFamily::kIpv6;
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr, 16);
  } else {
    return std::nullopt;
  }
  return address;
}

unsigned prefix_of(const IpAddress& mask) {
  unsigned bits = 0;
  for (const auto byte : mask.bytes) bits += std::popcount(static_cast<unsigned char>(byte));
  return bits;
}

}  // namespace

std::map<std::string, Device> devices() {
  std::map<std::string, Device> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    Device& device = out[entry->ifa_name];
    device.running = (entry->ifa_flags & IFF_RUNNING) != 0;
    const auto address = address_of(entry->ifa_addr);
    const auto mask = address_of(entry->ifa_netmask);
    if (address && mask) device.addresses.push_back({*address, prefix_of(*mask)});
  }
  ::freeifaddrs(list);
  return out;
}

}  // namespace symnas::vnfsd::probe
