#include "vnfsd/daemon/head/loop.h"

#include <chrono>
#include <utility>

#include "common/base/check.h"

namespace symnas::vnfsd::daemon {

void Loop::start(std::int64_t period_ms, std::function<void()> turn) {
  CHECK(!thread_.joinable(), "a loop is started once");
  thread_ = std::thread([this, period_ms, turn = std::move(turn)] { run(period_ms, turn); });
}

void Loop::wake() {
  {
    const MutexLock lock(mutex_);
    wake_ = true;
  }
  woken_.notify_all();
}

void Loop::join() {
  if (!thread_.joinable()) return;
  CHECK(end_.stop_requested(), "a loop ends when that was asked for");
  thread_.join();
}

void Loop::run(std::int64_t period_ms, const std::function<void()>& turn) {
  MutexLock lock(mutex_);
  while (!end_.stop_requested()) {
    woken_.wait_for(lock, end_, std::chrono::milliseconds(period_ms),
                    [&]() REQUIRES(mutex_) { return wake_; });
    if (end_.stop_requested()) return;
    wake_ = false;
    lock.unlock();
    turn();
    lock.lock();
  }
}

}  // namespace symnas::vnfsd::daemon
