// Loop: a thread that takes a turn again and again until the agent ends. Thread class: made,
// started and destroyed by one thread; wake() is thread-safe.
//
// Invariant: no turn begins after the end was asked for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>

#include "common/base/thread_annotations.h"

namespace symnas::vnfsd::daemon {

class Loop {
 public:
  explicit Loop(std::stop_token end) : end_(std::move(end)) {}
  // REQUIRES: it was not started, or the end was asked for.
  ~Loop() { join(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The first turn begins after a period. REQUIRES: it was not started.
  void start(std::int64_t period_ms, std::function<void()> turn);
  // The next turn begins now, or right after the one under way.
  void wake();
  // Waits for the turn under way. REQUIRES: as the destructor.
  void join();

 private:
  void run(std::int64_t period_ms, const std::function<void()>& turn);

  const std::stop_token end_;
  Mutex mutex_;  // leaf
  std::condition_variable_any woken_;
  bool wake_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace symnas::vnfsd::daemon
