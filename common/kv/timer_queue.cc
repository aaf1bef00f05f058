#include "common/kv/timer_queue.h"

#include <utility>

namespace symnas::kv {

void TimerQueue::add(std::int64_t deadline_ns, std::function<void()> action) {
  bool earlier = false;
  {
    MutexLock lock(mutex_);
    if (closed_) {
      lock.unlock();
      action();
      return;
    }
    earlier = timers_.empty() || deadline_ns < timers_.top().deadline_ns;
    timers_.push(Timer{deadline_ns, next_number_++, std::move(action)});
  }
  if (earlier && wake_) wake_();
}

std::optional<std::int64_t> TimerQueue::run_due(std::int64_t now_ns) {
  for (;;) {
    std::function<void()> action;
    {
      const MutexLock lock(mutex_);
      if (timers_.empty()) return std::nullopt;
      if (timers_.top().deadline_ns > now_ns) return timers_.top().deadline_ns;
      action = timers_.top().action;
      timers_.pop();
    }
    action();
  }
}

void TimerQueue::close() {
  for (;;) {
    std::function<void()> action;
    {
      const MutexLock lock(mutex_);
      closed_ = true;
      if (timers_.empty()) return;
      action = timers_.top().action;
      timers_.pop();
    }
    action();
  }
}

}  // namespace symnas::kv
