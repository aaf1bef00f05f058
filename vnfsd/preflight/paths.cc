#include "vnfsd/preflight/paths.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "vnfsd/config/limits.h"
#include "vnfsd/preflight/limits.h"

namespace symnas::vnfsd::preflight {
namespace {

constexpr std::size_t kIpHeaderBytes = 20;
constexpr std::size_t kNormalBytes = 64;

sockaddr_in socket_address(const IpAddress& address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  std::copy_n(address.bytes.begin(), 4, reinterpret_cast<std::uint8_t*>(&out.sin_addr));
  return out;
}

// RFC 1071.
std::uint16_t checksum(const std::vector<std::uint8_t>& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  if (bytes.size() % 2 != 0) sum += static_cast<std::uint32_t>(bytes.back() << 8);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// Whether an echo request whose IP packet has so many bytes is answered.
bool is_answered(int socket, std::size_t packet_bytes, std::uint16_t sequence) {
  std::vector<std::uint8_t> request(packet_bytes - kIpHeaderBytes);
  request[0] = ICMP_ECHO;
  const auto id = static_cast<std::uint16_t>(::getpid());
  request[4] = static_cast<std::uint8_t>(id >> 8);
  request[5] = static_cast<std::uint8_t>(id);
  request[7] = static_cast<std::uint8_t>(sequence);
  const std::uint16_t sum = checksum(request);
  request[2] = static_cast<std::uint8_t>(sum >> 8);
  request[3] = static_cast<std::uint8_t>(sum);
  if (::send(socket, request.data(), request.size(), 0) < 0) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kAnswerMs);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd entry{socket, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) <= 0) return false;
    std::uint8_t answer[128];
    const ssize_t size = ::recv(socket, answer, sizeof answer, 0);
    if (size < static_cast<ssize_t>(kIpHeaderBytes)) continue;
    const std::size_t header = (answer[0] & 0xfU) * 4;
    if (size < static_cast<ssize_t>(header + 8)) continue;
    const std::uint8_t* icmp = answer + header;
    const bool ours = icmp[0] == ICMP_ECHOREPLY && icmp[4] == request[4] && icmp[5] == request[5] &&
                      icmp[7] == request[7];
    if (ours) return true;
  }
}

PathSeen::Port try_port(const IpAddress& address, std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in to = socket_address(address, port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
    return PathSeen::Port::kOpen;
  if (errno == ECONNREFUSED) return PathSeen::Port::kRefused;
  pollfd entry{fd.get(), POLLOUT, 0};
  if (errno != EINPROGRESS || ::poll(&entry, 1, static_cast<int>(kAnswerMs)) <= 0)
    return PathSeen::Port::kSilent;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return PathSeen::Port::kOpen;
  return error == ECONNREFUSED ? PathSeen::Port::kRefused : PathSeen::Port::kSilent;
}

}  // namespace

PathSeen look_at_path(const IpAddress& address) {
  PathSeen seen;
  seen.address = address.to_string();
  if (address.family != AddressFamily::kIpv4) {
    seen.error = "management addresses are IPv4";
    return seen;
  }
  const UniqueFd fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  const sockaddr_in to = socket_address(address, 0);
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    seen.error = std::strerror(errno);
    return seen;
  }
  const int discover = IP_PMTUDISC_PROBE;  // not fragmented, whatever was learnt of the path
  ::setsockopt(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover);
  int mtu = 0;
  socklen_t size = sizeof mtu;
  ::getsockopt(fd.get(), IPPROTO_IP, IP_MTU, &mtu, &size);
  seen.mtu = static_cast<std::uint32_t>(mtu);
  seen.answers = is_answered(fd.get(), kIpHeaderBytes + kNormalBytes, 1);
  seen.answers_full = seen.answers && mtu > 0 &&
                      is_answered(fd.get(), static_cast<std::size_t>(std::min(mtu, 65'535)), 2);
  seen.client = try_port(address, kEtcdClientPort);
  seen.peer = try_port(address, kEtcdPeerPort);
  return seen;
}

}  // namespace symnas::vnfsd::preflight
