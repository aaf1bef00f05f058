#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "common/base/unique_fd.h"
#include "vnfsd/address/link.h"

namespace symnas::vnfsd::address {
namespace {

// IPv4 (RFC 791) and TCP (RFC 9293) without options.
struct __attribute__((packed)) Segment {
  iphdr ip;
  tcphdr tcp;
};

// What the checksum of TCP covers beside the segment (RFC 9293, 3.1).
struct __attribute__((packed)) PseudoHeader {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint8_t zero;
  std::uint8_t protocol;
  std::uint16_t length;
  tcphdr tcp;
};

// RFC 1071. `size` is even.
std::uint16_t checksum(const void* data, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + i, sizeof word);
    sum += word;
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::uint32_t network_order(const IpAddress& address) {
  std::uint32_t value = 0;
  std::memcpy(&value, address.bytes.data(), sizeof value);
  return value;
}

Segment segment_of(const TcpEnd& local, const TcpEnd& remote,
                   std::optional<std::uint32_t> sequence) {
  Segment segment{};
  segment.ip.version = 4;
  segment.ip.ihl = sizeof segment.ip / 4;
  segment.ip.tot_len = htons(sizeof segment);
  segment.ip.ttl = 64;
  segment.ip.protocol = IPPROTO_TCP;
  segment.ip.saddr = network_order(local.address);
  segment.ip.daddr = network_order(remote.address);
  segment.tcp.source = htons(local.port);
  segment.tcp.dest = htons(remote.port);
  segment.tcp.doff = sizeof segment.tcp / 4;
  if (sequence) {
    segment.tcp.rst = 1;
    segment.tcp.seq = htonl(*sequence);
  } else {
    segment.tcp.ack = 1;
    segment.tcp.window = htons(1024);
  }
  const PseudoHeader covered{segment.ip.saddr, segment.ip.daddr,          0,
                             IPPROTO_TCP,      htons(sizeof segment.tcp), segment.tcp};
  segment.tcp.check = checksum(&covered, sizeof covered);
  return segment;
}

}  // namespace

Status tickle(const TcpEnd& local, const TcpEnd& remote, std::optional<std::uint32_t> sequence) {
  if (local.address.family != AddressFamily::kIpv4 ||
      remote.address.family != AddressFamily::kIpv4) {
    return fail(ErrorCode::kNotSupported, "tickle: IPv4 only");
  }
  const UniqueFd fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  const Segment segment = segment_of(local, remote, sequence);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = segment.ip.daddr;
  if (!fd.valid() ||
      ::sendto(fd.get(), &segment, sizeof segment, 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to) != static_cast<ssize_t>(sizeof segment)) {
    return fail(ErrorCode::kIo,
                fmt::format("tickle: {}: {}", remote.address.to_string(), std::strerror(errno)));
  }
  return {};
}

}  // namespace symnas::vnfsd::address
