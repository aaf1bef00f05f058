// QuotaWatch: asks etcd's members how full they are (kv::quota_look_ms) and tells the gauge.
// Thread class: owns one thread; its destruction waits for a question under way.
#pragma once

#include <memory>

#include "common/base/loop.h"
#include "common/kv/quota.h"
#include "common/kv/store.h"

namespace symnas::fs {

class QuotaWatch {
 public:
  // Does not wait for an answer: after the crash of a head that head's etcd member gives none, and
  // clients wait for this mount. `store` outlives it. Does nothing for a gauge without a quota.
  QuotaWatch(kv::Store& store, std::shared_ptr<kv::QuotaGauge> gauge);
  const kv::QuotaGauge& gauge() const { return *gauge_; }
  QuotaWatch(const QuotaWatch&) = delete;
  QuotaWatch& operator=(const QuotaWatch&) = delete;

 private:
  void look();

  kv::Store& store_;
  const std::shared_ptr<kv::QuotaGauge> gauge_;
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::fs
