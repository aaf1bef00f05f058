#include "vnfsd/ctl/nfs_path.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/unique_fd.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint16_t kNfsPort = 2049;
constexpr std::uint32_t kNfsProgram = 100003;
constexpr std::uint32_t kNull = 0;
constexpr std::uint32_t kWrite = 7;
constexpr std::uint32_t kFileSync = 2;
constexpr std::uint32_t kXid = 0x6f726166;
constexpr std::uint32_t kHandleBytes = 16;
constexpr std::uint32_t kPayloadBytes = 64 * 1024;  // several packets of 9000 bytes
constexpr unsigned kTcpHeaderBytes = 20;
constexpr unsigned kTimestampBytes = 12;
// MTUs that networks have; IPv6's least is the last.
constexpr std::array<unsigned, 4> kUsualMtus = {1500, 1450, 1400, 1280};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address address_of(const IpAddress& ip, std::uint16_t port) {
  Address out;
  if (ip.family == AddressFamily::kIpv4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, ip.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&out.storage, &v4, out.size = sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, ip.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&out.storage, &v6, out.size = sizeof v6);
  }
  return out;
}

unsigned header_bytes(int family) { return (family == AF_INET ? 20u : 40u) + kTcpHeaderBytes; }

// Of a full segment, with what is in front of it.
unsigned packet_bytes_of(int fd, int family) {
  unsigned mss = 0;
  socklen_t size = sizeof mss;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &size) != 0) return 0;
  tcp_info info{};
  size = sizeof info;
  ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size);
  const bool timestamps = (info.tcpi_options & TCPI_OPT_TIMESTAMPS) != 0;
  return mss + header_bytes(family) + (timestamps ? kTimestampBytes : 0);
}

// A record of one fragment (RFC 5531, 11) with a call without credentials.
std::string call_of(std::uint32_t procedure, const std::string& arguments) {
  std::string call;
  for (const std::uint32_t word :
       {kXid + procedure, 0u, 2u, kNfsProgram, 3u, procedure, 0u, 0u, 0u, 0u})
    append_be32(call, word);
  call += arguments;
  std::string record;
  append_be32(record, 0x80000000u | static_cast<std::uint32_t>(call.size()));
  return record + call;
}

// WRITE3args (RFC 1813, 3.3.7) with a handle of zeroes.
std::string large_call() {
  std::string arguments;
  append_be32(arguments, kHandleBytes);
  arguments.append(kHandleBytes, '\0');
  for (const std::uint32_t word : {0u, 0u, kPayloadBytes, kFileSync, kPayloadBytes})
    append_be32(arguments, word);
  arguments.append(kPayloadBytes, 'x');
  return call_of(kWrite, arguments);
}

class Talk {
 public:
  explicit Talk(std::int64_t timeout_ms) : timeout_ms_(timeout_ms) {}

  // Returns kAnswers once connected. `mtu`: no larger packets; 0: as the system does.
  PathFound connect(const Address& local, const Address& remote, unsigned mtu) {
    fd_ =
        UniqueFd(::socket(remote.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (mtu > 0) {
      const unsigned mss = mtu - header_bytes(remote.storage.ss_family);
      ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof mss);
    }
    if (local.size > 0 && ::bind(fd_.get(), local.get(), local.size) != 0)
      return {PathSign::kNoLocal, std::strerror(errno)};
    if (::connect(fd_.get(), remote.get(), remote.size) != 0 && errno != EINPROGRESS)
      return {PathSign::kNoRoute, std::strerror(errno)};
    if (!wait(POLLOUT, Clock::now() + std::chrono::milliseconds(timeout_ms_)))
      return {PathSign::kSilent};
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == ECONNREFUSED) return {PathSign::kRefused};
    if (error == ETIMEDOUT || error == EHOSTUNREACH) return {PathSign::kSilent};
    if (error != 0) return {PathSign::kNoRoute, std::strerror(error)};
    PathFound found{PathSign::kAnswers};
    found.packet_bytes = packet_bytes_of(fd_.get(), remote.storage.ss_family);
    return found;
  }

  // Whether the call is answered, however.
  bool ask(std::uint32_t procedure, const std::string& record) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms_);
    std::string_view rest = record;
    while (!rest.empty()) {
      const ssize_t sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent < 0 && !wait(POLLOUT, deadline)) return false;
    }
    std::string answer;
    while (answer.size() < 8) {
      std::array<char, 512> buffer;
      if (!wait(POLLIN, deadline)) return false;
      const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) return false;
      answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return read_be32(answer, 4) == kXid + procedure;
  }

 private:
  bool wait(short event, Clock::time_point deadline) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{fd_.get(), event, 0};
    return left > 0 && ::poll(&entry, 1, static_cast<int>(left)) > 0;
  }

  std::int64_t timeout_ms_;
  UniqueFd fd_;
};

PathFound try_once(const Address& local, const Address& remote, unsigned mtu,
                   std::int64_t timeout_ms) {
  Talk talk(timeout_ms);
  PathFound found = talk.connect(local, remote, mtu);
  if (found.sign != PathSign::kAnswers) return found;
  if (!talk.ask(kNull, call_of(kNull, "")))
    found.sign = PathSign::kNoAnswer;
  else if (!talk.ask(kWrite, large_call()))
    found.sign = PathSign::kSmallOnly;
  return found;
}

}  // namespace

PathFound ask_path(const std::string& local, const std::string& remote, std::int64_t timeout_ms) {
  Address from;
  if (!local.empty()) {
    const auto ip = IpAddress::parse(local);
    if (!ip) return {PathSign::kNoLocal, ip.error().message};
    from = address_of(*ip, 0);
  }
  const auto ip = IpAddress::parse(remote);
  if (!ip) return {PathSign::kNoRoute, ip.error().message};
  const Address to = address_of(*ip, kNfsPort);
  PathFound found = try_once(from, to, 0, timeout_ms);
  if (found.sign != PathSign::kSmallOnly) return found;
  for (const unsigned mtu : kUsualMtus) {
    if (mtu >= found.packet_bytes) continue;
    if (try_once(from, to, mtu, timeout_ms).sign != PathSign::kAnswers) continue;
    found.passes_bytes = mtu;
    break;
  }
  return found;
}

PathWords words_of(const PathFound& found, const std::string& local, const std::string& remote,
                   const std::string& vnfs) {
  switch (found.sign) {
    case PathSign::kNoLocal:
      return {true, fmt::format("{} is no address of this host ({})", local, found.error),
              "run this on the database host, or correct --local"};
    case PathSign::kNoRoute:
      return {true, "this host has no way to it: " + found.error,
              fmt::format("look at `ip route get {}`", remote)};
    case PathSign::kSilent:
      return {true, "nobody answers at this address",
              fmt::format("does {} serve (symnas vnfs ls)? Is port 2049 let through between {} and "
                          "{}?",
                          vnfs, local.empty() ? "this host" : local, remote)};
    case PathSign::kRefused:
      return {
          true, "a host answers, NFS does not",
          fmt::format("does {} serve (symnas vnfs ls)? Has another machine this address?", vnfs)};
    case PathSign::kNoAnswer:
      return {true, "the connection is taken, a call is not answered",
              fmt::format("wait for a move to end; `symnas status` says what {} is doing", vnfs)};
    case PathSign::kSmallOnly:
      return {true,
              fmt::format("NFS answers, but packets of {} bytes are lost on the way",
                          found.packet_bytes),
              found.passes_bytes > 0
                  ? fmt::format("packets of {} bytes pass: set the MTU of this host's device to "
                                "that, or raise it on every switch between",
                                found.passes_bytes)
                  : "smaller ones are lost, too: look for a firewall or a tunnel between"};
    case PathSign::kAnswers:
      return {false, fmt::format("NFS answers; packets of {} bytes pass", found.packet_bytes), ""};
  }
  return {};
}

}  // namespace symnas::vnfsd::ctl
