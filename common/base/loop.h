// Loop: a thread that takes a turn again and again until it is stopped.
//
// Thread class: thread-safe but for start(), stop() and the destructor, which the owner calls one
// after another. wake() may be called before start() and after stop().
// Invariants: no turn begins after stop() was called; a wake() that comes during a turn is followed
// by another turn. What a turn uses is there until stop() has returned: an owner whose members are
// destroyed before its Loop stops the Loop first.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>

#include "common/base/thread_annotations.h"

namespace symnas {

class Loop {
 public:
  // Returns after how many ns the next turn begins, unless wake() is called before: a span,
  // kWhenWoken, or kNever, which ends the thread.
  using Turn = std::function<std::int64_t()>;
  static constexpr std::int64_t kWhenWoken = INT64_MAX;
  static constexpr std::int64_t kNever = -1;

  Loop() = default;
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The first turn begins after `first_ns` (as a turn returns it). REQUIRES: it was not started.
  void start(std::int64_t first_ns, Turn turn);
  // The next turn begins now, or right after the one under way. Never waits.
  void wake();
  // Waits for the turn under way. Idempotent, also without a thread. REQUIRES: not called by a
  // turn.
  void stop();

  // For a turn that takes long.
  bool stopping() const;
  // Waits; true: stop() was called. wake() does not end it.
  bool stopped_within(std::int64_t span_ns);

 private:
  void run(std::int64_t first_ns, const Turn& turn);
  // Waits until a turn is due; false: none any more.
  bool wait_for_turn(std::int64_t span_ns);

  mutable Mutex mutex_;  // leaf
  CondVar changed_;
  bool stop_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: what it uses is there
};

}  // namespace symnas
