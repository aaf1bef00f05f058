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

MemoryReport::MemoryReport(std::string path) : path_(std::move(path)), thread_([this] { run(); }) {}

MemoryReport::~MemoryReport() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void MemoryReport::run() {
  std::int64_t written = -1;
  MutexLock lock(mutex_);
  const auto pause = std::chrono::milliseconds(kMemoryReportMs);
  while (!stopped_.wait_for(mutex_, pause, [this]() REQUIRES(mutex_) { return stop_; })) {
    lock.unlock();
    const std::int64_t inodes = inodes_.load(std::memory_order_relaxed);
    if (idle_bytes_ == 0) idle_bytes_ = resident_bytes();
    if (inodes != written) write(inodes);
    written = inodes;
    lock.lock();
  }
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
