#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "common/base/unique_fd.h"
#include "vnfsd/address/link.h"

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

}  // namespace

Status announce(const std::string& link, const IpAddress& address) {
  const auto failed = [&](const char* what) {
    return fail(ErrorCode::kIo, fmt::format("gratuitous ARP for {} on link {}: {}: {}",
                                            address.to_string(), link, what, std::strerror(errno)));
  };
  const UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ARP)));
  if (!fd.valid()) return failed("socket");
  ifreq request{};
  std::copy_n(link.data(), std::min(link.size(), sizeof request.ifr_name - 1), request.ifr_name);
  if (::ioctl(fd.get(), SIOCGIFHWADDR, &request) != 0) return failed("reading the MAC");
  std::uint8_t mac[ETH_ALEN];
  std::memcpy(mac, request.ifr_hwaddr.sa_data, sizeof mac);
  if (::ioctl(fd.get(), SIOCGIFINDEX, &request) != 0) return failed("reading the index");
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = request.ifr_ifindex;
  to.sll_halen = ETH_ALEN;
  std::fill_n(to.sll_addr, ETH_ALEN, std::uint8_t{0xff});
  // Some hosts only learn from requests, some only from replies.
  for (const std::uint16_t operation : {std::uint16_t{ARPOP_REQUEST}, std::uint16_t{ARPOP_REPLY}}) {
    const ArpFrame frame = gratuitous(mac, address, operation);
    if (::sendto(fd.get(), &frame, sizeof frame, 0, reinterpret_cast<const sockaddr*>(&to),
                 sizeof to) != static_cast<ssize_t>(sizeof frame)) {
      return failed("sending");
    }
  }
  return {};
}

}  // namespace symnas::vnfsd::address
