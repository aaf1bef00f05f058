// TimerQueue: actions to run later. It has no clock: its owner asks for the next deadline and
// passes the time.
//
// Thread class: thread-safe. Actions run on the caller of run_due() or close(), with no lock held.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "common/base/thread_annotations.h"

namespace symnas::kv {

class TimerQueue {
 public:
  // `wake` is called (any thread, no lock held) when the next deadline becomes earlier.
  explicit TimerQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Runs `action` once at deadline_ns (monotonic) or later; after close(): at once, on the caller.
  void add(std::int64_t deadline_ns, std::function<void()> action);
  // Runs what is due and returns the next deadline; nullopt: nothing waits.
  std::optional<std::int64_t> run_due(std::int64_t now_ns);
  // Runs everything that waits, whatever its deadline.
  void close();

 private:
  struct Timer {
    std::int64_t deadline_ns = 0;
    std::uint64_t number = 0;  // first come, first served
    std::function<void()> action;
    bool operator<(const Timer& other) const {
      if (deadline_ns != other.deadline_ns) return deadline_ns > other.deadline_ns;
      return number > other.number;
    }
  };

  const std::function<void()> wake_;
  Mutex mutex_;
  std::priority_queue<Timer> timers_ GUARDED_BY(mutex_);
  std::uint64_t next_number_ GUARDED_BY(mutex_) = 0;
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace symnas::kv
