#include "tests/contract/vnfsd/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>

#include "common/base/check.h"

namespace symnas::vnfsd {
namespace {

sockaddr_in address_of(const std::string& address, int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<std::uint16_t>(port));
  CHECK(::inet_pton(AF_INET, address.c_str(), &out.sin_addr) == 1, "an address");
  return out;
}

int bound_to(const std::string& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in own = address_of(address, 0);
  CHECK(::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0, "bind");
  return fd;
}

}  // namespace

Connection::Connection(int port, const std::string& from) : fd_(bound_to(from)) {
  const sockaddr_in to = address_of("127.0.0.1", port);
  CHECK(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0, "connect");
}

bool Connection::say(const std::string& text) {
  return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

std::string Connection::hear() {
  std::string out;
  char part[4096];
  for (;;) {
    pollfd entry{fd_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 5'000) != 1) return out;
    const ssize_t got = ::recv(fd_.get(), part, sizeof part, 0);
    if (got <= 0) return out;
    out.append(part, static_cast<std::size_t>(got));
  }
}

bool Connection::hangs_up_within(int timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  char part[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd entry{fd_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) != 1) return false;
    if (::recv(fd_.get(), part, sizeof part, 0) <= 0) return true;
  }
}

int free_port() {
  const UniqueFd fd(bound_to("127.0.0.1"));
  sockaddr_in own{};
  socklen_t size = sizeof own;
  CHECK(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0, "getsockname");
  return ntohs(own.sin_port);
}

}  // namespace symnas::vnfsd
