// WatchQueue: one watch of the in-memory store, between the server that fills it and the scheduler
// that empties it.
//
// Thread class: thread-safe. Invariants: the handler is called by one thread at a time, in the
// order of the pushes; after cancel() or the end of the watch it is not called.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/mem/faults.h"
#include "common/kv/mem/scheduler.h"
#include "common/kv/store.h"

namespace symnas::kv::mem {

class WatchQueue : public std::enable_shared_from_this<WatchQueue> {
 public:
  // Watches `range` from revision `first` on.
  WatchQueue(KeyRange range, Revision first, WatchHandler* handler,
             std::shared_ptr<Scheduler> scheduler, std::shared_ptr<FaultPlan> faults,
             std::function<std::int64_t()> latency_ns);

  // Each of these queues one call of the handler; schedule_delivery() then has it made. push_events
  // keeps the events that lie in the range, and returns whether there were any. REQUIRES: pushes
  // are serialised by the server's lock.
  void push_created(Revision revision);
  bool push_events(const std::vector<WatchEvent>& events);
  void push_end(Error error);

  // REQUIRES: no lock is held.
  void schedule_delivery();

  // No handler call runs or follows once this has returned.
  void cancel();
  // cancel(), and the handler's on_watch_ended as its last call.
  void end(Error error);

 private:
  struct Events {
    std::vector<WatchEvent> events;
    bool fault_drawn = false;
  };
  using Item = std::variant<Revision, Events, Error>;

  void deliver_one();
  void deliver_stalled();
  bool pop(Item& item);
  void call(Item item) REQUIRES(call_mutex_);
  // True when the events are still to be delivered after the fault.
  bool suffer_fault(Events& item) REQUIRES(call_mutex_);

  const KeyRange range_;
  const Revision first_;
  WatchHandler* const handler_;
  const std::shared_ptr<Scheduler> scheduler_;
  const std::shared_ptr<FaultPlan> faults_;  // may be null
  const std::function<std::int64_t()> latency_ns_;

  Mutex call_mutex_;  // held while the handler runs; taken before mutex_
  bool over_ GUARDED_BY(call_mutex_) = false;
  bool stalled_ GUARDED_BY(call_mutex_) = false;
  Mutex mutex_;
  std::deque<Item> items_ GUARDED_BY(mutex_);
};

}  // namespace symnas::kv::mem
