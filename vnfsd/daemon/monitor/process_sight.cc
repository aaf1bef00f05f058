#include "vnfsd/daemon/monitor/process_sight.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace symnas::vnfsd::daemon {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// When the machine booted, seconds since 1970; 0: not known.
double booted_s() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  return 0;
}

}  // namespace

std::optional<metrics::ProcessSight> look_at_process() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name, in brackets, may hold blanks. What follows begins with field 3.
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(bracket + 1));
  std::string skipped;
  for (int field = 3; field < 20; ++field) fields >> skipped;
  std::int64_t threads = 0;         // 20
  std::int64_t started_ticks = 0;   // 22
  std::int64_t resident_pages = 0;  // 24
  fields >> threads >> skipped >> started_ticks >> skipped >> resident_pages;
  if (!fields) return std::nullopt;
  rusage usage{};
  rlimit files{};
  ::getrusage(RUSAGE_SELF, &usage);
  ::getrlimit(RLIMIT_NOFILE, &files);
  std::error_code ignored;
  metrics::ProcessSight out;
  out.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  out.resident_bytes = resident_pages * ::sysconf(_SC_PAGESIZE);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    (void)entry;
    ++out.open_fds;
  }
  out.max_fds = static_cast<std::int64_t>(files.rlim_cur);
  out.threads = threads;
  out.started_s =
      booted_s() + static_cast<double>(started_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return out;
}

}  // namespace symnas::vnfsd::daemon
