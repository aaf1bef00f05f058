// Journal: the writers of events and of history, and the quota of etcd that decides how much they
// write. Thread-safe.
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
