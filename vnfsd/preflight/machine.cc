#include "vnfsd/preflight/machine.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "vnfsd/preflight/limits.h"

namespace symnas::vnfsd::preflight {
namespace {

using Clock = std::chrono::steady_clock;

bool first_is(const char* path, char wanted) {
  std::ifstream in(path);
  return in && in.get() == wanted;
}

std::string try_io_uring() {
  io_uring_params params{};
  const UniqueFd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &params)));
  return ring.valid() ? "" : fmt::format("io_uring: {}", std::strerror(errno));
}

// Whether the kernel has a driver of that name, or could load it; nullopt: it does not tell.
std::optional<bool> has_driver(const char* name) {
  std::error_code error;
  if (std::filesystem::exists(fmt::format("/sys/module/{}", name), error)) return true;
  utsname system{};
  ::uname(&system);
  bool told = false;
  for (const char* list : {"modules.builtin", "modules.dep"}) {
    std::ifstream in(fmt::format("/lib/modules/{}/{}", system.release, list));
    told = told || in.is_open();
    for (std::string line; std::getline(in, line);) {
      if (line.find(fmt::format("/{}.ko", name)) != std::string::npos) return true;
    }
  }
  return told ? std::optional(false) : std::nullopt;
}

std::int64_t since_us(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
}

}  // namespace

std::optional<ClockSeen> look_at_clock() {
  timex request{};
  const int state = ::adjtimex(&request);
  if (state < 0) return std::nullopt;
  const bool unsynchronised = state == TIME_ERROR || (request.status & STA_UNSYNC) != 0;
  return ClockSeen{!unsynchronised, static_cast<std::int64_t>(request.maxerror) * 1000};
}

KernelSeen look_at_kernel() {
  utsname system{};
  ::uname(&system);
  KernelSeen seen;
  seen.release = system.release;
  seen.why = try_io_uring();
  seen.io_uring = seen.why.empty();
  seen.macvlan = has_driver("macvlan");
  if (seen.macvlan == false) seen.macvlan = has_driver("ipvlan");
  if (seen.macvlan == false) seen.why = "neither macvlan nor ipvlan";
  return seen;
}

PortSeen look_at_port(std::uint16_t port, bool udp) {
  PortSeen seen{port, udp, false, false};
  const UniqueFd fd(::socket(AF_INET6, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0));
  const int yes = 1;
  const int no = 0;
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  // Connections of before that are closing are no reason.
  if (!udp) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(port);
  seen.taken = fd.valid() &&
               ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 &&
               errno == EADDRINUSE;
  return seen;
}

std::vector<std::int64_t> look_at_disk(const std::string& directory) {
  std::filesystem::path place = directory;
  std::error_code error;
  while (!std::filesystem::is_directory(place, error) && place.has_relative_path())
    place = place.parent_path();
  const UniqueFd fd(::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  std::vector<std::int64_t> times;
  const std::string entry(kSyncBytes, 'w');
  const auto begin = Clock::now();
  while (fd.valid() && times.size() < kSyncs && since_us(begin) < kSyncsAtMostMs * 1000) {
    const auto before = Clock::now();
    if (::write(fd.get(), entry.data(), entry.size()) != static_cast<ssize_t>(entry.size()) ||
        ::fdatasync(fd.get()) != 0) {
      return {};
    }
    times.push_back(since_us(before));
  }
  return times;
}

std::optional<std::int64_t> look_at_neighbours() {
  std::ifstream file("/proc/sys/net/ipv4/neigh/default/gc_thresh3");
  std::int64_t most = 0;
  return file >> most ? std::optional(most) : std::nullopt;
}

bool is_selinux_enforced() { return first_is("/sys/fs/selinux/enforce", '1'); }

bool is_apparmor_enabled() { return first_is("/sys/module/apparmor/parameters/enabled", 'Y'); }

}  // namespace symnas::vnfsd::preflight
