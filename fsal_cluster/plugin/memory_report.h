// MemoryReport: tells vnfsd what this instance's memory is used for: the file `memory` beside the
// instance file (docs/formats/instance_file.md), written again when something has changed.
//
// Thread class: owns one thread; count() is thread-safe and wait-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "common/base/loop.h"

namespace symnas::plugin {

class MemoryReport {
 public:
  explicit MemoryReport(std::string path);
  MemoryReport(const MemoryReport&) = delete;
  MemoryReport& operator=(const MemoryReport&) = delete;

  // Counts one more (or, with -1, one less) inode of which ganesha keeps an object.
  static void count(std::int64_t change) { inodes_.fetch_add(change, std::memory_order_relaxed); }

 private:
  void look();
  void write(std::int64_t inodes);

  static inline std::atomic<std::int64_t> inodes_{0};
  const std::string path_;
  std::int64_t idle_bytes_ = 0;  // resident at the first report; confined to the thread
  std::int64_t written_ = -1;    // inodes in the last report; likewise
  Loop loop_;                    // last: it uses all else
};

}  // namespace symnas::plugin
