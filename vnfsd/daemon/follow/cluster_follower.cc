#include "vnfsd/daemon/follow/cluster_follower.h"

#include <systemd/sd-daemon.h>

#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/follow/limits.h"
#include "vnfsd/daemon/head/limits.h"

namespace symnas::vnfsd::daemon {

ClusterFollower::ClusterFollower(const ThisHead& head, std::stop_token end)
    : head_(head), end_(std::move(end)) {}

ClusterFollower::~ClusterFollower() {
  join();
  end_watch();
}

void ClusterFollower::start(RecordsUser& user) {
  CHECK(!thread_.joinable(), "records are followed by one thread");
  thread_ = std::thread([this, &user] { work(user); });
}

void ClusterFollower::join() {
  if (!thread_.joinable()) return;
  CHECK(end_.stop_requested(), "it ends when that was asked for");
  thread_.join();
}

void ClusterFollower::end_watch() {
  watch_.reset();
  copy_.watch_ended();
}

bool ClusterFollower::is_ready() const {
  const MutexLock lock(mutex_);
  return ready_;
}

void ClusterFollower::look_again() {
  {
    const MutexLock lock(mutex_);
    dirty_ = true;
  }
  changed_.notify_all();
}

// Changes from before the watch began are seen by reading.
void ClusterFollower::on_watch_created(Revision) {
  copy_.watch_began();
  look_again();
}

void ClusterFollower::on_watch_events(std::vector<kv::WatchEvent> events, Revision) {
  copy_.apply(std::move(events));
  look_again();
}

void ClusterFollower::on_watch_ended(Error) {
  copy_.watch_ended();
  {
    const MutexLock lock(mutex_);
    watch_over_ = true;
  }
  changed_.notify_all();
}

Result<ClusterView> ClusterFollower::fresh() {
  const std::uint64_t watch = copy_.watch();
  SYMNAS_ASSIGN(const ClusterRecords records, read_records(head_.store, kStoreDeadlineMs));
  if (copy_.fill(records, watch)) look_again();
  return view_of(records.kvs, records.revision);
}

void ClusterFollower::work(RecordsUser& user) {
  std::int64_t read_ms = 0;  // when the records were read last, whatever the watch has shown
  MutexLock lock(mutex_);
  while (!end_.stop_requested()) {
    const bool open_watch = std::exchange(watch_over_, false);
    const bool look = std::exchange(dirty_, false) || open_watch;
    const bool registered = ready_;
    lock.unlock();
    ::sd_notify(0, "WATCHDOG=1");  // within WatchdogSec= of the unit, whatever etcd answers
    Status done;
    if (!registered) done = user.register_head();
    if (done && open_watch) {
      watch_.reset();
      copy_.watch_ended();  // it did not say so itself
      watch_ = head_.store.watch(kv::prefix_range("c/"), Revision{}, this);
    }
    if (done && (look || !registered)) {
      const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
      const bool due = !registered || now_ms - read_ms >= kReconcileMs;
      const auto view = due ? fresh() : seen();
      if (due && view) read_ms = now_ms;
      done = view ? user.follow(*view) : tl::unexpected<Error>(view.error());
    }
    lock.lock();
    if (done) {
      ready_ = true;
      refusal_.reset();
      problem_.clear();
      changed_.notify_all();
      lock.unlock();
      user.followed();
      const std::int64_t pause_ms = user.pause_ms();
      lock.lock();
      const bool told = changed_.wait_for(lock, end_, std::chrono::milliseconds(pause_ms),
                                          [&]() REQUIRES(mutex_) { return dirty_ || watch_over_; });
      if (!told && !end_.stop_requested())
        read_ms = head_.clock.mono_ns() / 1'000'000 - kReconcileMs;
      dirty_ = true;  // also when nothing happened: records are looked at every kReconcileMs
    } else {
      read_ms = head_.clock.mono_ns() / 1'000'000 - kReconcileMs;
      const ErrorCode code = done.error().code;
      refusal_.reset();
      if (code == ErrorCode::kForeign || code == ErrorCode::kNotSupported) refusal_ = done.error();
      ready_ = ready_ && code != ErrorCode::kForeign;
      if (problem_ != done.error().message) log::warn("{}", done.error().message);
      problem_ = done.error().message;
      if (refusal_) changed_.notify_all();  // who waits for its registration waits in vain
      dirty_ = true;
      watch_over_ = watch_over_ || open_watch;
      changed_.wait_for(lock, end_, std::chrono::milliseconds(kRetryMs), [] { return false; });
    }
  }
}

Status ClusterFollower::wait_ready() {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, end_, std::chrono::milliseconds(kReadyTimeoutMs),
                    [&]() REQUIRES(mutex_) { return ready_ || refusal_; });
  if (ready_) return {};
  if (refusal_) return tl::unexpected<Error>(*refusal_);
  return fail(ErrorCode::kUnavailable,
              fmt::format("vnfsd: etcd cannot be used: {} (is etcd running? symnas status)",
                          problem_.empty() ? "no answer yet" : problem_));
}

}  // namespace symnas::vnfsd::daemon
