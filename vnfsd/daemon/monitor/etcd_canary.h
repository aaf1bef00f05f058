// EtcdCanary: reads etcd every kEtcdCanaryMs, for the page of metrics, and keeps what its members
// say. Thread class: works on a loop of its own; the rest is thread-safe and waits for nothing.
#pragma once

#include <stop_token>

#include "common/base/histogram.h"
#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/monitor/limits.h"
#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::daemon {

class EtcdCanary {
 public:
  EtcdCanary(const ThisHead& head, std::stop_token end);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  // Without quota_bytes and in_use_permille.
  metrics::EtcdSight sight() const;

 private:
  const ThisHead& head_;
  mutable Mutex mutex_;  // leaf
  metrics::EtcdSight seen_ GUARDED_BY(mutex_);
  std::int64_t answered_ns_ GUARDED_BY(mutex_);  // monotonic; of the start at first
  Histogram reads_s_ GUARDED_BY(mutex_){kEtcdReadBoundsS};
  Loop loop_;  // last
};

}  // namespace symnas::vnfsd::daemon
