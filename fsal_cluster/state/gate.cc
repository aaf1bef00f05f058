#include "fsal_cluster/state/gate.h"

#include <algorithm>
#include <utility>

#include "common/base/instance_counters.h"
#include "common/base/waiting.h"

namespace symnas::fs {

std::optional<std::int64_t> Gate::open_for_ns() const {
  // Read in this order, because prove() sets the beginning first.
  const std::int64_t now_ns = clock_.mono_ns();
  if (now_ns >= open_until_ns()) return std::nullopt;
  return std::max<std::int64_t>(now_ns - open_since_ns(), 0);
}

void Gate::pass(Action action) {
  if (!is_open()) {
    MutexLock lock(mutex_);
    // prove() may have come between the look and the lock; it does not see an action that is not
    // held yet.
    if (shut_down_) {
      lock.unlock();
      action(Passage::kShutDown);
      return;
    }
    if (!is_open()) {
      held_.push_back(std::move(action));
      return;
    }
  }
  action(Passage::kOpen);
}

Gate::Passage Gate::wait() {
  if (is_open()) return Passage::kOpen;
  const Waiting waiting;
  const MutexLock lock(mutex_);
  ++blocked_;
  opened_.wait(mutex_, [this]() REQUIRES(mutex_) { return shut_down_ || is_open(); });
  --blocked_;
  return shut_down_ ? Passage::kShutDown : Passage::kOpen;
}

void Gate::prove(std::int64_t sent_ns) {
  std::vector<Action> going;
  {
    const MutexLock lock(mutex_);
    const bool was_open = is_open();
    if (!was_open) open_since_ns_.store(clock_.mono_ns(), std::memory_order_release);
    if (sent_ns > proven_ns_.load(std::memory_order_relaxed))
      proven_ns_.store(sent_ns, std::memory_order_release);
    if (!is_open()) return;  // the proof is too old already
    if (!was_open) ++instance_counters().gate_closings;
    going.swap(held_);
  }
  opened_.notify_all();
  for (Action& action : going) pass(std::move(action));
}

void Gate::shut_down() {
  std::vector<Action> going;
  {
    const MutexLock lock(mutex_);
    shut_down_ = true;
    going.swap(held_);
  }
  opened_.notify_all();
  for (const Action& action : going) action(Passage::kShutDown);
}

std::size_t Gate::held() const {
  const MutexLock lock(mutex_);
  return held_.size() + blocked_;
}

}  // namespace symnas::fs
