#include "fsal_cluster/space/background.h"

#include <chrono>

#include "fsal_cluster/space/limits.h"

namespace symnas::fs {

BackgroundThreads::BackgroundThreads(const env::Clock& clock) : clock_(clock) {
  for (int i = 0; i < kBackgroundThreads; ++i) threads_.emplace_back([this] { run(); });
}

BackgroundThreads::~BackgroundThreads() { stop(); }

// Queued behind jobs that are due already: a long row of sweeps must not keep timers and claims
// waiting.
void BackgroundThreads::post(std::function<void()> job) {
  post_at(clock_.mono_ns(), std::move(job));
}

void BackgroundThreads::post_at(std::int64_t mono_ns, std::function<void()> job) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    jobs_.emplace(mono_ns, std::move(job));
  }
  changed_.notify_one();
}

void BackgroundThreads::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  const MutexLock lock(mutex_);
  jobs_.clear();
}

void BackgroundThreads::run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (jobs_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    const std::int64_t wait_ns = jobs_.begin()->first - clock_.mono_ns();
    if (wait_ns > 0) {
      changed_.wait_for(mutex_, std::chrono::nanoseconds(wait_ns));
      continue;
    }
    auto job = std::move(jobs_.begin()->second);
    jobs_.erase(jobs_.begin());
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace symnas::fs
