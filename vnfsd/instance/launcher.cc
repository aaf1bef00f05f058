#include "vnfsd/instance/launcher.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "vnfsd/address/link.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/instance_file.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/server_identity.h"
#include "vnfsd/network/gateways.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr int kFirstFreeFd = 64;  // above every descriptor number that the child uses

tl::unexpected<Error> failed(const InstancePlan& plan, std::string_view what, int error) {
  return fail(ErrorCode::kIo,
              fmt::format("vnfs {}: {}: {}", plan.vnfs, what, std::strerror(error)));
}

// symnas-launch lies beside vnfsd.
std::string launcher_path() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "symnas-launch").string();
}

Result<UniqueFd> spec_descriptor(const InstancePlan& plan) {
  UniqueFd fd(::memfd_create("symnas-launch-spec", MFD_CLOEXEC));
  const std::string text = render_launch_spec(launch_spec_for(plan));
  if (!fd.valid() ||
      ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return failed(plan, "passing the launch specification", errno);
  }
  return fd;
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe(const InstancePlan& plan) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return failed(plan, "making a pipe", errno);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

struct Inherited {
  int from;
  int to;
};

// The child of a multi-threaded process: nothing but system calls until execve.
[[noreturn]] void become_launcher(const char* path, std::array<Inherited, 8>& fds) {
  for (Inherited& fd : fds) {
    fd.from = ::fcntl(fd.from, F_DUPFD, kFirstFreeFd);
    if (fd.from < 0) ::_exit(126);
  }
  for (const Inherited& fd : fds) {
    if (::dup2(fd.from, fd.to) < 0) ::_exit(126);
  }
  ::syscall(SYS_close_range, kStatusFd + 1, kHeadNetnsFd - 1, 0);
  ::syscall(SYS_close_range, kHeadMntnsFd + 1, ~0U, 0);
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const char* const argv[] = {"symnas-launch", nullptr};
  const char* const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
  ::execve(path, const_cast<char* const*>(argv), const_cast<char* const*>(environment));
  // The reason reaches vnfsd through the status pipe.
  static const char kMessage[] = "symnas-launch cannot be executed (it must lie beside vnfsd)";
  if (::write(kStatusFd, kMessage, sizeof kMessage - 1) < 0) ::_exit(126);
  ::_exit(127);
}

struct Child {
  int pid = -1;
  UniqueFd pidfd;
};

Result<Child> clone_launcher(const InstancePlan& plan, std::array<Inherited, 8>& fds) {
  const std::string path = launcher_path();
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return failed(plan, "making namespaces (vnfsd needs CAP_SYS_ADMIN)", errno);
  if (pid == 0) become_launcher(path.c_str(), fds);
  return Child{static_cast<int>(pid), UniqueFd(pidfd)};
}

// A link of an instance that nobody saw die may be up for minutes (its sockets keep its namespace),
// without an address but with the MAC: then another one, which is no other head's either.
Status set_up(const InstancePlan& plan, const LinkPlan& link) {
  const Status up = address::set_link_up(link.link);
  if (up || up.error().code != ErrorCode::kBusy) return up;
  log::info("vnfs {}: link {}: its MAC is still in use on this head: another one", plan.vnfs,
            link.link);
  SYMNAS_TRY(address::set_mac(
      link.link, spare_mac(plan.config.head_name, plan.vnfs, link.network, plan.epoch)));
  return address::set_link_up(link.link);
}

// `table`: of the link's own routes.
Status bring_link_up(const InstancePlan& plan, const LinkPlan& link, std::uint8_t table) {
  SYMNAS_TRY(set_up(plan, link));
  SYMNAS_ASSIGN(const Gateways gateways, Gateways::parse(link.gateway));
  for (const Cidr& vip : link.vips) {
    SYMNAS_TRY(address::add_address(link.link, vip));
    const std::optional<IpAddress>& gateway = gateways.of(vip.address.family);
    SYMNAS_TRY(address::add_source_route(link.link, vip, gateway, table));
    if (gateway) SYMNAS_TRY(address::add_default_route(link.link, *gateway));
  }
  return {};
}

InstancePlan without(InstancePlan plan, const std::vector<IpAddress>& held) {
  for (LinkPlan& link : plan.links) {
    std::erase_if(link.vips, [&](const Cidr& vip) {
      return std::find(held.begin(), held.end(), vip.address) != held.end();
    });
  }
  return plan;
}

// Inside the instance's network namespace.
Status announce_each(const InstancePlan& plan) {
  for (const LinkPlan& link : plan.links) {
    for (const Cidr& vip : link.vips) SYMNAS_TRY(address::announce(link.link, vip.address));
  }
  return {};
}

Status create_links(const InstancePlan& plan, const Process& process) {
  SYMNAS_ASSIGN(const UniqueFd netns, process.network_namespace());
  for (const LinkPlan& link : plan.links) {
    SYMNAS_TRY(address::create_link(
        {link.device, link.link, address::mac_for(plan.config.head_name, plan.vnfs, link.network),
         link.mtu, netns.get()}));
  }
  return {};
}

// Waits for the end of the status pipe. Answers the launcher's message, "" after a successful exec.
Result<std::string> read_status(int fd, const InstancePlan& plan) {
  std::string message;
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kLaunchTimeoutMs);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          deadline - std::chrono::steady_clock::now())
                          .count();
    pollfd entry{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&entry, 1, static_cast<int>(left)) != 1) {
      return fail(ErrorCode::kInternal,
                  fmt::format("vnfs {}: launching: no progress for {} ms (its log is {})",
                              plan.vnfs, kLaunchTimeoutMs, plan.paths.log));
    }
    char buffer[512];
    const ssize_t size = ::read(fd, buffer, sizeof buffer);
    if (size == 0) return message;
    if (size > 0) message.append(buffer, static_cast<std::size_t>(size));
  }
}

Status finish_launch(const InstancePlan& plan, const Process& process, Pipe& go, Pipe& status,
                     const std::function<Status(const Process&)>& note) {
  SYMNAS_TRY(create_links(plan, process));
  SYMNAS_TRY(note(process));
  if (::write(go.write.get(), "g", 1) != 1) return failed(plan, "starting the launcher", errno);
  SYMNAS_ASSIGN(const std::string message, read_status(status.read.get(), plan));
  if (message.empty()) return {};
  return fail(ErrorCode::kInternal, fmt::format("vnfs {}: launching: {}", plan.vnfs, message));
}

bool has_ipv6(const LinkPlan& link) {
  return std::any_of(link.vips.begin(), link.vips.end(),
                     [](const Cidr& vip) { return vip.address.family == AddressFamily::kIpv6; });
}

}  // namespace

LaunchSpec launch_spec_for(const InstancePlan& plan) {
  LaunchSpec spec;
  spec.hostname = plan.vnfs;
  spec.stage = plan.paths.stage;
  const GaneshaConfig& ganesha = plan.config.ganesha;
  spec.keep = {plan.config.daemon.run_dir, plan.config.daemon.log_dir, ganesha.prefix,
               ganesha.plugin_dir};
  for (const std::string& file :
       {plan.config.etcd.ca, plan.config.etcd.cert, plan.config.etcd.key}) {
    spec.keep.push_back(std::filesystem::path(file).parent_path().string());
  }
  for (const LunPath& lun : plan.luns) {
    spec.keep.push_back(std::filesystem::path(lun.path).parent_path().string());
  }
  for (const LinkPlan& link : plan.links) spec.links.push_back(link.link);
  spec.ipv6 = std::any_of(plan.links.begin(), plan.links.end(), has_ipv6);
  spec.rpcbind = ganesha.rpcbind;
  spec.argv = {ganesha.prefix + "/bin/ganesha.nfsd",
               "-x",
               "-F",
               "-f",
               plan.paths.ganesha_conf,
               "-p",
               plan.paths.pid_file,
               "-L",
               plan.paths.log,
               "-E",
               fmt::to_string(server_id(plan.config.cluster_uuid, plan.epoch))};
  spec.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                      fmt::format("LD_LIBRARY_PATH={}/lib", ganesha.prefix), "HOME=/",
                      // A replayed AP-REQ gives nobody the key of a session: without a cache no
                      // context waits for a disk.
                      "KRB5RCACHENAME=none:", "KRB5_CONFIG=" + plan.paths.krb5_conf,
                      "KRB5_KTNAME=FILE:" + plan.paths.keytab};
  return spec;
}

Status prepare_directory(const InstancePlan& plan, const std::string& ganesha_conf) {
  const InstancePaths& paths = plan.paths;
  SYMNAS_TRY(remove_tree(paths.recovery_root));
  SYMNAS_TRY(make_directories(paths.recovery_root));
  SYMNAS_TRY(make_directories(paths.stage));
  SYMNAS_TRY(make_directories(plan.config.daemon.log_dir));
  ::unlink(paths.pid_file.c_str());
  ::unlink(paths.problems_file.c_str());
  ::unlink(paths.memory_file.c_str());
  SYMNAS_TRY(write_keytab(plan));
  SYMNAS_TRY(write_file_atomically(paths.ganesha_conf, ganesha_conf, 0600));
  return write_instance_file(plan);
}

Status write_instance_file(const InstancePlan& plan) {
  SYMNAS_ASSIGN(const std::string text, render_instance_file(plan));
  return write_file_atomically(plan.paths.instance_file, text, 0600);
}

Result<Process> launch(const InstancePlan& plan,
                       const std::function<Status(const Process&)>& note) {
  SYMNAS_ASSIGN(const UniqueFd spec, spec_descriptor(plan));
  SYMNAS_ASSIGN(Pipe go, make_pipe(plan));
  SYMNAS_ASSIGN(Pipe status, make_pipe(plan));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  UniqueFd log(::open(plan.paths.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!log.valid()) {  // a partition without room for a log stops no VNFS
    log::warn("vnfs {}: {}: {}: it has no log", plan.vnfs, plan.paths.log, std::strerror(errno));
    log = UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  }
  const UniqueFd netns(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const UniqueFd mntns(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  std::array<Inherited, 8> fds{{{null.get(), 0},
                                {log.get(), 1},
                                {log.get(), 2},
                                {spec.get(), kSpecFd},
                                {go.read.get(), kGoFd},
                                {status.write.get(), kStatusFd},
                                {netns.get(), kHeadNetnsFd},
                                {mntns.get(), kHeadMntnsFd}}};
  SYMNAS_ASSIGN(Child child, clone_launcher(plan, fds));
  status.write.reset();
  go.read.reset();
  const auto ticks = start_ticks_of(child.pid);
  Process process({child.pid, ticks ? *ticks : 0}, std::move(child.pidfd));
  const Status finished = finish_launch(plan, process, go, status, note);
  if (finished) return process;
  process.kill();
  if (!process.wait(kKillTimeoutMs)) {
    log::error("vnfs {}: pid {} survives SIGKILL", plan.vnfs, process.id().pid);
  }
  return tl::unexpected<Error>(finished.error());
}

Status wait_listening(const Process& process, int netns_fd, std::int64_t timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  return address::inside_netns(netns_fd, [&]() -> Status {
    for (;;) {
      const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in nfs{};
      nfs.sin_family = AF_INET;
      nfs.sin_port = htons(kNfsPort);
      nfs.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&nfs), sizeof nfs) == 0) {
        return {};
      }
      pollfd entry{process.pidfd(), POLLIN, 0};
      if (::poll(&entry, 1, static_cast<int>(kListenPollMs)) == 1) {
        return fail(ErrorCode::kInternal, "it ended before it listened");
      }
      if (std::chrono::steady_clock::now() >= deadline) {
        return fail(ErrorCode::kUnavailable,
                    fmt::format("it does not listen after {} ms", timeout_ms));
      }
    }
  });
}

void wake_clients(const std::vector<Connection>& connections, int netns_fd) {
  // A client that cannot be told finds out by itself.
  (void)address::inside_netns(netns_fd, [&]() -> Status {
    for (const Connection& old : connections) {
      (void)address::tickle({old.local.address, old.local.port},
                            {old.remote.address, old.remote.port}, old.sequence);
    }
    return {};
  });
}

Status bring_addresses_up(const InstancePlan& whole, int netns_fd,
                          const std::vector<IpAddress>& held) {
  const InstancePlan plan = without(whole, held);
  const Status up = address::inside_netns(netns_fd, [&]() -> Status {
    std::uint8_t table = 0;
    for (const LinkPlan& link : plan.links) SYMNAS_TRY(bring_link_up(plan, link, ++table));
    return announce_each(plan);
  });
  if (up) wake_clients(plan.connections, netns_fd);
  return up;
}

Status announce_vips(const InstancePlan& plan, int netns_fd, const std::vector<IpAddress>& held) {
  return address::inside_netns(netns_fd, [&] { return announce_each(without(plan, held)); });
}

}  // namespace symnas::vnfsd::instance
