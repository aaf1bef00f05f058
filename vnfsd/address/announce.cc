#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "vnfsd/address/link.h"
#include "vnfsd/address/packet_socket.h"

namespace symnas::vnfsd::address {
namespace {

// Ethernet header and ARP packet (RFC 826).
struct __attribute__((packed)) ArpFrame {
  ether_header ethernet;
  ether_arp arp;
};

ArpFrame gratuitous(const std::uint8_t* mac, const IpAddress& address, std::uint16_t operation) {
  ArpFrame frame{};
  std::fill_n(frame.ethernet.ether_dhost, ETH_ALEN, std::uint8_t{0xff});
  std::copy_n(mac, ETH_ALEN, frame.ethernet.ether_shost);
  frame.ethernet.ether_type = htons(ETHERTYPE_ARP);
  frame.arp.arp_hrd = htons(ARPHRD_ETHER);
  frame.arp.arp_pro = htons(ETHERTYPE_IP);
  frame.arp.arp_hln = ETH_ALEN;
  frame.arp.arp_pln = 4;
  frame.arp.arp_op = htons(operation);
  std::copy_n(mac, ETH_ALEN, frame.arp.arp_sha);
  std::copy_n(address.bytes.data(), 4, frame.arp.arp_spa);
  if (operation == ARPOP_REPLY) std::copy_n(mac, ETH_ALEN, frame.arp.arp_tha);
  std::copy_n(address.bytes.data(), 4, frame.arp.arp_tpa);
  return frame;
}

// Neighbour advertisement with the target link-layer address option (RFC 4861, 4.4 and 4.6.1).
struct __attribute__((packed)) AdvertisementMessage {
  nd_neighbor_advert advert;
  nd_opt_hdr option;
  std::uint8_t mac[ETH_ALEN];
};

AdvertisementMessage unsolicited(const std::uint8_t* mac, const IpAddress& address) {
  AdvertisementMessage message{};
  message.advert.nd_na_type = ND_NEIGHBOR_ADVERT;
  message.advert.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
  std::copy_n(address.bytes.data(), 16, message.advert.nd_na_target.s6_addr);
  message.option.nd_opt_type = ND_OPT_TARGET_LINKADDR;
  message.option.nd_opt_len = (sizeof message - sizeof message.advert) / 8;
  std::copy_n(mac, ETH_ALEN, message.mac);
  return message;
}
static_assert(sizeof(AdvertisementMessage) % 8 == 0);

struct Announcer {
  const std::string& link;
  const IpAddress& address;

  tl::unexpected<Error> failed(const char* what) const {
    return fail(ErrorCode::kIo, fmt::format("announcing {} on link {}: {}: {}", address.to_string(),
                                            link, what, std::strerror(errno)));
  }
  ifreq request() const {
    ifreq out{};
    std::copy_n(link.data(), std::min(link.size(), sizeof out.ifr_name - 1), out.ifr_name);
    return out;
  }
  // Reads the link's MAC and index, through any socket.
  Status read_link(int fd, std::uint8_t* mac, int& index) const {
    ifreq asked = request();
    if (::ioctl(fd, SIOCGIFHWADDR, &asked) != 0) return failed("reading the MAC");
    std::memcpy(mac, asked.ifr_hwaddr.sa_data, ETH_ALEN);
    if (::ioctl(fd, SIOCGIFINDEX, &asked) != 0) return failed("reading the index");
    index = asked.ifr_ifindex;
    return {};
  }
};

Status announce_ipv4(const Announcer& announcer) {
  const PacketSocket fd(UniqueFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)));
  if (!fd.valid()) return announcer.failed("socket");
  std::uint8_t mac[ETH_ALEN];
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  SYMNAS_TRY(announcer.read_link(fd.get(), mac, to.sll_ifindex));
  to.sll_halen = ETH_ALEN;
  std::fill_n(to.sll_addr, ETH_ALEN, std::uint8_t{0xff});
  // Some hosts only learn from requests, some only from replies.
  for (const std::uint16_t operation : {std::uint16_t{ARPOP_REQUEST}, std::uint16_t{ARPOP_REPLY}}) {
    const ArpFrame frame = gratuitous(mac, announcer.address, operation);
    if (::sendto(fd.get(), &frame, sizeof frame, 0, reinterpret_cast<const sockaddr*>(&to),
                 sizeof to) != static_cast<ssize_t>(sizeof frame)) {
      return announcer.failed("sending");
    }
  }
  return {};
}

// The kernel adds the checksum (RFC 3542, 3.1). Hop limit 255, as receivers demand.
Status announce_ipv6(const Announcer& announcer) {
  const UniqueFd fd(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6));
  if (!fd.valid()) return announcer.failed("socket");
  std::uint8_t mac[ETH_ALEN];
  int index = 0;
  SYMNAS_TRY(announcer.read_link(fd.get(), mac, index));
  const int hops = 255;
  const int no = 0;
  sockaddr_in6 from{};
  from.sin6_family = AF_INET6;
  std::copy_n(announcer.address.bytes.data(), 16, from.sin6_addr.s6_addr);
  if (::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index) != 0 ||
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops) != 0 ||
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &no, sizeof no) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) {
    return announcer.failed("setting up");
  }
  const AdvertisementMessage message = unsolicited(mac, announcer.address);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_scope_id = static_cast<std::uint32_t>(index);
  to.sin6_addr = in6_addr{{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}};  // all nodes
  if (::sendto(fd.get(), &message, sizeof message, 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to) != static_cast<ssize_t>(sizeof message)) {
    return announcer.failed("sending");
  }
  return {};
}

}  // namespace

Status announce(const std::string& link, const IpAddress& address) {
  const Announcer announcer{link, address};
  return address.family == AddressFamily::kIpv4 ? announce_ipv4(announcer)
                                                : announce_ipv6(announcer);
}

}  // namespace symnas::vnfsd::address
