#include "vnfsd/daemon/monitor/etcd_canary.h"

#include <utility>

#include "common/kv/keys.h"

namespace symnas::vnfsd::daemon {

EtcdCanary::EtcdCanary(const ThisHead& head, std::stop_token end)
    : head_(head), answered_ns_(head.clock.mono_ns()), loop_(std::move(end)) {}

void EtcdCanary::start() {
  loop_.start(kEtcdCanaryMs, [this] { look(); });
}

void EtcdCanary::look() {
  const std::int64_t began_ns = head_.clock.mono_ns();
  const auto read =
      kv::range_blocking(head_.store, kv::single_key(kv::keys::kCluster), 1, kEtcdCanaryDeadlineMs);
  const std::int64_t ended_ns = head_.clock.mono_ns();
  auto members = head_.store.status({});
  const MutexLock lock(mutex_);
  seen_.members = std::move(members);
  seen_.up = read.has_value();
  if (!read) {
    ++seen_.errors;
    return;
  }
  reads_s_.observe(static_cast<double>(ended_ns - began_ns) / 1e9);
  answered_ns_ = ended_ns;
}

metrics::EtcdSight EtcdCanary::sight() const {
  const MutexLock lock(mutex_);
  metrics::EtcdSight out = seen_;
  out.reads_s = reads_s_;
  out.answer_age_s = static_cast<double>(head_.clock.mono_ns() - answered_ns_) / 1e9;
  return out;
}

}  // namespace symnas::vnfsd::daemon
