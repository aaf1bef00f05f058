#include "fsal_cluster/nsm/reboots.h"

#include <algorithm>

#include "common/base/log.h"
#include "fsal_cluster/nsm/limits.h"

namespace symnas::nsm {

Reboots::Reboots(std::function<Status(const Reboot&)> release) : release_(std::move(release)) {
  loop_.start(Loop::kWhenWoken, [this] { return turn(); });
}

void Reboots::add(Reboot reboot, std::function<void()> done) {
  {
    const MutexLock lock(mutex_);
    const bool waits = std::any_of(items_.begin(), items_.end(),
                                   [&](const Item& item) { return item.reboot == reboot; });
    if (waits || items_.size() >= kRebootsMax) return;
    items_.push_back({std::move(reboot), std::move(done)});
  }
  loop_.wake();
}

std::int64_t Reboots::turn() {
  MutexLock lock(mutex_);
  if (items_.empty()) return Loop::kWhenWoken;
  const Item& item = items_.front();  // only this thread removes it
  lock.unlock();
  const Status released = release_(item.reboot);
  if (released) {
    item.done();
  } else {
    log::warn("NLM client {}: rebooted, but its locks are not released yet: {}",
              item.reboot.address, released.error().message);
  }
  lock.lock();
  items_.pop_front();
  return 0;
}

}  // namespace symnas::nsm
