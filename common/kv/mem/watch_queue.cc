#include "common/kv/mem/watch_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace symnas::kv::mem {

WatchQueue::WatchQueue(KeyRange range, Revision first, WatchHandler* handler,
                       std::shared_ptr<Scheduler> scheduler, std::shared_ptr<FaultPlan> faults,
                       std::function<std::int64_t()> latency_ns)
    : range_(std::move(range)),
      first_(first),
      handler_(handler),
      scheduler_(std::move(scheduler)),
      faults_(std::move(faults)),
      latency_ns_(std::move(latency_ns)) {}

void WatchQueue::push_created(Revision revision) {
  const MutexLock lock(mutex_);
  items_.emplace_back(revision);
}

bool WatchQueue::push_events(const std::vector<WatchEvent>& events) {
  Events mine;
  std::copy_if(events.begin(), events.end(), std::back_inserter(mine.events),
               [this](const WatchEvent& event) {
                 return event.kv.mod_revision >= first_ && contains(range_, event.kv.key);
               });
  if (mine.events.empty()) return false;
  const MutexLock lock(mutex_);
  items_.emplace_back(std::move(mine));
  return true;
}

void WatchQueue::push_end(Error error) {
  const MutexLock lock(mutex_);
  items_.emplace_back(std::move(error));
}

void WatchQueue::schedule_delivery() {
  scheduler_->schedule(latency_ns_(), [self = shared_from_this()] { self->deliver_one(); });
}

void WatchQueue::cancel() {
  const MutexLock lock(call_mutex_);
  over_ = true;
}

void WatchQueue::end(Error error) {
  const MutexLock lock(call_mutex_);
  if (!over_) call(std::move(error));
}

bool WatchQueue::pop(Item& item) {
  const MutexLock lock(mutex_);
  if (items_.empty()) return false;
  item = std::move(items_.front());
  items_.pop_front();
  return true;
}

void WatchQueue::deliver_one() {
  const MutexLock lock(call_mutex_);
  if (over_ || stalled_) return;
  if (Item item; pop(item)) call(std::move(item));
}

void WatchQueue::deliver_stalled() {
  const MutexLock lock(call_mutex_);
  stalled_ = false;
  for (Item item; !over_ && !stalled_ && pop(item);) call(std::move(item));
}

void WatchQueue::call(Item item) {
  if (auto* revision = std::get_if<Revision>(&item)) {
    handler_->on_watch_created(*revision);
  } else if (auto* error = std::get_if<Error>(&item)) {
    over_ = true;
    handler_->on_watch_ended(std::move(*error));
  } else {
    auto& events = std::get<Events>(item);
    if (!suffer_fault(events)) return;
    const Revision at = events.events.back().kv.mod_revision;
    handler_->on_watch_events(std::move(events.events), at);
  }
}

bool WatchQueue::suffer_fault(Events& item) {
  if (faults_ == nullptr || item.fault_drawn) return true;
  const WatchFault fault = faults_->next_watch(item.events.back().kv.mod_revision);
  switch (fault.kind) {
    case WatchFault::Kind::kNone: return true;
    case WatchFault::Kind::kDropEvent:
      item.events.erase(item.events.begin());
      return !item.events.empty();
    case WatchFault::Kind::kDropRevision: return false;
    case WatchFault::Kind::kEnd:
      call(Error{ErrorCode::kUnavailable, "injected: watch connection lost"});
      return false;
    case WatchFault::Kind::kEndCompacted:
      call(Error{ErrorCode::kCompacted, "injected: watch fell behind a compaction"});
      return false;
    case WatchFault::Kind::kDelay: break;
  }
  if (scheduler_->immediate()) return true;
  item.fault_drawn = true;
  {
    const MutexLock lock(mutex_);
    items_.emplace_front(std::move(item));
  }
  stalled_ = true;
  scheduler_->schedule(fault.delay_ns, [self = shared_from_this()] { self->deliver_stalled(); });
  return false;
}

}  // namespace symnas::kv::mem
