#include "tests/workloads/dnfs/local_bind.h"

#include <netdb.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/core.h>

#include "common/base/unique_fd.h"

namespace symnas::dnfs {
namespace {

thread_local const LocalAddress* current = nullptr;
thread_local bool refused = false;

int real_bind(int fd, const sockaddr* address, socklen_t bytes) {
  return static_cast<int>(::syscall(SYS_bind, fd, address, bytes));
}

int real_connect(int fd, const sockaddr* address, socklen_t bytes) {
  return static_cast<int>(::syscall(SYS_connect, fd, address, bytes));
}

}  // namespace

LocalBind::LocalBind(const LocalAddress& address) {
  current = &address;
  refused = false;
}
LocalBind::~LocalBind() { current = nullptr; }

Result<LocalAddress> LocalAddress::resolve(const std::string& text, bool dontroute) {
  LocalAddress out;
  out.dontroute = dontroute;
  if (text.empty()) return out;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(text.c_str(), nullptr, &hints, &found); error != 0)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("local {}: {}; write an address that \"ip address\" shows", text,
                            ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::memcpy(&out.address, found->ai_addr, found->ai_addrlen);
  out.bytes = found->ai_addrlen;
  const UniqueFd probe(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe.valid() || real_bind(probe.get(), found->ai_addr, found->ai_addrlen) != 0)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("local {} is no address of this host ({}); write one that \"ip address\" "
                    "shows",
                    text, std::strerror(errno)));
  return out;
}

}  // namespace symnas::dnfs

extern "C" int bind(int fd, const sockaddr* address, socklen_t bytes) noexcept {
  using namespace symnas::dnfs;
  if (current == nullptr) return real_bind(fd, address, bytes);
  if (current->dontroute) {
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_DONTROUTE, &on, sizeof on);
  }
  if (current->bytes == 0) return real_bind(fd, address, bytes);
  const auto* local = reinterpret_cast<const sockaddr*>(&current->address);
  if (real_bind(fd, local, current->bytes) == 0) return 0;
  refused = true;
  errno = EACCES;  // libnfs tries every port after any other error
  return -1;
}

extern "C" int connect(int fd, const sockaddr* address, socklen_t bytes) {
  using namespace symnas::dnfs;
  if (current == nullptr || !refused) return real_connect(fd, address, bytes);
  errno = EADDRNOTAVAIL;
  return -1;
}
