#include "vnfsd/probe/canary.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "common/base/bytes.h"
#include "common/base/unique_fd.h"
#include "vnfsd/probe/devices.h"

namespace symnas::vnfsd::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint16_t kNfsPort = 2049;
constexpr std::uint32_t kNfsProgram = 100003;
constexpr std::uint32_t kXid = 0x73796d6e;
constexpr std::size_t kAnswerBytesMax = 256;  // of a NULL call: 28
constexpr ssize_t kHeaderBytes = 8;           // record mark and xid

// A record of one fragment (RFC 5531, 11) with a call without credentials.
std::string null_call() {
  std::string call;
  for (const std::uint32_t word : {kXid, 0u, 2u, kNfsProgram, 3u, 0u, 0u, 0u, 0u, 0u}) {
    append_be32(call, word);
  }
  std::string record;
  append_be32(record, 0x80000000u | static_cast<std::uint32_t>(call.size()));
  return record + call;
}

UniqueFd begin_connect(const IpAddress& vip) {
  sockaddr_storage to{};
  socklen_t size = 0;
  if (vip.family == AddressFamily::kIpv4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(kNfsPort);
    std::memcpy(&v4.sin_addr, vip.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&to, &v4, size = sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(kNfsPort);
    std::memcpy(&v6.sin6_addr, vip.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&to, &v6, size = sizeof v6);
  }
  UniqueFd fd(::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // It has not ended yet: whether it succeeds is asked for later.
  // NOLINTNEXTLINE(bugprone-unused-return-value)
  (void)::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), size);
  return fd;
}

struct Question {
  UniqueFd fd;
  bool asked = false;
};

Sign go_on(Question& question, pollfd& entry) {
  if (!question.asked) {
    const std::string call = null_call();
    question.asked = ::send(entry.fd, call.data(), call.size(), MSG_NOSIGNAL) ==
                     static_cast<ssize_t>(call.size());
    entry.events = POLLIN;
    if (question.asked) return Sign::kAccepted;
    entry.fd = -1;  // refused
    return Sign::kNone;
  }
  // All of it: what is left unread would make a reset of the end of the connection.
  std::string answer(kAnswerBytesMax, 0);
  const ssize_t size = ::recv(entry.fd, answer.data(), answer.size(), 0);
  if (size >= kHeaderBytes && read_be32(answer, 4) == kXid) return Sign::kAnswered;
  entry.fd = -1;
  return Sign::kNone;
}

std::vector<IpAddress> own_addresses() {
  std::vector<IpAddress> out;
  for (const auto& [name, device] : devices()) {
    if (!device.running) continue;
    for (const Cidr& own : device.addresses) out.push_back(own.address);
  }
  return out;
}

}  // namespace

std::vector<IpAddress> in_reach(const std::vector<Cidr>& vips) {
  const std::vector<IpAddress> own = own_addresses();
  std::vector<IpAddress> out;
  for (const Cidr& vip : vips) {
    const bool near = std::any_of(own.begin(), own.end(), [&](const IpAddress& address) {
      return address.family == vip.address.family && vip.contains(address);
    });
    if (near) out.push_back(vip.address);
  }
  return out;
}

Sign any_sign(const std::vector<IpAddress>& vips, std::int64_t timeout_ms) {
  std::vector<Question> questions;
  std::vector<pollfd> entries;
  for (const IpAddress& vip : vips) {
    questions.push_back({begin_connect(vip)});
    entries.push_back({questions.back().fd.get(), POLLOUT, 0});
  }
  Sign best = Sign::kNone;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    // Also when the time is over: what has come while this thread had no processor counts.
    const auto left = std::max<std::int64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count(), 0);
    if (::poll(entries.data(), entries.size(), static_cast<int>(left)) <= 0) return best;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].fd < 0 || entries[i].revents == 0) continue;
      best = std::max(best, go_on(questions[i], entries[i]));
      if (best == Sign::kAnswered) return best;
    }
  }
}

}  // namespace symnas::vnfsd::probe
