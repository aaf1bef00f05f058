#include "vnfsd/pinger/pinger.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "common/base/bytes.h"
#include "common/base/unique_fd.h"
#include "common/env/clock.h"

namespace symnas::vnfsd::pinger {
namespace {

constexpr std::uint16_t kNfsPort = 2049;
constexpr std::uint32_t kNfsProgram = 100003;
constexpr std::int64_t kMinGapNs = 50'000'000;
constexpr auto kPause = std::chrono::milliseconds(5);
// As long as a connection is not refused or reset, an answer may still come on it: a Linux client
// would wait for a minute. A SYN that met no address is sent again after a second.
constexpr int kConnectMs = 1'000;
constexpr int kAnswerSliceMs = 100;
constexpr std::size_t kAnswerBytes = 28;  // record mark, xid, and what an accepted reply says

// The wall clock as it was at the first call: gaps are measured, and compared with times of
// records.
std::int64_t now_ns() {
  const env::Clock& clock = env::system_clock();
  static const std::int64_t offset_ns = clock.wall_ns() - clock.mono_ns();
  return clock.mono_ns() + offset_ns;
}

// A record of one fragment (RFC 5531, 11) with a call without credentials.
std::string null_call(std::uint32_t xid) {
  std::string call;
  for (const std::uint32_t word : {xid, 0u, 2u, kNfsProgram, 3u, 0u, 0u, 0u, 0u, 0u})
    append_be32(call, word);
  std::string record;
  append_be32(record, 0x80000000u | static_cast<std::uint32_t>(call.size()));
  return record + call;
}

UniqueFd connect_to(const IpAddress& vip) {
  sockaddr_storage to{};
  socklen_t size = sizeof(sockaddr_in);
  if (vip.family == AddressFamily::kIpv4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(to);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(kNfsPort);
    std::memcpy(&v4.sin_addr, vip.bytes.data(), sizeof v4.sin_addr);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(to);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(kNfsPort);
    std::memcpy(&v6.sin6_addr, vip.bytes.data(), sizeof v6.sin6_addr);
    size = sizeof v6;
  }
  UniqueFd fd(::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fd;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), size) == 0) return fd;
  if (errno != EINPROGRESS) return {};
  pollfd entry{fd.get(), POLLOUT, 0};
  int error = 0;
  socklen_t error_size = sizeof error;
  if (::poll(&entry, 1, kConnectMs) != 1 ||
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &error_size) != 0 || error != 0) {
    return {};
  }
  return fd;
}

}  // namespace

Pinger::Pinger(const IpAddress& vip) : vip_(vip), seen_{AnswerTimes(kMinGapNs)} {
  thread_ = std::thread([this] { run(); });
}

Pinger::~Pinger() {
  ending_ = true;
  thread_.join();
}

Pinger::Seen Pinger::seen() const {
  const MutexLock lock(mutex_);
  Seen out = seen_;
  out.answers.ended(now_ns());
  return out;
}

// False: the connection is of no use any more.
bool Pinger::ping(int fd, std::uint32_t xid) {
  const std::string call = null_call(xid);
  if (::send(fd, call.data(), call.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(call.size()))
    return false;
  std::string answer;
  while (!ending_) {
    pollfd entry{fd, POLLIN, 0};
    if (::poll(&entry, 1, kAnswerSliceMs) != 1) continue;
    char buffer[kAnswerBytes];
    const ssize_t size = ::recv(fd, buffer, kAnswerBytes - answer.size(), 0);
    if (size <= 0) return false;
    answer.append(buffer, static_cast<std::size_t>(size));
    if (answer.size() < kAnswerBytes) continue;
    if (read_be32(answer, 4) != xid) return false;
    const MutexLock lock(mutex_);
    seen_.answers.answered(now_ns());
    return true;
  }
  return false;
}

void Pinger::run() {
  std::uint32_t xid = 0x70696e67;
  while (!ending_) {
    const UniqueFd fd = connect_to(vip_);
    if (fd.valid()) {
      const MutexLock lock(mutex_);
      ++seen_.connections;
    }
    while (fd.valid() && !ending_ && ping(fd.get(), ++xid)) std::this_thread::sleep_for(kPause);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace symnas::vnfsd::pinger
