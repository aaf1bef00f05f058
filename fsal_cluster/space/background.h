// Background: the threads of one mount for what must not run on a callback: timers, claims, sweeps.
// An interface, so that tests run its jobs by hand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/env/clock.h"

namespace symnas::fs {

// Thread-safe.
class Background {
 public:
  virtual ~Background() = default;
  // Runs `job` soon, or not before `mono_ns`. Jobs may block. After stop() they are dropped.
  virtual void post(std::function<void()> job) = 0;
  virtual void post_at(std::int64_t mono_ns, std::function<void()> job) = 0;
  // Waits for running jobs; drops the others. Idempotent. REQUIRES: not called by a job.
  virtual void stop() = 0;
};

// A pool of kBackgroundThreads.
class BackgroundThreads final : public Background {
 public:
  explicit BackgroundThreads(const env::Clock& clock);
  ~BackgroundThreads() override;
  void post(std::function<void()> job) override;
  void post_at(std::int64_t mono_ns, std::function<void()> job) override;
  void stop() override;

 private:
  void run();

  const env::Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::multimap<std::int64_t, std::function<void()>> jobs_ GUARDED_BY(mutex_);  // by due time
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace symnas::fs
