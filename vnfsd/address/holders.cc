#include "vnfsd/address/holders.h"

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "vnfsd/address/packet_socket.h"

namespace symnas::vnfsd::address {
namespace {

using Clock = std::chrono::steady_clock;

// A lost question or answer is asked for again; RFC 5227 sends three, at longer pauses than an
// outage leaves time for.
constexpr std::int64_t kAskPauseMs = 20;
constexpr std::int64_t kSliceMs = 5;  // how soon `enough` is heard
constexpr std::size_t kFrameBytesMax = 2048;
constexpr std::uint8_t kHopLimit = 255;  // RFC 4861, 7.1: of every message of neighbour discovery

struct __attribute__((packed)) ArpFrame {
  ether_header ethernet;
  ether_arp arp;
};

struct __attribute__((packed)) SolicitFrame {
  ether_header ethernet;
  ip6_hdr ip;
  nd_neighbor_solicit solicit;
};

template <class Frame>
std::string bytes_of(const Frame& frame) {
  return std::string(reinterpret_cast<const char*>(&frame), sizeof frame);
}

std::string arp_probe(const MacAddress& from, const IpAddress& address) {
  ArpFrame frame{};
  std::fill_n(frame.ethernet.ether_dhost, ETH_ALEN, std::uint8_t{0xff});
  std::copy_n(from.data(), ETH_ALEN, frame.ethernet.ether_shost);
  frame.ethernet.ether_type = htons(ETHERTYPE_ARP);
  frame.arp.arp_hrd = htons(ARPHRD_ETHER);
  frame.arp.arp_pro = htons(ETHERTYPE_IP);
  frame.arp.arp_hln = ETH_ALEN;
  frame.arp.arp_pln = 4;
  frame.arp.arp_op = htons(ARPOP_REQUEST);
  std::copy_n(from.data(), ETH_ALEN, frame.arp.arp_sha);
  std::copy_n(address.bytes.data(), 4, frame.arp.arp_tpa);
  return bytes_of(frame);
}

// RFC 4443, 2.3: over a pseudo header of addresses, length and protocol, then the message.
std::uint16_t icmp6_checksum(const SolicitFrame& frame) {
  std::string covered(reinterpret_cast<const char*>(&frame.ip.ip6_src), 32);
  covered += std::string{0, 0, 0, static_cast<char>(sizeof frame.solicit), 0, 0, 0, IPPROTO_ICMPV6};
  covered.append(reinterpret_cast<const char*>(&frame.solicit), sizeof frame.solicit);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < covered.size(); i += 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, covered.data() + i, sizeof word);
    sum += word;
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::string solicitation(const MacAddress& from, const IpAddress& address) {
  // The solicited-node group of the address (RFC 4291, 2.7.1), and its MAC (RFC 2464, 7).
  std::array<std::uint8_t, 16> group{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
  std::copy_n(address.bytes.begin() + 13, 3, group.begin() + 13);
  SolicitFrame frame{};
  frame.ethernet.ether_dhost[0] = frame.ethernet.ether_dhost[1] = 0x33;
  std::copy_n(group.begin() + 12, 4, frame.ethernet.ether_dhost + 2);
  std::copy_n(from.data(), ETH_ALEN, frame.ethernet.ether_shost);
  frame.ethernet.ether_type = htons(ETHERTYPE_IPV6);
  frame.ip.ip6_vfc = 0x60;
  frame.ip.ip6_plen = htons(sizeof frame.solicit);
  frame.ip.ip6_nxt = IPPROTO_ICMPV6;
  frame.ip.ip6_hlim = kHopLimit;
  std::copy_n(group.begin(), group.size(), frame.ip.ip6_dst.s6_addr);
  frame.solicit.nd_ns_type = ND_NEIGHBOR_SOLICIT;
  std::memcpy(&frame.solicit.nd_ns_target, address.bytes.data(), 16);
  frame.solicit.nd_ns_cksum = icmp6_checksum(frame);
  return bytes_of(frame);
}

std::optional<Holder> arp_sender(std::string_view frame) {
  ArpFrame arp{};
  if (frame.size() < sizeof arp) return std::nullopt;
  std::memcpy(&arp, frame.data(), sizeof arp);
  if (arp.arp.arp_pro != htons(ETHERTYPE_IP) || arp.arp.arp_hln != ETH_ALEN ||
      arp.arp.arp_pln != 4) {
    return std::nullopt;
  }
  Holder holder;
  std::copy_n(arp.arp.arp_spa, 4, holder.address.bytes.begin());
  std::copy_n(arp.arp.arp_sha, ETH_ALEN, holder.mac.begin());
  if (holder.address == IpAddress{}) return std::nullopt;  // it asks in the name of nobody
  return holder;
}

std::optional<Holder> advertiser(std::string_view frame) {
  struct __attribute__((packed)) {
    ether_header ethernet;
    ip6_hdr ip;
    nd_neighbor_advert advert;
  } message{};
  if (frame.size() < sizeof message) return std::nullopt;
  std::memcpy(&message, frame.data(), sizeof message);
  if (message.ip.ip6_nxt != IPPROTO_ICMPV6 || message.ip.ip6_hlim != kHopLimit ||
      message.advert.nd_na_type != ND_NEIGHBOR_ADVERT || message.advert.nd_na_code != 0) {
    return std::nullopt;
  }
  Holder holder;
  holder.address.family = AddressFamily::kIpv6;
  std::memcpy(holder.address.bytes.data(), &message.advert.nd_na_target, 16);
  std::copy_n(message.ethernet.ether_shost, ETH_ALEN, holder.mac.begin());
  return holder;
}

tl::unexpected<Error> failed(const std::string& device, const char* what) {
  return fail(ErrorCode::kIo, fmt::format("network device {}: asking who has an address: {}: {}",
                                          device, what, std::strerror(errno)));
}

struct Device {
  int index = 0;
  MacAddress mac;
};

Result<Device> find_device(int fd, const std::string& name) {
  ifreq request{};
  std::copy_n(name.data(), std::min(name.size(), sizeof request.ifr_name - 1), request.ifr_name);
  Device device;
  if (::ioctl(fd, SIOCGIFINDEX, &request) != 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("network device {}: does not exist on this head", name));
  }
  device.index = request.ifr_ifindex;
  if (::ioctl(fd, SIOCGIFHWADDR, &request) != 0) return failed(name, "reading its MAC");
  std::memcpy(device.mac.data(), request.ifr_hwaddr.sa_data, device.mac.size());
  return device;
}

// Lets only advertisements in, of all that IPv6 carries: the device may be busy with NFS. Offsets:
// Ethernet header, IPv6 next header at 6, ICMPv6 type behind its 40 bytes.
Status let_advertisements_in(int fd, const std::string& name) {
  static sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + 6),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 3),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + 40),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ND_NEIGHBOR_ADVERT, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kFrameBytesMax),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog filter{sizeof program / sizeof program[0], program};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0) return {};
  return failed(name, "filter");
}

// A packet for everybody comes to a card only if somebody wants it. Advertisements are such packets
// (RFC 4861, 7.2.4: to all nodes, when a question came from nobody).
Status join_all_nodes(int fd, const std::string& name, const Device& device) {
  packet_mreq group{};
  group.mr_ifindex = device.index;
  group.mr_type = PACKET_MR_MULTICAST;
  group.mr_alen = ETH_ALEN;
  const MacAddress all_nodes{0x33, 0x33, 0, 0, 0, 1};
  std::copy_n(all_nodes.data(), ETH_ALEN, group.mr_address);
  if (::setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof group) == 0) return {};
  return failed(name, "joining all nodes");
}

Result<PacketSocket> open_on(const std::string& name, const Device& device, AddressFamily family) {
  PacketSocket fd(UniqueFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (!fd.valid()) return failed(name, "socket");
  if (family == AddressFamily::kIpv6) {
    SYMNAS_TRY(let_advertisements_in(fd.get(), name));
    SYMNAS_TRY(join_all_nodes(fd.get(), name, device));
  }
  sockaddr_ll here{};
  here.sll_family = AF_PACKET;
  here.sll_protocol = htons(family == AddressFamily::kIpv4 ? ETH_P_ARP : ETH_P_IPV6);
  here.sll_ifindex = device.index;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    return failed(name, "listening");
  }
  return fd;
}

// One for each family that is asked for.
Result<std::vector<PacketSocket>> open_for(const std::string& name, const Device& device,
                                           const std::vector<IpAddress>& addresses) {
  std::vector<PacketSocket> sockets;
  for (const AddressFamily family : {AddressFamily::kIpv4, AddressFamily::kIpv6}) {
    const bool wanted = std::any_of(addresses.begin(), addresses.end(),
                                    [&](const IpAddress& one) { return one.family == family; });
    if (!wanted) continue;
    SYMNAS_ASSIGN(PacketSocket fd, open_on(name, device, family));
    sockets.push_back(std::move(fd));
  }
  return sockets;
}

void hear(int fd, const Device& device, const std::vector<IpAddress>& addresses,
          std::vector<Holder>& holders) {
  char buffer[kFrameBytesMax];
  for (;;) {
    sockaddr_ll from{};
    socklen_t from_size = sizeof from;
    const ssize_t size =
        ::recvfrom(fd, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0) return;
    if (from.sll_pkttype == PACKET_OUTGOING) continue;
    const auto holder = holder_in({buffer, static_cast<std::size_t>(size)});
    if (!holder || holder->mac == device.mac) continue;
    const bool asked =
        std::find(addresses.begin(), addresses.end(), holder->address) != addresses.end();
    const bool known = std::find(holders.begin(), holders.end(), *holder) != holders.end();
    if (asked && !known) holders.push_back(*holder);
  }
}

}  // namespace

std::string mac_text(const MacAddress& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3],
                     mac[4], mac[5]);
}

std::string question_frame(const MacAddress& from, const IpAddress& address) {
  return address.family == AddressFamily::kIpv4 ? arp_probe(from, address)
                                                : solicitation(from, address);
}

std::optional<Holder> holder_in(std::string_view frame) {
  ether_header ethernet{};
  if (frame.size() < sizeof ethernet) return std::nullopt;
  std::memcpy(&ethernet, frame.data(), sizeof ethernet);
  if (ethernet.ether_type == htons(ETHERTYPE_ARP)) return arp_sender(frame);
  if (ethernet.ether_type == htons(ETHERTYPE_IPV6)) return advertiser(frame);
  return std::nullopt;
}

Result<std::vector<Holder>> who_has(const std::string& device_name,
                                    const std::vector<IpAddress>& addresses, Patience patience) {
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any.valid()) return failed(device_name, "socket");
  SYMNAS_ASSIGN(const Device device, find_device(any.get(), device_name));
  SYMNAS_ASSIGN(const std::vector<PacketSocket> sockets, open_for(device_name, device, addresses));
  std::vector<pollfd> entries;
  for (const PacketSocket& fd : sockets) entries.push_back({fd.get(), POLLIN, 0});
  std::vector<Holder> holders;
  const auto began = Clock::now();
  std::int64_t next_ms = 0;
  while (!entries.empty()) {
    const std::int64_t now_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
    const bool enough = patience.enough != nullptr && patience.enough->load();
    if (now_ms >= patience.window_ms || (enough && now_ms >= patience.min_ms)) break;
    if (now_ms >= next_ms) {
      next_ms = now_ms + kAskPauseMs;
      for (const IpAddress& address : addresses) {
        const std::string frame = question_frame(device.mac, address);
        if (::send(entries[0].fd, frame.data(), frame.size(), 0) < 0)
          return failed(device_name, "sending");
      }
    }
    ::poll(entries.data(), entries.size(), static_cast<int>(kSliceMs));
    for (const pollfd& entry : entries) hear(entry.fd, device, addresses, holders);
  }
  return holders;
}

std::vector<MacAddress> device_macs() {
  std::vector<MacAddress> out;
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::unique_ptr<struct if_nameindex[], void (*)(struct if_nameindex*)> links(
      ::if_nameindex(), ::if_freenameindex);
  if (!links || !fd.valid()) return out;
  for (const struct if_nameindex* link = links.get(); link->if_index != 0; ++link) {
    const auto device = find_device(fd.get(), link->if_name);
    if (!device || device->mac == MacAddress{}) continue;
    if (std::find(out.begin(), out.end(), device->mac) == out.end()) out.push_back(device->mac);
  }
  return out;
}

}  // namespace symnas::vnfsd::address
