#include "vnfsd/instance/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

namespace symnas::vnfsd::instance {
namespace {

constexpr int kStartTicksField = 22;

int pidfd_open(int pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

Result<std::uint64_t> parse_start_ticks(std::string_view stat) {
  // Field 2 is "(command)" and may hold blanks and brackets itself.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < kStartTicksField && at != std::string_view::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  std::uint64_t ticks = 0;
  if (at != std::string_view::npos) {
    const auto [end, error] =
        std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks);
    if (error == std::errc{}) return ticks;
  }
  return fail(ErrorCode::kCorrupt, "process: its /proc stat line cannot be understood");
}

Result<std::uint64_t> start_ticks_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return fail(ErrorCode::kNotFound, fmt::format("process {}: is gone", pid));
  }
  return parse_start_ticks(text.str());
}

Result<std::string> boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (!(file >> id)) return fail(ErrorCode::kIo, "head: the kernel's boot id cannot be read");
  return id;
}

Result<Process> Process::adopt(ProcessId id) {
  UniqueFd pidfd(id.pid > 0 ? pidfd_open(id.pid) : -1);
  // The descriptor first, the check after it: a pid that was reused in between is noticed.
  if (pidfd.valid()) {
    const auto ticks = start_ticks_of(id.pid);
    if (ticks && *ticks == id.start_ticks) return Process(id, std::move(pidfd));
  }
  return fail(ErrorCode::kNotFound, fmt::format("process {}: is gone", id.pid));
}

Result<UniqueFd> Process::network_namespace() const {
  UniqueFd fd(::open(fmt::format("/proc/{}/ns/net", id_.pid).c_str(), O_RDONLY | O_CLOEXEC));
  const auto ticks = start_ticks_of(id_.pid);
  if (fd.valid() && ticks && *ticks == id_.start_ticks) return fd;
  return fail(ErrorCode::kNotFound, fmt::format("process {}: is gone", id_.pid));
}

void Process::kill() const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0); }

std::optional<std::string> Process::wait(std::int64_t timeout_ms) const {
  pollfd entry{pidfd_.get(), POLLIN, 0};
  if (::poll(&entry, 1, static_cast<int>(timeout_ms)) != 1) return std::nullopt;
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) == 0) {
    return describe_exit(info.si_code, info.si_status);
  }
  return "unknown (it was the child of an earlier vnfsd)";
}

std::string describe_exit(int code, int status) {
  if (code == CLD_EXITED) return fmt::format("exit status {}", status);
  return fmt::format("signal {} ({}){}", status, ::strsignal(status),
                     code == CLD_DUMPED ? ", core dumped" : "");
}

}  // namespace symnas::vnfsd::instance
