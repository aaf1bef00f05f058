#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "vnfsd/address/link.h"
#include "vnfsd/address/segment.h"

namespace symnas::vnfsd::address {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Port 0, as raw sockets want it.
SocketAddress socket_address(const IpAddress& address) {
  SocketAddress out;
  if (address.family == AddressFamily::kIpv4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, address.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&out.storage, &v4, out.size = sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&out.storage, &v6, out.size = sizeof v6);
  }
  return out;
}

}  // namespace

Status tickle(const TcpEnd& local, const TcpEnd& remote, std::optional<std::uint32_t> sequence) {
  if (local.address.family != remote.address.family) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("tickle: {} and {} are of two families", local.address.to_string(),
                            remote.address.to_string()));
  }
  const SocketAddress from = socket_address(local.address);
  const SocketAddress to = socket_address(remote.address);
  const std::string packet = tickle_packet(local, remote, sequence);
  const UniqueFd fd(::socket(from.storage.ss_family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  // Bound, so that the routing rules see the source, which only the packet names otherwise.
  if (!fd.valid() || ::bind(fd.get(), from.get(), from.size) != 0 ||
      ::sendto(fd.get(), packet.data(), packet.size(), 0, to.get(), to.size) !=
          static_cast<ssize_t>(packet.size())) {
    return fail(ErrorCode::kIo,
                fmt::format("tickle: {}: {}", remote.address.to_string(), std::strerror(errno)));
  }
  return {};
}

}  // namespace symnas::vnfsd::address
