#include "fsal_cluster/plugin/beat.h"

#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "common/env/clock.h"
#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {

Beat::Beat(std::function<fs::Pulse()> look) : look_(std::move(look)) {
  auto page = fs::PulseWriter::create();
  if (!page) {
    log::error("{}: vnfsd cannot see whether this instance is healthy", page.error().message);
    return;
  }
  thread_ = std::thread([this, page = std::move(*page)]() mutable { run(page); });
}

Beat::~Beat() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Beat::run(fs::PulseWriter& page) {
  const MutexLock lock(mutex_);
  std::int64_t pause_ms = 0;
  while (!stopped_.wait_for(mutex_, std::chrono::milliseconds(pause_ms),
                            [this]() REQUIRES(mutex_) { return stop_; })) {
    const std::int64_t now_ns = env::system_clock().mono_ns();
    fs::Pulse pulse = look_();
    pulse.beat_ns = now_ns;
    page.write(pulse);
    pause_ms = pulse.open_until_ns > now_ns ? kBeatMs : kShutBeatMs;
  }
}

}  // namespace symnas::plugin
