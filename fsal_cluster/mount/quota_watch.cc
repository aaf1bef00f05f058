#include "fsal_cluster/mount/quota_watch.h"

#include <utility>

#include "common/base/log.h"

namespace symnas::fs {

QuotaWatch::QuotaWatch(kv::Store& store, std::shared_ptr<kv::QuotaGauge> gauge)
    : store_(store), gauge_(std::move(gauge)) {
  if (gauge_->quota_bytes() <= 0) return;
  loop_.start(0, [this] {
    look();
    return kv::quota_look_ms(gauge_->quota_bytes()) * 1'000'000;
  });
}

void QuotaWatch::look() {
  const kv::QuotaLevel before = gauge_->level();
  gauge_->look(store_.status({}));
  const kv::QuotaLevel now = gauge_->level();
  if (now == before) return;
  log::warn("etcd's quota of {} bytes: level {} (was {})", gauge_->quota_bytes(), kv::name_of(now),
            kv::name_of(before));
}

}  // namespace symnas::fs
