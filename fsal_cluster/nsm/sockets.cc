#include "fsal_cluster/nsm/sockets.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/ip_text.h"
#include "fsal_cluster/nsm/limits.h"

namespace symnas::nsm {
namespace {

std::optional<in6_addr> parse(const std::string& text) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return ipv4_mapped(v4);
  if (::inet_pton(AF_INET6, text.c_str(), &v6) == 1) return v6;
  return std::nullopt;
}

sockaddr_in6 address_of(const in6_addr& address, std::uint16_t port) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  out.sin6_addr = address;
  return out;
}

const sockaddr* generic(const sockaddr_in6& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

tl::unexpected<Error> failed(std::string_view what) {
  return fail(ErrorCode::kIo, fmt::format("status monitor: {}: {}", what, std::strerror(errno)));
}

Result<UniqueFd> open_dual(int type) {
  UniqueFd fd(::socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int off = 0;
  if (!fd.valid() || ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0)
    return failed("a socket");
  return fd;
}

Result<UniqueFd> open_bound(int type, std::uint16_t port) {
  SYMNAS_ASSIGN(UniqueFd fd, open_dual(type));
  const int on = 1;
  const sockaddr_in6 any = address_of(in6addr_any, port);
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), generic(any), sizeof any) != 0) {
    return failed(fmt::format("port {}", port));
  }
  return fd;
}

// Binds to `address` and a reserved port, or to any port when none is free. Errors: kIo (the
// address is not there: the VNFS may not have its VIPs yet).
Status bind_reserved(int fd, const in6_addr& address) {
  constexpr unsigned kCount = kReservedPortsEnd - kReservedPortsBegin;
  const unsigned first = std::random_device()() % kCount;
  for (unsigned i = 0; i < kCount; ++i) {
    const auto port = static_cast<std::uint16_t>(kReservedPortsBegin + (first + i) % kCount);
    const sockaddr_in6 local = address_of(address, port);
    if (::bind(fd, generic(local), sizeof local) == 0) return {};
    if (errno != EADDRINUSE) break;
  }
  const sockaddr_in6 local = address_of(address, 0);
  if (::bind(fd, generic(local), sizeof local) == 0) return {};
  return failed(ip_text(address));
}

Status set_timeout(int fd, std::int64_t timeout_ms) {
  const timeval timeout{timeout_ms / 1000, timeout_ms % 1000 * 1000};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (::setsockopt(fd, SOL_SOCKET, option, &timeout, sizeof timeout) != 0)
      return failed("a time-out");
  }
  return {};
}

// Reads exactly `bytes` bytes of a stream; "" when they do not come.
std::string read_exactly(int fd, std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t size = ::recv(fd, out.data() + done, bytes - done, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return "";
    done += static_cast<std::size_t>(size);
  }
  return out;
}

}  // namespace

Peer peer_of(const sockaddr_in6& from) { return {ip_text(from.sin6_addr), ntohs(from.sin6_port)}; }

Peer Datagram::peer() const { return peer_of(from); }

Result<UniqueFd> open_udp(std::uint16_t port) {
  SYMNAS_ASSIGN(UniqueFd fd, open_bound(SOCK_DGRAM, port));
  const int on = 1;
  if (::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) != 0)
    return failed("IPV6_RECVPKTINFO");
  return fd;
}

Result<UniqueFd> listen_tcp(std::uint16_t port) {
  SYMNAS_ASSIGN(UniqueFd fd, open_bound(SOCK_STREAM, port));
  if (::listen(fd.get(), static_cast<int>(kConnectionsMax)) != 0) return failed("listening");
  return fd;
}

Result<UniqueFd> open_sender(const std::string& address) {
  const auto local = parse(address);
  if (!local) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("status monitor: {} is no IP address", address));
  }
  SYMNAS_ASSIGN(UniqueFd fd, open_dual(SOCK_DGRAM));
  SYMNAS_TRY(bind_reserved(fd.get(), *local));
  return fd;
}

std::optional<Datagram> receive(int fd) {
  std::array<char, kMessageBytesMax> buffer;
  std::array<char, 128> control;
  Datagram datagram;
  iovec data{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_name = &datagram.from;
  message.msg_namelen = sizeof datagram.from;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(fd, &message, MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != IPPROTO_IPV6 || header->cmsg_type != IPV6_PKTINFO) continue;
    in6_pktinfo info;
    std::memcpy(&info, CMSG_DATA(header), sizeof info);
    datagram.to = info.ipi6_addr;
  }
  datagram.bytes.assign(buffer.data(), static_cast<std::size_t>(size));
  return datagram;
}

void reply_to(int fd, const Datagram& question, std::string_view bytes) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  sockaddr_in6 to = question.from;
  iovec data{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_IPV6;
  header->cmsg_type = IPV6_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof(in6_pktinfo));
  in6_pktinfo info{};
  info.ipi6_addr = question.to;
  std::memcpy(CMSG_DATA(header), &info, sizeof info);
  (void)::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool send_to(int fd, const std::string& address, std::uint16_t port, std::string_view bytes) {
  const auto remote = parse(address);
  if (!remote) return false;
  const sockaddr_in6 to = address_of(*remote, port);
  return ::sendto(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, generic(to),
                  sizeof to) == static_cast<ssize_t>(bytes.size());
}

namespace {

Status set_at_port_mapper(const UniqueFd& fd, const RpcCall& set) {
  const std::string call = encode_call(set);
  for (int attempt = 0; attempt < kPortmapTries; ++attempt) {
    send_to(fd.get(), "127.0.0.1", kPortmapPort, call);
    pollfd entry{fd.get(), POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(kPortmapTimeoutMs)) != 1) continue;
    const auto datagram = receive(fd.get());
    const auto reply = datagram ? decode_reply(datagram->bytes) : std::nullopt;
    if (!reply || reply->xid != set.xid) continue;
    if (reply->succeeded && reply->results.size() >= 4 && read_be32(reply->results, 0) == 1)
      return {};
    break;
  }
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("status monitor: its port cannot be registered with rpcbind ({}): clients "
                  "that reboot cannot tell us, and their locks stay",
                  set.version == 2 ? "IPv4" : "IPv6"));
}

}  // namespace

Status register_port(Transport transport, std::uint16_t port) {
  SYMNAS_ASSIGN(const UniqueFd fd, open_sender("127.0.0.1"));
  std::random_device random;
  SYMNAS_TRY(set_at_port_mapper(fd, portmap_set(random(), transport, port)));
  return set_at_port_mapper(fd, rpcbind_set(random(), transport, port));
}

bool has_way(const std::string& from, const std::string& to) {
  const auto local = parse(from);
  const auto remote = parse(to);
  if (!local || !remote) return false;
  const auto fd = open_dual(SOCK_DGRAM);
  if (!fd) return false;
  const sockaddr_in6 bound = address_of(*local, 0);
  const sockaddr_in6 peer = address_of(*remote, kNsmPort);
  return ::bind(fd->get(), generic(bound), sizeof bound) == 0 &&
         ::connect(fd->get(), generic(peer), sizeof peer) == 0;
}

Status call_loopback(std::uint16_t port, const RpcCall& call, std::int64_t timeout_ms) {
  const auto unanswered = [&](std::string_view why) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("status monitor: port {} of this instance: {}", port, why));
  };
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  SYMNAS_TRY(set_timeout(fd.get(), timeout_ms));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    return unanswered(std::strerror(errno));
  const std::string message = encode_call(call);
  const std::string bytes = record_mark(message.size()) + message;
  if (::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size())) {
    return unanswered(std::strerror(errno));
  }
  const std::string mark = read_exactly(fd.get(), 4);
  const auto size = mark.empty() ? std::nullopt : fragment_bytes(mark);
  if (!size || *size > kMessageBytesMax) return unanswered("no answer");
  const auto reply = decode_reply(read_exactly(fd.get(), *size));
  if (!reply || reply->xid != call.xid || !reply->succeeded) return unanswered("it refused");
  return {};
}

}  // namespace symnas::nsm
