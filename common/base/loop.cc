#include "common/base/loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/check.h"

namespace symnas {

void Loop::start(std::int64_t first_ns, Turn turn) {
  CHECK(!thread_.joinable(), "a loop is started once");
  thread_ = std::thread([this, first_ns, turn = std::move(turn)] { run(first_ns, turn); });
}

void Loop::wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

void Loop::stop() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Loop::stopping() const {
  const MutexLock lock(mutex_);
  return stop_;
}

bool Loop::stopped_within(std::int64_t span_ns) {
  const MutexLock lock(mutex_);
  return changed_.wait_for(mutex_, std::chrono::nanoseconds(std::max<std::int64_t>(span_ns, 0)),
                           [this]() REQUIRES(mutex_) { return stop_; });
}

bool Loop::wait_for_turn(std::int64_t span_ns) {
  const MutexLock lock(mutex_);
  const auto due = [this]() REQUIRES(mutex_) { return stop_ || woken_; };
  if (span_ns == kWhenWoken) {
    changed_.wait(mutex_, due);
  } else {
    changed_.wait_for(mutex_, std::chrono::nanoseconds(span_ns), due);
  }
  woken_ = false;
  return !stop_;
}

void Loop::run(std::int64_t first_ns, const Turn& turn) {
  for (std::int64_t span_ns = first_ns; span_ns != kNever && wait_for_turn(span_ns);)
    span_ns = turn();
}

}  // namespace symnas
