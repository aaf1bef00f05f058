#include "fsal_cluster/plugin/send_queues.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {
namespace {

struct End {
  std::uint16_t port = 0;
  std::string text;
};

// `get`: getsockname or getpeername. False when the socket has no such end.
template <class Get>
bool read_end(int fd, Get get, End& out) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (get(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return false;
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    out.port = ntohs(v4.sin_port);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    out.text = fmt::format("{}:{}", text, out.port);
    return true;
  }
  if (storage.ss_family != AF_INET6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &storage, sizeof v6);
  out.port = ntohs(v6.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof text);
    out.text = fmt::format("{}:{}", text, out.port);
  } else {
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    out.text = fmt::format("[{}]:{}", text, out.port);
  }
  return true;
}

std::uint64_t outstanding(int fd) {
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

std::optional<tcp_info> info_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return info;
}

bool repair(int fd, int mode) {
  return ::setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &mode, sizeof mode) == 0;
}

}  // namespace

std::vector<ClientSocket> client_sockets(std::uint16_t port) {
  std::vector<ClientSocket> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    End local;
    End remote;
    if (!read_end(fd, ::getsockname, local) || local.port != port) continue;
    if (!read_end(fd, ::getpeername, remote)) continue;  // it is a listening socket
    out.push_back({fd, local.text + ' ' + remote.text});
  }
  return out;
}

std::uint64_t unacknowledged_bytes(const std::vector<ClientSocket>& sockets) {
  std::uint64_t bytes = 0;
  for (const ClientSocket& socket : sockets) bytes += outstanding(socket.fd);
  return bytes;
}

void ask_for_acknowledgements(const std::vector<ClientSocket>& sockets) {
  for (const ClientSocket& socket : sockets) {
    if (outstanding(socket.fd) == 0) continue;
    if (repair(socket.fd, TCP_REPAIR_ON)) repair(socket.fd, TCP_REPAIR_OFF);
  }
}

std::vector<ClientSocket> without_silent(std::vector<ClientSocket> sockets, std::uint8_t times) {
  std::erase_if(sockets, [&](const ClientSocket& socket) {
    const std::optional<tcp_info> info = info_of(socket.fd);
    return info.has_value() && info->tcpi_retransmits >= times;
  });
  return sockets;
}

std::string describe_outstanding(const std::vector<ClientSocket>& sockets) {
  std::string out;
  std::size_t clients = 0;
  for (const ClientSocket& socket : sockets) {
    const std::uint64_t bytes = outstanding(socket.fd);
    if (bytes == 0 || ++clients > kOutstandingNamed) continue;
    out += fmt::format("{}{}: {} bytes", out.empty() ? "" : "; ", socket.ends, bytes);
    const std::optional<tcp_info> info = info_of(socket.fd);
    if (!info.has_value()) continue;
    out += fmt::format(
        " (state {}, {} segments under way, sent again {} times, probed {} times, last heard {} ms "
        "ago, last sent {} ms ago)",
        info->tcpi_state, info->tcpi_unacked, info->tcpi_retransmits, info->tcpi_probes,
        info->tcpi_last_ack_recv, info->tcpi_last_data_sent);
  }
  if (clients > kOutstandingNamed) out += fmt::format("; and {} more", clients - kOutstandingNamed);
  return out;
}

std::vector<std::string> describe_connections(const std::vector<ClientSocket>& sockets) {
  std::vector<std::string> out;
  for (const ClientSocket& socket : sockets) {
    std::string& text = out.emplace_back(socket.ends);
    if (!repair(socket.fd, TCP_REPAIR_ON)) continue;
    const int queue = TCP_SEND_QUEUE;
    std::uint32_t sequence = 0;
    socklen_t size = sizeof sequence;
    const bool known =
        ::setsockopt(socket.fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof queue) == 0 &&
        ::getsockopt(socket.fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &sequence, &size) == 0;
    repair(socket.fd, TCP_REPAIR_OFF_NO_WP);
    if (known) text += fmt::format(" {}", sequence);
  }
  return out;
}

}  // namespace symnas::plugin
