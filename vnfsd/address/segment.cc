#include "vnfsd/address/segment.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>

#include <cstring>
#include <string_view>

#include "common/base/bytes.h"

namespace symnas::vnfsd::address {
namespace {

constexpr std::uint8_t kHops = 64;

template <class Header>
std::string bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::string_view bytes_of(const IpAddress& address) {
  return {reinterpret_cast<const char*>(address.bytes.data()), address.size_bytes()};
}

// RFC 1071. The size is even.
std::uint16_t checksum(std::string_view data) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < data.size(); i += 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, data.data() + i, sizeof word);
    sum += word;
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// The header that the checksum of TCP covers before the segment: RFC 9293, 3.1 and RFC 8200, 8.1.
// The fields of both have the same sum.
std::string pseudo_header(const TcpEnd& local, const TcpEnd& remote) {
  std::string out(bytes_of(local.address));
  out += bytes_of(remote.address);
  append_be32(out, sizeof(tcphdr));
  append_be32(out, IPPROTO_TCP);
  return out;
}

std::string segment_of(const TcpEnd& local, const TcpEnd& remote,
                       std::optional<std::uint32_t> sequence) {
  tcphdr tcp{};
  tcp.source = htons(local.port);
  tcp.dest = htons(remote.port);
  tcp.doff = sizeof tcp / 4;
  if (sequence) {
    tcp.rst = 1;
    tcp.seq = htonl(*sequence);
  } else {
    tcp.ack = 1;
    tcp.window = htons(1024);
  }
  tcp.check = checksum(pseudo_header(local, remote) + bytes_of(tcp));
  return bytes_of(tcp);
}

std::string ipv4_header(const TcpEnd& local, const TcpEnd& remote) {
  iphdr ip{};
  ip.version = 4;
  ip.ihl = sizeof ip / 4;
  ip.tot_len = htons(sizeof ip + sizeof(tcphdr));
  ip.ttl = kHops;
  ip.protocol = IPPROTO_TCP;
  std::memcpy(&ip.saddr, local.address.bytes.data(), sizeof ip.saddr);
  std::memcpy(&ip.daddr, remote.address.bytes.data(), sizeof ip.daddr);
  ip.check = checksum(bytes_of(ip));
  return bytes_of(ip);
}

std::string ipv6_header(const TcpEnd& local, const TcpEnd& remote) {
  ip6_hdr ip{};
  ip.ip6_flow = htonl(std::uint32_t{6} << 28);
  ip.ip6_plen = htons(sizeof(tcphdr));
  ip.ip6_nxt = IPPROTO_TCP;
  ip.ip6_hlim = kHops;
  std::memcpy(&ip.ip6_src, local.address.bytes.data(), sizeof ip.ip6_src);
  std::memcpy(&ip.ip6_dst, remote.address.bytes.data(), sizeof ip.ip6_dst);
  return bytes_of(ip);
}

}  // namespace

std::string tickle_packet(const TcpEnd& local, const TcpEnd& remote,
                          std::optional<std::uint32_t> sequence) {
  const std::string ip = local.address.family == AddressFamily::kIpv4 ? ipv4_header(local, remote)
                                                                      : ipv6_header(local, remote);
  return ip + segment_of(local, remote, sequence);
}

}  // namespace symnas::vnfsd::address
