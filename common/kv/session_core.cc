#include "common/kv/session_core.h"

#include <utility>

namespace symnas::kv {

SessionCore::SessionCore(Store& the_store, const env::Clock& the_clock, SessionOptions the_options,
                         std::function<void(Error)> on_ended, std::function<void()> wake)
    : SessionContext(the_store, the_clock, std::move(the_options), std::move(on_ended),
                     std::move(wake)),
      committer_(*this),
      watch_(*this,
             [this](Error disproof) {
               // The answer to the mount's own clean close says more than the watch's event.
               if (!committer_.ending_itself()) committer_.end(std::move(disproof));
             }),
      reader_(*this, committer_),
      barriers_(*this) {
  drop_late_watch = [this] { watch_.resync_late(); };
}

void SessionCore::start(std::function<void(Status)> opened) {
  {
    const MutexLock lock(mutex_);
    opened_callback_ = std::move(opened);
  }
  committer_.start([this](Status status) { part_ready(std::move(status)); });
  watch_.start([this](Status status) { part_ready(std::move(status)); });
}

void SessionCore::part_ready(Status status) {
  std::function<void(Status)> callback;
  {
    const MutexLock lock(mutex_);
    if (status && --parts_to_start_ > 0) return;
    callback = std::exchange(opened_callback_, nullptr);
  }
  if (!callback) return;
  if (status) status = SessionContext::opened();
  callback(std::move(status));
}

void SessionCore::shut_down() {
  close(Error{ErrorCode::kShutdown, "the session of mount " + name + " is being closed"},
        Announce::kNo);
  watch_.stop();
  threads_inside.wait_until_empty();
}

SessionCounters SessionCore::snapshot_counters() const {
  SessionCounters snapshot;
  snapshot.operations = counters.operations.load(std::memory_order_relaxed);
  snapshot.batches = counters.batches.load(std::memory_order_relaxed);
  snapshot.conflicts = counters.conflicts.load(std::memory_order_relaxed);
  snapshot.stale_operations = counters.stale_operations.load(std::memory_order_relaxed);
  snapshot.unknown_outcomes = counters.unknown_outcomes.load(std::memory_order_relaxed);
  snapshot.cache_hits = counters.cache_hits.load(std::memory_order_relaxed);
  snapshot.cache_loads = counters.cache_loads.load(std::memory_order_relaxed);
  snapshot.resyncs = counters.resyncs.load(std::memory_order_relaxed);
  snapshot.barriers = counters.barriers.load(std::memory_order_relaxed);
  return snapshot;
}

}  // namespace symnas::kv
