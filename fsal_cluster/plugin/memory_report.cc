#include "fsal_cluster/plugin/memory_report.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {
namespace {

// The second field of /proc/self/statm (proc(5)) in bytes; 0 when it cannot be read.
std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return file ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

MemoryReport::MemoryReport(std::string path) : path_(std::move(path)) {
  constexpr std::int64_t kPauseNs = kMemoryReportMs * 1'000'000;
  loop_.start(kPauseNs, [this] {
    look();
    return kPauseNs;
  });
}

void MemoryReport::look() {
  const std::int64_t inodes = inodes_.load(std::memory_order_relaxed);
  if (idle_bytes_ == 0) idle_bytes_ = resident_bytes();
  if (inodes != written_) write(inodes);
  written_ = inodes;
}

// Nothing depends on the report: a failure to write it is ignored.
void MemoryReport::write(std::int64_t inodes) {
  const std::string fresh = path_ + ".new";
  std::ofstream file(fresh, std::ios::trunc);
  file << fmt::format("{{\"idle_resident_bytes\": {}, \"cached_inodes\": {}}}\n", idle_bytes_,
                      inodes);
  file.close();
  std::error_code ignored;
  if (file) std::filesystem::rename(fresh, path_, ignored);
}

}  // namespace symnas::plugin
