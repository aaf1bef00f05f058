#include "fsal_cluster/mount/quota_watch.h"

#include <chrono>
#include <utility>

#include "common/base/log.h"

namespace symnas::fs {

QuotaWatch::QuotaWatch(kv::Store& store, std::shared_ptr<kv::QuotaGauge> gauge)
    : store_(store), gauge_(std::move(gauge)) {
  if (gauge_->quota_bytes() <= 0) return;
  thread_ = std::thread([this] { run(); });
}

QuotaWatch::~QuotaWatch() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void QuotaWatch::look() {
  const kv::QuotaLevel before = gauge_->level();
  gauge_->look(store_.status({}));
  const kv::QuotaLevel now = gauge_->level();
  if (now == before) return;
  log::warn("etcd's quota of {} bytes: level {} (was {})", gauge_->quota_bytes(), kv::name_of(now),
            kv::name_of(before));
}

void QuotaWatch::run() {
  const std::chrono::milliseconds pause(kv::quota_look_ms(gauge_->quota_bytes()));
  MutexLock lock(mutex_);
  do {
    lock.unlock();
    look();
    lock.lock();
  } while (!changed_.wait_for(mutex_, pause, [this]() REQUIRES(mutex_) { return stop_; }));
}

}  // namespace symnas::fs
