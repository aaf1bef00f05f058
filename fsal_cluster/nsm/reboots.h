// Reboots: clients that have rebooted, whose old locks are being released one client after the
// other. It has a thread for that, because a release waits for the NLM of this instance, which
// waits for etcd. Thread class: thread-safe.
#pragma once

#include <deque>
#include <functional>

#include "common/base/loop.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/nsm/status_monitor.h"

namespace symnas::nsm {

class Reboots {
 public:
  // `release` is called on the thread and may block. When it fails, the client is dropped from the
  // list.
  explicit Reboots(std::function<Status(const Reboot&)> release);
  Reboots(const Reboots&) = delete;
  Reboots& operator=(const Reboots&) = delete;

  // `done` is called on the thread when the locks are released. It is never called when the release
  // fails, when the same reboot waits already, or when too many wait: then the client asks again.
  void add(Reboot reboot, std::function<void()> done);

 private:
  struct Item {
    Reboot reboot;
    std::function<void()> done;
  };

  std::int64_t turn();

  const std::function<Status(const Reboot&)> release_;
  Mutex mutex_;
  std::deque<Item> items_ GUARDED_BY(mutex_);  // the first one is being worked on
  Loop loop_;                                  // last: it uses all else
};

}  // namespace symnas::nsm
