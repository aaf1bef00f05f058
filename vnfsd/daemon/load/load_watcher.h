// LoadWatcher: tells the other heads, while anybody wants to know, what clients ask of this head's
// instances, and collects what the others tell (docs/architecture/load.md).
//
// Thread class: works on a loop of its own; told() is thread-safe. Invariant: nothing is read of
// instances and nothing written to etcd when nobody has asked for kLoadWantedMs.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "common/base/thread_annotations.h"
#include "common/kv/store.h"
#include "fsal_cluster/load/load_report.h"
#include "vnfsd/api/load.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/load/load_history.h"

namespace symnas::vnfsd::daemon {

// What LoadWatcher uses beside the store.
struct LoadLinks {
  // What the instance behind the control socket has counted. Errors: those of instance::load_of().
  std::function<Result<fs::LoadReport>(const std::string& control)> read;
  // Waits so long.
  std::function<void(std::int64_t ms)> pause;
};
// The real ones.
LoadLinks load_links();

class LoadWatcher final : private kv::WatchHandler {
 public:
  LoadWatcher(const ThisHead& head, ClusterReader& reader, const Instances& instances,
              LoadLinks links, std::stop_token end);
  ~LoadWatcher() override;

  void start();
  // Waits for the loop and ends the watch. REQUIRES: the end was asked for.
  void join();
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  // What all heads tell that own a VNFS in `view`; asks them to. Waits for those that tell nothing
  // yet, kLoadAnswerMs at most.
  api::ClusterLoad told(const ClusterView& view);

 private:
  void on_watch_created(Revision) override {}
  void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override;
  void on_watch_ended(Error error) override;

  std::int64_t now_ms() const { return head_.clock.mono_ns() / 1'000'000; }
  void want();
  bool is_wanted() const { return now_ms() < wanted_until_ms_.load(); }
  records::LoadRecord read_instances();
  void tell(const records::LoadRecord& record);
  void tell_no_more();
  // Says in etcd that load is wanted, if that is due. Errors: those of the store.
  Status ask();
  // One look at all tables. Errors: those of the store.
  Status collect(const ClusterView& view, api::ClusterLoad& out);

  const ThisHead& head_;
  ClusterReader& reader_;
  const Instances& instances_;
  const LoadLinks links_;
  const std::stop_token end_;
  std::atomic<std::int64_t> wanted_until_ms_{0};
  std::atomic<bool> watch_over_{true};
  std::unique_ptr<kv::Watch> watch_;  // used by the loop only
  LoadHistory history_;               // the same
  bool tells_ = false;                // the same
  Mutex mutex_;                       // leaf
  // What this head tells, and when it was read.
  records::LoadRecord own_ GUARDED_BY(mutex_);
  std::int64_t own_ms_ GUARDED_BY(mutex_) = 0;
  std::int64_t asked_ms_ GUARDED_BY(mutex_) = 0;
  // When this head looked at etcd, and etcd's revision then: a table is fresh if it is newer than
  // what was there kLoadFreshMs ago, whatever the other head's clock says.
  std::deque<std::pair<std::int64_t, Revision>> looks_ GUARDED_BY(mutex_);
  Loop loop_;  // last
};

}  // namespace symnas::vnfsd::daemon
