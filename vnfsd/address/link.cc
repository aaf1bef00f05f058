#include "vnfsd/address/link.h"

#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "vnfsd/address/netlink.h"
#include "vnfsd/address/route.h"
#include "vnfsd/network/gateways.h"

namespace symnas::vnfsd::address {
namespace {

enum class LinkKind { kIpvlan, kMacvlan };

Result<unsigned> index_of(const std::string& link) {
  const unsigned index = if_nametoindex(link.c_str());
  if (index == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("network device {}: does not exist on this head", link));
  }
  return index;
}

void put_link(nlmsghdr* header, const NewLink& link, unsigned parent, LinkKind kind) {
  auto* info = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifinfomsg)));
  info->ifi_family = AF_UNSPEC;
  mnl_attr_put_strz(header, IFLA_IFNAME, link.name.c_str());
  mnl_attr_put_u32(header, IFLA_LINK, parent);
  mnl_attr_put_u32(header, IFLA_NET_NS_FD, static_cast<std::uint32_t>(link.netns_fd));
  if (link.mtu != 0) mnl_attr_put_u32(header, IFLA_MTU, link.mtu);
  if (kind == LinkKind::kMacvlan) {
    mnl_attr_put(header, IFLA_ADDRESS, link.mac.size(), link.mac.data());
  }
  nlattr* linkinfo = mnl_attr_nest_start(header, IFLA_LINKINFO);
  mnl_attr_put_strz(header, IFLA_INFO_KIND, kind == LinkKind::kIpvlan ? "ipvlan" : "macvlan");
  nlattr* data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
  if (kind == LinkKind::kIpvlan) {
    mnl_attr_put_u16(header, IFLA_IPVLAN_MODE, IPVLAN_MODE_L2);
  } else {
    mnl_attr_put_u32(header, IFLA_MACVLAN_MODE, MACVLAN_MODE_BRIDGE);
  }
  mnl_attr_nest_end(header, data);
  mnl_attr_nest_end(header, linkinfo);
}

// `fill` appends what is to be changed.
Status change(const std::string& link, std::uint16_t type, const char* what,
              const std::function<void(nlmsghdr*, ifinfomsg*)>& fill) {
  SYMNAS_ASSIGN(const unsigned index, index_of(link));
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  return netlink.request(type, 0, fmt::format("link {}: {}", link, what), [&](nlmsghdr* header) {
    auto* info = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifinfomsg)));
    info->ifi_family = AF_UNSPEC;
    info->ifi_index = static_cast<int>(index);
    fill(header, info);
  });
}

void put_address(nlmsghdr* header, unsigned index, const Cidr& address) {
  auto* info = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifaddrmsg)));
  info->ifa_family = address.address.family == AddressFamily::kIpv4 ? AF_INET : AF_INET6;
  info->ifa_prefixlen = static_cast<unsigned char>(address.prefix_length);
  info->ifa_scope = RT_SCOPE_UNIVERSE;
  info->ifa_index = index;
  const std::size_t size = address.address.size_bytes();
  mnl_attr_put(header, IFA_LOCAL, size, address.address.bytes.data());
  mnl_attr_put(header, IFA_ADDRESS, size, address.address.bytes.data());
}

struct LinkAddress {
  std::string link;
  Cidr address;
};

// Without those that the kernel makes itself (fe80::).
Result<std::vector<LinkAddress>> addresses_of(const std::string& prefix) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return fail(ErrorCode::kIo, fmt::format("addresses: {}", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, ::freeifaddrs);
  std::vector<LinkAddress> out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || !std::string_view(entry->ifa_name).starts_with(prefix))
      continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto bytes = [&](const sockaddr* from) {
      return family == AF_INET ? reinterpret_cast<const std::uint8_t*>(
                                     &reinterpret_cast<const sockaddr_in*>(from)->sin_addr)
                               : reinterpret_cast<const std::uint8_t*>(
                                     &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr);
    };
    LinkAddress& one = out.emplace_back();
    one.link = entry->ifa_name;
    IpAddress& address = one.address.address;
    address.family = family == AF_INET ? AddressFamily::kIpv4 : AddressFamily::kIpv6;
    std::copy_n(bytes(entry->ifa_addr), address.size_bytes(), address.bytes.begin());
    int length = 0;
    for (std::size_t i = 0; i < address.size_bytes(); ++i) {
      length += std::popcount(bytes(entry->ifa_netmask)[i]);
    }
    one.address.prefix_length = static_cast<decltype(one.address.prefix_length)>(length);
    if (is_link_local(address)) out.pop_back();
  }
  return out;
}

}  // namespace

MacAddress mac_for(std::string_view head, std::string_view vnfs, std::string_view network) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::string_view part : {head, vnfs, network}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash = (hash ^ 0xff) * 0x100000001b3u;  // between the parts; no name holds it
  }
  MacAddress mac{0x02};
  for (std::size_t i = 1; i < mac.size(); ++i) mac[i] = static_cast<std::uint8_t>(hash >> (8 * i));
  return mac;
}

Status create_link(const NewLink& link) {
  SYMNAS_ASSIGN(const unsigned parent, index_of(link.device));
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  Status made;
  for (const LinkKind kind : {LinkKind::kIpvlan, LinkKind::kMacvlan}) {
    made = netlink.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
                           fmt::format("link {} on device {}: making it", link.name, link.device),
                           [&](nlmsghdr* header) { put_link(header, link, parent, kind); });
    // Not supported: no ipvlan in this kernel. Busy: the device carries macvlan links already.
    if (made ||
        (made.error().code != ErrorCode::kNotSupported && made.error().code != ErrorCode::kBusy)) {
      return made;
    }
  }
  return made;
}

Status add_address(const std::string& link, const Cidr& address) {
  SYMNAS_ASSIGN(const unsigned index, index_of(link));
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  SYMNAS_TRY(let_speak(address.address));
  const Status added = netlink.request(
      RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL,
      fmt::format("address {} on link {}: adding it", address.to_string(), link),
      [&](nlmsghdr* header) {
        put_address(header, index, address);
        if (address.address.family == AddressFamily::kIpv6) {
          // Without the second in which its conflicts would be looked for (RFC 4862, 5.4): it is
          // nobody else's, its owner record says so.
          static_cast<ifaddrmsg*>(mnl_nlmsg_get_payload(header))->ifa_flags = IFA_F_NODAD;
        } else if (address.prefix_length < 31) {
          const IpAddress broadcast = address.last();
          mnl_attr_put(header, IFA_BROADCAST, broadcast.size_bytes(), broadcast.bytes.data());
        }
      });
  if (!added && added.error().code == ErrorCode::kAlreadyExists) return {};
  return added;
}

Result<std::vector<IpAddress>> addresses_on(const std::string& prefix) {
  SYMNAS_ASSIGN(const auto present, addresses_of(prefix));
  std::vector<IpAddress> out;
  for (const LinkAddress& one : present) out.push_back(one.address.address);
  return out;
}

Status remove_addresses(const std::string& prefix) {
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  SYMNAS_ASSIGN(const auto present, addresses_of(prefix));
  Status last;
  for (const LinkAddress& one : present) {
    SYMNAS_ASSIGN(const unsigned index, index_of(one.link));
    const Status silenced = silence(one.address.address);
    if (!silenced) last = silenced;
    const Status removed = netlink.request(
        RTM_DELADDR, 0,
        fmt::format("address {} on link {}: removing it", one.address.to_string(), one.link),
        [&](nlmsghdr* header) { put_address(header, index, one.address); });
    if (!removed) last = removed;
  }
  if (last) return {};
  // Some go together with the first of their network.
  SYMNAS_ASSIGN(const auto left, addresses_of(prefix));
  return left.empty() ? Status() : last;
}

Status delete_links(const std::string& prefix) {
  const std::unique_ptr<struct if_nameindex[], void (*)(struct if_nameindex*)> links(
      ::if_nameindex(), ::if_freenameindex);
  if (!links) return fail(ErrorCode::kIo, fmt::format("links: {}", std::strerror(errno)));
  for (const struct if_nameindex* link = links.get(); link->if_index != 0; ++link) {
    if (!std::string_view(link->if_name).starts_with(prefix)) continue;
    SYMNAS_TRY(change(link->if_name, RTM_DELLINK, "removing it", [](nlmsghdr*, ifinfomsg*) {}));
  }
  return {};
}

Status set_mac(const std::string& link, const MacAddress& mac) {
  return change(link, RTM_NEWLINK, "setting its MAC", [&](nlmsghdr* header, ifinfomsg*) {
    mnl_attr_put(header, IFLA_ADDRESS, mac.size(), mac.data());
  });
}

Status set_link_up(const std::string& link) {
  return change(link, RTM_NEWLINK, "setting it up", [](nlmsghdr*, ifinfomsg* info) {
    info->ifi_change = IFF_UP;
    info->ifi_flags = IFF_UP;
  });
}

Status inside_netns(int netns_fd, const std::function<Status()>& body) {
  Status result;
  std::thread([&] {
    if (::setns(netns_fd, CLONE_NEWNET) != 0) {
      result = fail(ErrorCode::kIo,
                    fmt::format("network namespace: cannot enter: {}", std::strerror(errno)));
      return;
    }
    result = body();
  }).join();
  return result;
}

}  // namespace symnas::vnfsd::address
