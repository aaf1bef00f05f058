// vnfsd: the agent on every head. Runs in the foreground, logs to stderr; SIGTERM ends it and
// leaves instances running; SIGHUP makes it read its configuration anew.
#include <signal.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/version.h"
#include "common/kv/etcd/etcd_membership.h"
#include "common/kv/etcd/etcd_store.h"
#include "ha/detection/corosync/watch.h"
#include "ha/fencing/fence_agent.h"
#include "ha/fencing/reservation_program.h"
#include "vnfsd/api/gate_server.h"
#include "vnfsd/api/server.h"
#include "vnfsd/config/api_config.h"
#include "vnfsd/config/config.h"
#include "vnfsd/config/limits.h"
#include "vnfsd/daemon/access/access_admin.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/process.h"
#include "vnfsd/jobs/jobs.h"
#include "vnfsd/metrics/listener.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
// On a tmpfs that no service cleans up: it has to live as long as the boot (ha/reservation).
constexpr const char* kReservationJournal = "/run/symnas-reservation";

int report(const Error& error) {
  fmt::print(stderr, "vnfsd: {}\n", error.message);
  return kExitFailed;
}

enum class Next { kEnd, kAgain };

// vnfsd.toml names the members that etcd has now. Comments of its writer are lost.
void write_endpoints(const std::string& config_path, const std::vector<std::string>& endpoints) {
  const Status written = [&]() -> Status {
    SYMNAS_ASSIGN(Config config, load_config(config_path));
    SYMNAS_ASSIGN(const ApiConfig network, load_api_config(config_path, config.daemon.run_dir));
    config.etcd.endpoints = endpoints;
    return instance::write_file_atomically(
        config_path, render_config(config) + render_api_config(network), 0600);
  }();
  if (written) {
    ::kill(::getpid(), SIGHUP);
  } else {
    log::error("etcd: its members have changed: {}", written.error().message);
  }
}

std::string beside_vnfsd(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / program).string();
}

ha::ReservationProgram reservation_program(const FenceConfig& fence) {
  return {
      fence.reservation_program.empty() ? beside_vnfsd("symnas-fence") : fence.reservation_program,
      kReservationJournal, fence.timeout_s * 1000};
}

// Of the package symnas-pacemaker.
constexpr const char* kStonithProgram = "/usr/lib/symnas/symnas-stonith";

api::ListenerTerms listener_terms(const Config& config, const ApiConfig& network) {
  std::vector<std::string> addresses = network.listen;
  if (addresses.empty()) addresses.push_back(config.head_address);
  return {std::move(addresses),
          network.port,
          network.connections_max,
          {network.requests_per_s, network.requests_burst}};
}

// One life with one configuration. kAgain: the configuration shall be read anew.
Result<Next> run(const std::string& config_path) {
  SYMNAS_ASSIGN(const Config config, load_config(config_path));
  SYMNAS_ASSIGN(const ApiConfig network, load_api_config(config_path, config.daemon.run_dir));
  log::init("vnfsd", config.daemon.log_level);
  if (::geteuid() != 0) {
    return fail(ErrorCode::kPermission, "must run as root: it makes namespaces and opens LUNs");
  }
  SYMNAS_TRY(instance::make_directories(config.daemon.run_dir));
  SYMNAS_TRY(instance::make_directories(config.daemon.log_dir));
  SYMNAS_ASSIGN(const std::string incarnation, instance::boot_id());

  // Before any thread exists, so that all of them leave these to sigwait below.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  kv::EtcdOptions options;
  options.endpoints = config.etcd.endpoints;
  options.ca_file = config.etcd.ca;
  options.cert_file = config.etcd.cert;
  options.key_file = config.etcd.key;
  SYMNAS_ASSIGN(const std::unique_ptr<kv::EtcdStore> store, kv::EtcdStore::open(options));
  SYMNAS_ASSIGN(const std::unique_ptr<kv::EtcdMembership> membership,
                kv::EtcdMembership::open(options));
  AgentLinks links;
  links.membership = membership.get();
  links.leave_member = [store = store.get()](const std::string& address) { store->leave(address); };
  links.endpoints_changed = [&config_path](const std::vector<std::string>& endpoints) {
    write_endpoints(config_path, endpoints);
  };
  const ha::ReservationProgram reservations = reservation_program(config.fence);
  links.reservations = {
      [&](const auto& devices) { return ha::identify_luns(reservations, devices); },
      [&](const auto& own, const auto& luns) { return ha::register_boot(reservations, own, luns); },
      [&](const auto& own, const auto& victim, const auto& luns) {
        return ha::preempt_boot(reservations, own, victim, luns);
      },
      [&](const auto& device) { return ha::check_lun_can_fence(reservations, device); }};
  const auto stonith = [timeout_s = config.fence.timeout_s](std::int64_t since_s) {
    return ha::FenceAgent{kStonithProgram, {fmt::format("since={}", since_s)}, timeout_s * 1000};
  };
  links.stonith_confirmed = [stonith](const std::string& head, std::int64_t since_s) {
    return ha::fence_confirmed(stonith(since_s), head);
  };
  links.stonith_off = [stonith](const std::string& head, std::int64_t since_s) {
    return ha::order_off(stonith(since_s), head);
  };
  if (!config.fence.agent.empty()) {
    const ha::FenceAgent fence{config.fence.agent, config.fence.options,
                               config.fence.timeout_s * 1000};
    links.fence_off = [fence](const std::string& head) { return ha::fence_off(fence, head); };
    links.fence_check = [fence](int stop_fd) { return ha::check_fence_agent(fence, stop_fd); };
  }
  links.who_has = [](const std::string& device, const std::vector<IpAddress>& addresses) {
    return address::who_has(device, addresses, {kVipAskMs, kVipAskMs, nullptr});
  };
  probe::Prober prober(config.head_name, incarnation, env::system_clock(), kProbePort);
  links.prober = &prober;
  std::optional<ha::CorosyncWatch> corosync;
  if (config.detection.corosync) {
    links.corosync = &corosync.emplace(beside_vnfsd("symnas-corosync-watch"), env::system_clock());
  }
  Agent agent(*store, env::system_clock(), config, incarnation, links);
  const ThisHead head{*store, env::system_clock(), config, incarnation};
  AccessAdmin access(head, [&agent](std::string_view kind, const std::string& text) {
    agent.events().tell(kind, text);
  });
  Jobs jobs(config.daemon.run_dir + "/jobs", env::system_clock());
  api::Router router(agent.backends(), access, &jobs);
  SYMNAS_ASSIGN(
      const std::unique_ptr<api::ApiServer> server,
      api::ApiServer::start(config.daemon.socket, router, [&agent] { return agent.metrics(); }));
  std::optional<metrics::Listener> listener;
  if (!config.metrics.listen.empty())
    listener.emplace(beside_vnfsd("symnas-metrics"), config.metrics, page_directory(config));
  api::Gate gate(router, access, listener_terms(config, network), env::system_clock());
  std::unique_ptr<HttpServer> gate_server;
  if (network.enabled) {
    // Without it the head serves as well: whoever switched it on sees why in the log.
    if (auto started = api::start_gate(network.socket, network.user, gate)) {
      gate_server = std::move(*started);
    } else {
      log::error("{}", started.error().message);
    }
  }
  log::info("vnfsd {} on head {}: API on {}", kVersion, config.head_name, config.daemon.socket);
  // The API answers: systemd may start what comes after it.
  ::sd_notify(0, "READY=1");
  int signal = 0;
  ::sigwait(&signals, &signal);
  if (signal == SIGHUP) {
    log::info("vnfsd: reading {} anew; instances go on", config_path);
    return Next::kAgain;
  }
  ::sd_notify(0, "STOPPING=1");
  log::info("vnfsd: ending; instances go on");
  return Next::kEnd;
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

int main(int argc, char** argv) {
  using namespace symnas::vnfsd;
  std::string config = "/etc/symnas/vnfsd.toml";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--config" && i + 1 < argc) {
      config = argv[++i];
    } else if (argument == "--version") {
      fmt::print("vnfsd {}, level {}\n", symnas::kVersion, level::kOwn);
      return 0;
    } else {
      const bool help = argument == "--help";
      fmt::print(help ? stdout : stderr, "usage: vnfsd [--config /etc/symnas/vnfsd.toml]\n");
      return help ? 0 : daemon::kExitUsage;
    }
  }
  for (;;) {
    const auto next = daemon::run(config);
    if (!next) return daemon::report(next.error());
    if (*next == daemon::Next::kEnd) return 0;
  }
}
