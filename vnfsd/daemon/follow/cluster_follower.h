// ClusterFollower: has the agent brought in line with the cluster's records whenever their watch
// says that something changed, and every kReconcileMs. Has this head registered before that. Thread
// class: thread-safe; works on a thread of its own, on which it calls the RecordsUser.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/store.h"
#include "vnfsd/daemon/follow/cluster_copy.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

// Confined to the follower's thread.
class RecordsUser {
 public:
  virtual ~RecordsUser() = default;
  // Registers this head. Errors: kForeign (this head is not of the cluster, or not any more); after
  // any other it is called again soon.
  virtual Status register_head() = 0;
  // Takes the records as they are or were a moment ago. Errors: as register_head().
  virtual Status follow(const ClusterView& view) = 0;
  // Called when all went well: this head is registered and in line with what it has seen.
  virtual void followed() = 0;
  // After followed(): how long until the next look although nothing has changed.
  virtual std::int64_t pause_ms() const = 0;
};

class ClusterFollower final : public ClusterReader, private kv::WatchHandler {
 public:
  ClusterFollower(const ThisHead& head, std::stop_token end);
  // REQUIRES: it was not started, or the end was asked for.
  ~ClusterFollower() override;
  ClusterFollower(const ClusterFollower&) = delete;
  ClusterFollower& operator=(const ClusterFollower&) = delete;

  // REQUIRES: it was not started; `user` lives until join().
  void start(RecordsUser& user);
  // Waits for the work under way. REQUIRES: as the destructor.
  void join();
  // Ends the watch. REQUIRES: join().
  void end_watch();

  // --- ClusterReader
  bool is_ready() const override;
  Status wait_ready() override;
  std::optional<Result<ClusterView>> shown() const override { return copy_.view(); }
  Result<ClusterView> fresh() override;
  void must_show(Revision revision) override { copy_.must_show(revision); }
  void look_again() override;

 private:
  // --- kv::WatchHandler
  void on_watch_created(Revision revision) override;
  void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override;
  void on_watch_ended(Error error) override;

  void work(RecordsUser& user);

  const ThisHead& head_;
  const std::stop_token end_;
  ClusterCopy copy_;
  mutable Mutex mutex_;  // leaf
  std::condition_variable_any changed_;
  // The head is registered.
  bool ready_ GUARDED_BY(mutex_) = false;
  // Why waiting is of no use: this head is not of the cluster, or not any more; or its version may
  // not work in it.
  std::optional<Error> refusal_ GUARDED_BY(mutex_);
  // Records have changed since they were followed last.
  bool dirty_ GUARDED_BY(mutex_) = true;
  // A new watch is needed.
  bool watch_over_ GUARDED_BY(mutex_) = true;
  // Why the last round of work failed; "": it did not.
  std::string problem_ GUARDED_BY(mutex_);
  std::unique_ptr<kv::Watch> watch_;  // used by the thread only
  std::thread thread_;
};

}  // namespace symnas::vnfsd::daemon
