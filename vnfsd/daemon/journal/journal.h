// Journal: what is written down of what happens, and the quota that decides how much. Thread-safe.
#pragma once

#include <functional>

#include "common/kv/quota.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/journal/history_writer.h"

namespace symnas::vnfsd::daemon {

struct Journal {
  // `told`: as of EventWriter.
  Journal(const ThisHead& head, std::function<void()> told)
      : quota(head.config.etcd.quota_bytes),
        events(head, quota, std::move(told)),
        history(head, events) {}

  kv::QuotaGauge quota;
  EventWriter events;
  HistoryWriter history;
};

}  // namespace symnas::vnfsd::daemon
