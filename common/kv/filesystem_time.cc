#include "common/kv/filesystem_time.h"

#include <algorithm>

#include "common/kv/limits.h"

namespace symnas::kv {

std::int64_t FilesystemTime::next(std::int64_t wall_ns) {
  const std::int64_t floor =
      std::max(wall_ns, newest_stamp_.load(std::memory_order_acquire) + kStampStepNs);
  std::int64_t last = last_.load(std::memory_order_relaxed);
  std::int64_t time = 0;
  do {
    time = std::max(floor, last + 1);
  } while (!last_.compare_exchange_weak(last, time, std::memory_order_acq_rel));
  return time;
}

std::int64_t FilesystemTime::next_stamp(std::int64_t wall_ns) {
  const std::int64_t stamp = next(wall_ns);
  observe(stamp);
  return stamp;
}

void FilesystemTime::observe(std::int64_t stamp_ns) {
  std::int64_t newest = newest_stamp_.load(std::memory_order_relaxed);
  while (newest < stamp_ns &&
         !newest_stamp_.compare_exchange_weak(newest, stamp_ns, std::memory_order_acq_rel)) {
  }
}

void FilesystemTime::saw(std::int64_t time_ns) {
  std::int64_t last = last_.load(std::memory_order_relaxed);
  while (last < time_ns && !last_.compare_exchange_weak(last, time_ns, std::memory_order_acq_rel)) {
  }
}

}  // namespace symnas::kv
