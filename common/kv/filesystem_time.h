// FilesystemTime: the hybrid clock of a filesystem. Times never run backwards between heads,
// because every head hands out times above the newest stamp it knows, whatever its own wall clock
// says.
//
// Thread class: thread-safe, lock-free.
// Invariants: next() ascends strictly; a stamp is at least kStampStepNs above every stamp observed
// before it and not below any time handed out before it was taken.
#pragma once

#include <atomic>
#include <cstdint>

namespace symnas::kv {

class FilesystemTime {
 public:
  // A time for a record: max(wall_ns, newest stamp + kStampStepNs, last time + 1).
  std::int64_t next(std::int64_t wall_ns);
  // The value of the next stamp; it counts as observed. REQUIRES: one caller at a time.
  std::int64_t next_stamp(std::int64_t wall_ns);
  // To be called with each stamp that was read or came through the watch.
  void observe(std::int64_t stamp_ns);
  // To be called with a time that was found in a record: later times are above it. Such a time may
  // be above the newest stamp: a mount with a slower clock may have put that stamp before it heard
  // of the other mount's stamp.
  void saw(std::int64_t time_ns);
  std::int64_t newest_stamp() const { return newest_stamp_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int64_t> newest_stamp_{0};
  std::atomic<std::int64_t> last_{0};
};

}  // namespace symnas::kv
