#include "vnfsd/metrics/listener.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/spawn.h"
#include "common/env/clock.h"
#include "vnfsd/metrics/limits.h"

namespace symnas::vnfsd::metrics {
namespace {

std::int64_t now_ms() { return env::system_clock().mono_ns() / 1'000'000; }

std::vector<std::string> arguments_of(const MetricsConfig& config, const std::string& directory) {
  std::vector<std::string> out = {"--listen", config.listen, "--directory", directory};
  if (!config.cert.empty()) out.insert(out.end(), {"--cert", config.cert, "--key", config.key});
  if (!config.client_ca.empty()) out.insert(out.end(), {"--client-ca", config.client_ca});
  return out;
}

bool has_ended(int pidfd, std::int64_t wait_ms) {
  pollfd entry{pidfd, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(wait_ms)) > 0;
}

}  // namespace

Listener::Listener(std::string program, const MetricsConfig& config, const std::string& directory)
    : program_(std::move(program)),
      arguments_(arguments_of(config, directory)),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(end_.valid(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

Listener::~Listener() {
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

bool Listener::is_ending(std::int64_t wait_ms) const {
  pollfd entry{end_.get(), POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(wait_ms)) > 0;
}

void Listener::run() {
  std::int64_t again_ms = kAgainMs;
  do {
    if (run_once() > kAgainMsMax) again_ms = kAgainMs;
    if (is_ending(0)) return;
    log::warn("metrics: symnas-metrics has ended: nothing is served on {} (again in {} s)",
              arguments_[1], again_ms / 1000);
    if (is_ending(again_ms)) return;
    again_ms = std::min(2 * again_ms, kAgainMsMax);
  } while (true);
}

std::int64_t Listener::run_once() {
  const std::int64_t since_ms = now_ms();
  auto life = make_pipe();  // the program ends when its end of it is closed
  if (!life) return 0;
  const auto pid = spawn(program_, arguments_, {life->read.get(), STDERR_FILENO, STDERR_FILENO});
  if (!pid) {
    log::error("metrics: {}", pid.error().message);
    return 0;
  }
  life->read.reset();
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  pollfd entries[] = {{pidfd.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
  while (pidfd.valid() && ::poll(entries, 2, -1) < 0 && errno == EINTR) continue;
  life->write.reset();
  if (!pidfd.valid() || !has_ended(pidfd.get(), kEndMs)) ::kill(*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) continue;
  return now_ms() - since_ms;
}

}  // namespace symnas::vnfsd::metrics
