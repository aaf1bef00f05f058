// symnas-launch: process 1 of an instance's namespaces. Sets them up and becomes ganesha.nfsd.
// Single-threaded; started only by vnfsd, which passes the descriptors of launch_spec.h.
//
// IPv6 is switched off in the namespace of a VNFS that has only IPv4 VIPs, and ganesha gets no
// Bind_addr: its sockets are dual-stack on every head alike. (With a Bind_addr ganesha 6.5
// looks for configured addresses and may bind something else than was asked for.)
#include <fcntl.h>
#include <netdb.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "vnfsd/address/link.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launch_spec.h"
#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

tl::unexpected<Error> failed(std::string_view what) {
  return fail(ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(errno)));
}

Result<LaunchSpec> read_spec() {
  std::string text;
  char buffer[4096];
  for (off_t offset = 0;;) {
    const ssize_t size = ::pread(kSpecFd, buffer, sizeof buffer, offset);
    if (size < 0) return failed("reading the launch specification");
    if (size == 0) break;
    text.append(buffer, static_cast<std::size_t>(size));
    offset += size;
  }
  ::close(kSpecFd);
  return parse_launch_spec(text);
}

// /run becomes the instance's own, with rpcbind's socket and nobody else's; what must stay visible
// is bound into it.
Status own_run_directory(const LaunchSpec& spec) {
  if (::mount("symnas", spec.stage.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
    return failed("mounting the instance's /run");
  }
  SYMNAS_TRY(make_directories(spec.stage + "/rpcbind"));
  std::set<std::string> bound;
  for (const std::string& directory : spec.keep) {
    if (!directory.starts_with("/run/") || !bound.insert(directory).second) continue;
    const std::string target = spec.stage + directory.substr(4);
    SYMNAS_TRY(make_directories(target));
    if (::mount(directory.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return failed(fmt::format("binding {}", directory));
    }
  }
  if (::mount(spec.stage.c_str(), "/run", nullptr, MS_MOVE, nullptr) != 0) {
    return failed("moving the instance's /run into place");
  }
  return {};
}

Status own_mounts(const LaunchSpec& spec) {
  // Ours stay ours; a file system that the head unmounts later is not kept busy by us.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return failed("separating the mounts");
  }
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return failed("mounting /proc");
  }
  return own_run_directory(spec);
}

Status wait_for_links() {
  char byte = 0;
  ssize_t size = 0;
  while ((size = ::read(kGoFd, &byte, 1)) < 0 && errno == EINTR) {
  }
  ::close(kGoFd);
  if (size == 1) return {};
  return fail(ErrorCode::kShutdown, "vnfsd gave up");
}

Status write_setting(const std::string& path, std::string_view value) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return {};  // the kernel has no IPv6: the same as off
  if (!fd.valid() ||
      ::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    return failed(path);
  }
  return {};
}

// The head's own settings are not those that a VNFS needs: it may have several links, perhaps to
// one network.
Status set_ipv4() {
  // The larger one of "all" and the link's counts (ip-sysctl).
  constexpr std::pair<const char*, const char*> kSettings[] = {
      {"arp_ignore", "1"},    // only the link that has an address answers for it
      {"arp_announce", "2"},  // and asks in its own name
      {"rp_filter", "2"},     // without a gateway answers may leave by another link: loose
  };
  for (const auto& [name, value] : kSettings) {
    SYMNAS_TRY(write_setting(fmt::format("/proc/sys/net/ipv4/conf/all/{}", name), value));
  }
  // Sockets that outlive a killed instance, because a client does not acknowledge what they have
  // sent, keep this namespace, and with it the VIPs: they would answer beside the next instance's,
  // for minutes. Two retransmissions take a second (tcp(7): tcp_orphan_retries).
  return write_setting("/proc/sys/net/ipv4/tcp_orphan_retries", "1");
}

// Of `scope`: a link, "all" or "default". Addresses and routes are the administrator's: nothing is
// learnt from routers, and no address waits for the detection of duplicates.
Status set_ipv6(const LaunchSpec& spec, const std::string& scope) {
  const auto set = [&](const char* name, const char* value) {
    return write_setting(fmt::format("/proc/sys/net/ipv6/conf/{}/{}", scope, name), value);
  };
  if (!spec.ipv6) return set("disable_ipv6", "1");
  for (const char* name : {"accept_ra", "autoconf", "accept_redirects", "accept_dad",
                           "dad_transmits", "use_tempaddr", "disable_ipv6"}) {
    SYMNAS_TRY(set(name, "0"));
  }
  return {};
}

Status own_network(const LaunchSpec& spec) {
  SYMNAS_TRY(set_ipv4());
  for (const char* scope : {"all", "default"}) SYMNAS_TRY(set_ipv6(spec, scope));
  SYMNAS_TRY(address::set_link_up("lo"));
  SYMNAS_TRY(wait_for_links());
  for (const std::string& link : spec.links) {
    SYMNAS_TRY(set_ipv6(spec, link));  // it may be older than what was set for new ones
    // Early, because it takes its time. One that cannot be set up now (the links of an instance
    // before have not gone yet) is, or is complained of, when it gets its addresses.
    (void)address::set_link_up(link);
  }
  return {};
}

// ganesha registers its programs through the service's name; without it they would be missing from
// rpcbind, and no NFSv3 client could mount.
Status check_rpcbind_port() {
  if (::getservbyname("sunrpc", "tcp") != nullptr) return {};
  return fail(ErrorCode::kNotFound,
              "/etc/services has no service sunrpc: install the package netbase");
}

bool rpcbind_answers() {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, "/run/rpcbind.sock", sizeof name.sun_path - 1);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

Status start_rpcbind(const LaunchSpec& spec) {
  SYMNAS_TRY(check_rpcbind_port());
  const pid_t pid = ::fork();
  if (pid < 0) return failed("forking for rpcbind");
  if (pid == 0) {
    ::close_range(3, ~0U, 0);
    const char* const argv[] = {"rpcbind", "-f", nullptr};
    ::execv(spec.rpcbind.c_str(), const_cast<char* const*>(argv));
    ::_exit(127);
  }
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kRpcbindTimeoutMs);
  while (!rpcbind_answers()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{} does not answer after {} ms (is the package rpcbind installed?)",
                              spec.rpcbind, kRpcbindTimeoutMs));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

// As far as the head allows: a container may lack CAP_SYS_RESOURCE.
void raise_limit(__rlimit_resource resource, rlim_t wanted) {
  const rlimit both{wanted, wanted};
  if (::setrlimit(resource, &both) == 0) return;
  rlimit present{};
  if (::getrlimit(resource, &present) != 0) return;
  present.rlim_cur = present.rlim_max;
  ::setrlimit(resource, &present);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Returns only on failure.
Error run() {
  ::fcntl(kStatusFd, F_SETFD, FD_CLOEXEC);
  auto spec = read_spec();
  if (!spec) return spec.error();
  if (::sethostname(spec->hostname.data(), spec->hostname.size()) != 0) {
    return failed("setting the host name").value();
  }
  for (const auto& step : {own_mounts, own_network, start_rpcbind}) {
    if (const Status done = step(*spec); !done) return done.error();
  }
  raise_limit(RLIMIT_NOFILE, kOpenFilesMax);
  raise_limit(RLIMIT_MEMLOCK, RLIM_INFINITY);  // io_uring's registered buffers
  const std::vector<char*> argv = pointers(spec->argv);
  const std::vector<char*> environment = pointers(spec->environment);
  ::execve(argv[0], argv.data(), environment.data());
  return failed(fmt::format("executing {}", spec->argv[0])).value();
}

}  // namespace
}  // namespace symnas::vnfsd::instance

int main() {
  const symnas::Error error = symnas::vnfsd::instance::run();
  const std::string& text = error.message;
  return ::write(symnas::vnfsd::instance::kStatusFd, text.data(), text.size()) < 0 ? 2 : 1;
}
